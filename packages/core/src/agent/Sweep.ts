/**
 * Goes on with runs that nobody drives: those of a process that died, and those
 * that a runtime left open when it closed.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as RunFailure from "../run/RunFailure.ts"
import { Mandate } from "../service/Mandate.ts"
import type { ListedThread } from "../service/RunRow.ts"
import * as Options from "../values/Options.ts"
import type { RunError, RunErrorReason } from "../values/RunError.ts"

/**
 * What a sweep came upon.
 *
 * **Details**
 *
 * - `recovered`: threads whose run is driven on here now
 * - `unknown`: threads of agents that are not bound here, in the shape of their
 *   run or at all
 * - `failed`: threads that could not be taken, and why. One that another
 *   process was faster to take is not among them
 *
 * @category models
 * @since 0.1.0
 */
export interface SweepReport {
  readonly recovered: ReadonlyArray<string>
  readonly unknown: ReadonlyArray<
    { readonly threadId: string; readonly agentId: string; readonly isOtherShape: boolean }
  >
  readonly failed: ReadonlyArray<{ readonly threadId: string; readonly reason: RunErrorReason }>
}

/**
 * Goes on with `Running` runs that nobody holds, by the agents that are bound to
 * this runtime, at most `limit` (100) of them. A `limit` that is no positive
 * whole number is `InvalidInput`.
 *
 * **Details**
 *
 * It begins to drive them and does not wait for their ends. Runs that are
 * `Failed` stay so: whether another try can mend them is for people to say.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function*(
  options?: { readonly limit?: number }
): Effect.fn.Return<SweepReport, RunError, Mandate> {
  const { agents, lease, store } = yield* Mandate
  const { limit = defaultLimit } = yield* RunFailure.valid("sweep", decodeRun(options))
  const recovered: Array<string> = []
  const unknown: Array<SweepReport["unknown"][number]> = []
  const failed: Array<SweepReport["failed"][number]> = []
  for (let after = ""; recovered.length < limit;) {
    const { now } = yield* lease
    const lost: ReadonlyArray<ListedThread> = yield* RunFailure.fromStore("")(
      store.list({ after, limit, states: ["Running"], freeAt: now })
    )
    for (const { agentId, shape, threadId } of lost.slice(0, limit - recovered.length)) {
      after = threadId
      const agent = agents.find(agentId, shape)
      if (agent === undefined) {
        unknown.push({ threadId, agentId, isOtherShape: agents.knows(agentId) })
        continue
      }
      const taken = yield* Effect.result(agent.recover(threadId))
      if (Result.isSuccess(taken)) recovered.push(threadId)
      else if (!wasFaster(taken.failure.reason)) failed.push({ threadId, reason: taken.failure.reason })
    }
    if (lost.length < limit) break
  }
  return { recovered, unknown, failed }
})

/**
 * Layer that sweeps as long as it lives: at once, and then every `interval`
 * (30 seconds), each time for at most `limit` (100) runs. What it comes upon is
 * logged, and so is a sweep that fails. Options that are not valid are a defect,
 * an `InvalidOptions`.
 *
 * **Example** (A worker that takes over what others leave)
 *
 * ```ts
 * import { AgentBuilder, Sweep } from "@mandate/core"
 * import { MandateSqlite } from "@mandate/core/sqlite"
 * import { Effect, Layer } from "effect"
 *
 * const runtime = Sweep.layer({ interval: "1 minute" }).pipe(
 *   Layer.provideMerge(MandateSqlite.layer({ filename: "runs.db" }))
 * )
 *
 * export const worker = AgentBuilder.make("clerk").build().pipe(
 *   Effect.andThen(Effect.never),
 *   Effect.provide(runtime)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: {
  readonly interval?: Duration.Input
  readonly limit?: number
}): Layer.Layer<never, never, Mandate> =>
  Layer.effectDiscard(
    Effect.flatMap(Options.orDie("Sweep.layer", decodeLayer(options)), ({ interval = defaultInterval, ...limits }) =>
      Effect.forkScoped(
        Effect.repeat(
          Effect.catchCause(
            Effect.flatMap(run(limits), log),
            (cause) =>
              Effect.logError("A sweep failed", cause)
          ),
          Schedule.spaced(interval)
        )
      ))
  )

const decodeRun = Options.make<{ readonly limit?: number }>("option", { limit: Options.count })
const decodeLayer = Options.make<{ readonly interval?: Duration.Input; readonly limit?: number }>("option", {
  interval: Options.duration,
  limit: Options.count
})

const defaultLimit = 100
const defaultInterval = Duration.seconds(30)

// Another process has it, or had it and is done: either way nothing is left to do.
const wasFaster = ({ _tag }: RunErrorReason): boolean =>
  _tag === "ThreadBusy" || _tag === "NothingToRecover" || _tag === "UnknownThread"

const log = ({ failed, recovered, unknown }: SweepReport): Effect.Effect<void> =>
  Effect.andThen(
    recovered.length === 0 ? Effect.void : Effect.logInfo("Runs that nobody drove are driven on", { recovered }),
    failed.length + unknown.length === 0
      ? Effect.void
      : Effect.logWarning("Runs that nobody drives are left as they are", { unknown, failed })
  )
