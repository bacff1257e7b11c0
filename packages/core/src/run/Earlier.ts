/**
 * What a thread holds before a run of it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Mandate } from "../service/Mandate.ts"
import * as Ids from "../values/Ids.ts"
import type { Message } from "../values/Message.ts"
import type { RunError } from "../values/RunError.ts"
import * as RunFailure from "./RunFailure.ts"
import * as StoredRun from "./StoredRun.ts"

/**
 * How many runs a thread has, and the messages that its settled ones left.
 *
 * @category models
 * @since 0.1.0
 */
export interface Earlier {
  readonly runs: number
  readonly messages: ReadonlyArray<Message>
}

/**
 * What a thread holds that was made for a run.
 *
 * @category constants
 * @since 0.1.0
 */
export const nothing: Earlier = { runs: 0, messages: [] }

/**
 * What a thread holds, without the messages of one run.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  threadId: string,
  except?: string
): Effect.fn.Return<Earlier, RunError> {
  const rows = yield* RunFailure.fromStore(threadId)(runtime.store.thread(threadId))
  const settled = rows.filter((row) => row.state === "Settled" && row.runId !== except)
  const messages = yield* Effect.forEach(settled, (row) => RunFailure.decoded(StoredRun.messages(row)))
  return { runs: rows.length, messages: messages.flat() }
})

/**
 * Messages that the settled runs of a thread left, without those of one run.
 *
 * @category getters
 * @since 0.1.0
 */
export const messages = (
  runtime: Mandate["Service"],
  threadId: string,
  except: string
): Effect.Effect<ReadonlyArray<Message>, RunError> =>
  except === Ids.runId(threadId, 0)
    ? Effect.succeed([])
    : Effect.map(of(runtime, threadId, except), ({ messages }) => messages)
