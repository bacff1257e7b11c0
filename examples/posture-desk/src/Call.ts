/**
 * Calls of postures, and what could be seen of them.
 */
import {
  type DelegateError,
  type DelegateResult,
  DelegateRuntime,
  Mandate,
  type RunError,
  type RunEvent
} from "@mandate/core"
import { Effect, Queue, Ref } from "effect"
import type { Output } from "../../support/src/Output.ts"
import { ModelCalls } from "./ScriptedModel.ts"
import type { Show } from "./Show.ts"

/** What came of a call, how often the model was asked, and the events of its sub-sessions. */
export interface Called<A> {
  readonly value: A
  readonly asked: number
  readonly events: ReadonlyArray<RunEvent.RunEvent>
}

type Needs = DelegateRuntime.DelegateRuntime | Mandate.Mandate | ModelCalls | Output

/** Runs a posture and shows its result. */
export const run = (
  act: string,
  request: DelegateResult.DelegateRequest,
  show: Show
): Effect.Effect<Called<DelegateResult.DelegateResult>, DelegateError.DelegateError | RunError.RunError, Needs> =>
  watched(Effect.tap(DelegateRuntime.run(request), (result) => show.tell(act, result)))

/** Calls a posture that is expected to be refused, and shows why it is. */
export const refused = (
  act: string,
  request: DelegateResult.DelegateRequest,
  show: Show
): Effect.Effect<
  Called<DelegateError.DelegateError | RunError.RunError | undefined>,
  never,
  Needs
> =>
  watched(
    DelegateRuntime.run(request).pipe(
      Effect.as(undefined),
      Effect.tapErrorTag("DelegateError", (error) => show.tell(act, error)),
      Effect.catch((error) => Effect.succeed(error))
    )
  )

/** The text of a result, if it is one. */
export const textOf = (result: DelegateResult.DelegateResult): string | undefined =>
  "result" in result && typeof result.result === "string" ? result.result : undefined

/** How many events of a kind there are. */
export const count = ({ events }: Called<unknown>, tag: RunEvent.RunEvent["_tag"]): number =>
  events.filter(({ _tag }) => _tag === tag).length

const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const { events } = yield* Mandate.Mandate
    const calls = yield* ModelCalls
    const seen = yield* events.subscribe()
    const before = yield* Ref.get(calls)
    const value = yield* effect
    return { value, asked: (yield* Ref.get(calls)) - before, events: yield* Queue.clear(seen) }
  }))
