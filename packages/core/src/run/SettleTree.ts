/**
 * Takes a tree of runs over and settles it: for a cancel, a deadline, or a
 * failure that nobody will recover.
 *
 * @since 0.1.0
 */
import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Journal from "../loop/Journal.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { LoadedRun } from "../service/RunRow.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import type { Settled } from "../values/RunOutcome.ts"
import * as LetGo from "./LetGo.ts"
import * as TreeClose from "./TreeClose.ts"

/**
 * How the first run of a tree is to end, and why calls of the tree did not run.
 * `activeMillis`: the active time of a run that is driven here.
 *
 * @category models
 * @since 0.1.0
 */
export interface End {
  readonly outcome: Settled
  readonly notRun: string
  readonly activeMillis?: (runId: string) => number | undefined
}

/**
 * Takes over a run with all that is open below it, settles them, and publishes
 * what their events say. Nothing where no run is open, or the thread has
 * another epoch than `only`.
 *
 * **Details**
 *
 * Seizing raises the epochs, so from there on no former writer can write. A tree
 * that could not be settled is nobody's then, and free for whoever recovers it:
 * with the epoch that it was seized with, or has at `held`.
 *
 * @category running
 * @since 0.1.0
 */
export const settle = Effect.fnUntraced(function*(
  runtime: Pick<Mandate["Service"], "events" | "lease" | "store">,
  runId: string,
  end: End,
  { held, only }: { readonly held?: number | undefined; readonly only?: number } = {}
): Effect.fn.Return<TreeClose.Plan | undefined, StoreError | Fenced | CorruptRow> {
  const { lease, store } = runtime
  const request = yield* lease
  const tree: ReadonlyArray<LoadedRun> = yield* letGo(runtime, runId, held)(
    store.seize(runId, only === undefined ? request : { ...request, epoch: only })
  )
  return isReadonlyArrayNonEmpty(tree)
    ? yield* letGo(runtime, runId, tree[0].epoch)(close(runtime, tree, end, request.now))
    : undefined
})

/**
 * The same as {@link settle}, again and again while others take the tree over
 * between its seizing and its end: another process that recovers it, or a
 * parent that goes on. Fails with `Fenced` after {@link maxTakeovers}.
 *
 * @category running
 * @since 0.1.0
 */
export const insist = (
  ...args: Parameters<typeof settle>
): Effect.Effect<TreeClose.Plan | undefined, StoreError | Fenced | CorruptRow> => {
  const attempt = (takeovers: number): ReturnType<typeof insist> =>
    Effect.catchTag(settle(...args), "Fenced", (lost) =>
      takeovers >= maxTakeovers
        ? Effect.fail(lost)
        : Effect.andThen(stepAside(takeovers), Effect.suspend(() => attempt(takeovers + 1))))
  return attempt(0)
}

/**
 * How often a tree may be taken over while it is being settled.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxTakeovers = 100

// Two that take a tree from each other in step would go on for ever.
const stepAside = (takeovers: number): Effect.Effect<void> =>
  Effect.flatMap(
    Random.nextIntBetween(0, Math.min(takeovers, 20) + 1),
    (turns) => Effect.forEach(Array.from({ length: turns }), () => Effect.yieldNow, { discard: true })
  )

const close = Effect.fnUntraced(function*(
  { events, store }: Pick<Mandate["Service"], "events" | "store">,
  tree: NonEmptyReadonlyArray<LoadedRun>,
  end: End,
  at: number
) {
  const plan = yield* TreeClose.plan(store, tree, { ...end, at })
  const sequence = yield* store.close(plan.runs, Journal.encode(plan.events))
  events.publish(plan.rootThreadId, Journal.numbered(plan.events, sequence))
  return plan
})

const letGo = (
  runtime: Pick<Mandate["Service"], "lease" | "store">,
  runId: string,
  epoch: number | undefined
) =>
<A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  epoch === undefined ? self : LetGo.onError(runtime, { runId, epoch })(self)
