/**
 * Runs postures by name: subagents as data, that operators edit.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Announce from "../loop/Announce.ts"
import * as Journal from "../loop/Journal.ts"
import * as CancelRun from "../run/CancelRun.ts"
import * as RecoverRun from "../run/RecoverRun.ts"
import * as ResumeRun from "../run/ResumeRun.ts"
import * as RunFailure from "../run/RunFailure.ts"
import * as StartRun from "../run/StartRun.ts"
import * as ThreadVerbs from "../run/ThreadVerbs.ts"
import { Mandate } from "../service/Mandate.ts"
import type { ModelRegistry } from "../service/ModelRegistry.ts"
import { PostureRegistry } from "../service/PostureRegistry.ts"
import * as ResultCache from "../service/ResultCache.ts"
import { ToolCatalog } from "../service/ToolCatalog.ts"
import * as Bound from "../values/Bound.ts"
import { DelegateError } from "../values/DelegateError.ts"
import type { DelegateRequest, DelegateResult } from "../values/DelegateResult.ts"
import * as Ids from "../values/Ids.ts"
import type { RunError } from "../values/RunError.ts"
import * as Usage from "../values/Usage.ts"
import * as Bind from "./Bind.ts"
import * as CheckAnswer from "./CheckAnswer.ts"
import * as DelegateAdmission from "./DelegateAdmission.ts"
import * as DelegateCaller from "./DelegateCaller.ts"
import * as DelegateOutcome from "./DelegateOutcome.ts"
import * as DelegateRefusal from "./DelegateRefusal.ts"
import { type Admitted, DelegateRuntime } from "./DelegateService.ts"
import * as EqualResults from "./EqualResults.ts"
import * as PostureCompile from "./PostureCompile.ts"
import * as StoredPosture from "./StoredPosture.ts"

export {
  /**
   * Service that runs postures by name.
   *
   * @category services
   * @since 0.1.0
   */
  DelegateRuntime
}

/**
 * How a runtime of postures is set up.
 *
 * **Details**
 *
 * - `maxDepth` (3): the deepest at which any posture may run; a call from
 *   outside of any run starts at 1
 * - `cache` (`true`): whether equal calls use each other's results, in the
 *   `ResultCache` of the context, or in memory where there is none
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly maxDepth?: number
  readonly cache?: boolean
}

/**
 * Layer that runs the postures of the registry with the tools of the catalog.
 *
 * **Example** (A posture, run by name)
 *
 * ```ts
 * import { DelegateRuntime, Mandate, PostureRegistry, ToolCatalog } from "@mandate/core"
 * import { ScriptedModel, Step } from "@mandate/testing"
 * import { Effect, Layer } from "effect"
 *
 * const runtime = DelegateRuntime.layer().pipe(
 *   Layer.provideMerge(Layer.mergeAll(
 *     Mandate.layerMemory,
 *     ToolCatalog.layer,
 *     PostureRegistry.layer([
 *       { name: "reviewer", description: "Reviews one change", instructions: "You review the change you are given." }
 *     ]),
 *     ScriptedModel.layer({ reviewer: [Step.text("It is fine.")] })
 *   ))
 * )
 *
 * export const program = Effect.gen(function*() {
 *   const review = yield* DelegateRuntime.run({ posture: "reviewer", task: "Review it", context: { lines: 3 } })
 *   return review.status === "success" ? review.result : review.status
 * }).pipe(Effect.provide(runtime))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<DelegateRuntime, DelegateError, Mandate | ModelRegistry | PostureRegistry | ToolCatalog> =>
  Layer.effect(
    DelegateRuntime,
    Effect.gen(function*() {
      const maxDepth = options.maxDepth ?? defaultMaxDepth
      const issues = Bound.problem("it", maxDepth)
      if (issues.length > 0) {
        return yield* new DelegateError({ reason: { _tag: "InvalidRequest", field: "maxDepth", issues } })
      }
      return make(
        yield* Effect.context<Mandate | ModelRegistry | PostureRegistry | ToolCatalog>(),
        maxDepth,
        options.cache === false ? ResultCache.none : yield* cacheOf
      )
    })
  )

/**
 * Runs a posture to the end. Interrupting it cancels the run.
 *
 * **Details**
 *
 * Fails with a `DelegateError` for a call that is refused, before anything is
 * started. One that is refused for its depth is told to those who subscribed to
 * the events of the runtime, as a `DelegateRefused` that no store has. Whatever
 * comes of a run that was started is its result. Only what another try could
 * mend of itself, such as a store that does not answer, is a `RunError`.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (
  request: DelegateRequest
): Effect.Effect<DelegateResult, DelegateError | RunError, DelegateRuntime> =>
  Effect.flatMap(DelegateRuntime, (delegates) => delegates.run(request))

const defaultMaxDepth = 3

const cacheOf = Effect.map(
  Effect.serviceOption(ResultCache.ResultCache),
  Option.getOrElse(() => ResultCache.memory())
)

const make = (
  outer: Context.Context<Mandate | ModelRegistry | PostureRegistry | ToolCatalog>,
  maxDepth: number,
  cache: ResultCache.ResultCache["Service"]
): DelegateRuntime["Service"] => {
  const runtime = Context.get(outer, Mandate)
  const registry = Context.get(outer, PostureRegistry)
  const compile = PostureCompile.make(
    registry,
    Context.get(outer, ToolCatalog),
    // Postures delegate to postures by this very service.
    (spec) => Effect.provideContext(Bind.compile(spec), Context.add(outer, DelegateRuntime, self))
  )
  const results = EqualResults.of(cache)
  const admit: DelegateRuntime["Service"]["admit"] = (posture, input, overrides, caller) =>
    DelegateAdmission.admit({ registry, compile, maxDepth }, posture, input, overrides, caller)

  const stored = Effect.fnUntraced(function*(subSessionId: string) {
    const row = yield* ThreadVerbs.lastRun(runtime, subSessionId)
    const loaded = yield* RunFailure.fromStore(subSessionId)(runtime.store.load(row.runId))
    if (loaded === undefined) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId: subSessionId })
    return yield* RunFailure.fromStore(subSessionId)(StoredPosture.of({ compile }, loaded))
  })

  const toTheEnd = (session: DelegateOutcome.Session, started: StartRun.Started) =>
    Effect.onInterrupt(
      Effect.flatMap(started.wait, (end) => DelegateOutcome.of(runtime, session, started, end)),
      () => Effect.ignore(CancelRun.run(runtime, { ...started, state: "Running" }))
    )

  const goOn = <E>(
    subSessionId: string,
    begin: (posture: StoredPosture.StoredPosture) => Effect.Effect<StartRun.Started, E>
  ) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const { now } = yield* runtime.lease
        const posture = yield* stored(subSessionId)
        const started = yield* begin(posture)
        return (yield* restore(toTheEnd({ ...posture, since: now }, started))).result
      })
    )

  const startOn = (
    threadId: Ids.ThreadId,
    session: Admitted & DelegateOutcome.Session & { readonly tenant: string | undefined }
  ) => {
    const config = session.tenant === undefined ? undefined : { tenant: session.tenant }
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        StartRun.start(runtime, session.subagent, threadId, session.input, config, false, session),
        (started) => restore(toTheEnd(session, started))
      )
    )
  }

  // Nobody's run holds the pair of such a call, so it is for those who watch alone.
  const found = Effect.fnUntraced(function*(
    threadId: Ids.ThreadId,
    session: Admitted & DelegateOutcome.Session,
    { error, value }: EqualResults.Hit
  ): Effect.fn.Return<DelegateResult> {
    const { now } = yield* runtime.lease
    const run = StartRun.root(session.subagent, threadId, session.input, session)
    runtime.events.publish(
      threadId,
      Journal.numbered(Announce.hit({ ...run, runId: Ids.runId(threadId, 0) }, now), 0)
    )
    return {
      ...(yield* DelegateOutcome.subSession(runtime, session, threadId, Usage.zero)),
      status: "cache_hit",
      result: value,
      ...(error === undefined ? {} : { error })
    }
  })

  const self: DelegateRuntime["Service"] = {
    maxDepth,
    results,
    postures: registry.list,
    compile,
    admit,
    run: (request) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const { now } = yield* runtime.lease
          const { context, overrides, parentTurn, posture, task } = request
          const input = {
            task,
            ...(context === undefined ? {} : { context: context as never }),
            ...(parentTurn === undefined ? {} : { parentTurn })
          }
          const caller = yield* DelegateCaller.of(request)
          const admitted = yield* Effect.tapError(
            admit(posture, input, overrides, caller),
            (error) => DelegateRefusal.tell(runtime, request, error)
          )
          const session = { ...admitted, since: now, tenant: caller.tenant }
          const threadId = yield* StartRun.threadOf(runtime, undefined)
          const ended = yield* restore(results.use(
            { ...admitted, id: threadId, within: caller.within, partial: true },
            Effect.map(startOn(threadId, session), ({ keep, result }) => ({ value: result, keep }))
          ))
          return ended._tag === "Ran" ? ended.value : yield* found(threadId, session, ended.hit)
        })
      ),
    resume: (subSessionId, answers) =>
      goOn(
        subSessionId,
        ({ subagent }) =>
          ResumeRun.resume(
            runtime,
            subagent,
            subSessionId,
            answers,
            CheckAnswer.make({ ...subagent, postures: compile })
          )
      ),
    recover: (subSessionId, options) =>
      goOn(
        subSessionId,
        ({ subagent }) =>
          RecoverRun.recover(runtime, subagent, subSessionId, options?.force === true ? "force" : "wait")
      ),
    cancel: (subSessionId) => CancelRun.root(runtime, subSessionId)
  }
  runtime.agents.register({
    agentId: anyAgent,
    shape: PostureCompile.shape,
    recover: (threadId) =>
      Effect.flatMap(
        stored(threadId),
        ({ subagent }) => Effect.asVoid(RecoverRun.recover(runtime, subagent, threadId, "give-up"))
      )
  })
  return self
}

// Runs of postures have the name of their posture, and one shape.
const anyAgent = "*"
