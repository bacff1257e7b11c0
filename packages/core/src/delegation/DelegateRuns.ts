/**
 * The verbs of a runtime of postures.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as Announce from "../loop/Announce.ts"
import * as Journal from "../loop/Journal.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as CancelRun from "../run/CancelRun.ts"
import * as RecoverRun from "../run/RecoverRun.ts"
import type { Restore } from "../run/Restore.ts"
import * as ResumeRun from "../run/ResumeRun.ts"
import * as RunFailure from "../run/RunFailure.ts"
import * as StartRun from "../run/StartRun.ts"
import * as Terms from "../run/Terms.ts"
import * as ThreadVerbs from "../run/ThreadVerbs.ts"
import { Mandate } from "../service/Mandate.ts"
import type { ModelRegistry } from "../service/ModelRegistry.ts"
import { PostureRegistry } from "../service/PostureRegistry.ts"
import type { ResultCache } from "../service/ResultCache.ts"
import { ToolCatalog } from "../service/ToolCatalog.ts"
import { DelegateError } from "../values/DelegateError.ts"
import { decodeRequest, type DelegateResult } from "../values/DelegateResult.ts"
import * as Ids from "../values/Ids.ts"
import * as Usage from "../values/Usage.ts"
import * as VerbOptions from "../values/VerbOptions.ts"
import * as Bind from "./Bind.ts"
import * as CallLine from "./CallLine.ts"
import * as CheckAnswer from "./CheckAnswer.ts"
import * as DelegateAdmission from "./DelegateAdmission.ts"
import * as DelegateCaller from "./DelegateCaller.ts"
import * as DelegateOutcome from "./DelegateOutcome.ts"
import * as DelegateRefusal from "./DelegateRefusal.ts"
import { type Admitted, DelegateRuntime } from "./DelegateService.ts"
import * as EqualResults from "./EqualResults.ts"
import * as PostureCompile from "./PostureCompile.ts"
import * as StoredPosture from "./StoredPosture.ts"
import * as Surroundings from "./Surroundings.ts"

/**
 * Creates the runtime of postures, and says to the sweep how their runs are
 * gone on with.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  outer: Context.Context<Mandate | ModelRegistry | PostureRegistry | ToolCatalog>,
  maxDepth: number,
  cache: ResultCache["Service"]
): DelegateRuntime["Service"] => {
  const runtime = Context.get(outer, Mandate)
  const registry = Context.get(outer, PostureRegistry)
  const catalog = Context.get(outer, ToolCatalog)
  const compile = PostureCompile.make(
    registry,
    catalog,
    // Postures delegate to postures by this very service.
    (spec) => Effect.provideContext(Bind.compile(spec), Context.add(outer, DelegateRuntime, self))
  )
  const results = EqualResults.of(cache)
  const admit: DelegateRuntime["Service"]["admit"] = (posture, input, overrides, caller) =>
    DelegateAdmission.admit({ registry, compile, maxDepth }, posture, input, overrides, caller)

  // Threads of agents are the agents' own to resume, recover and cancel.
  const lastRun = Effect.fnUntraced(function*(subSessionId: string) {
    const row = yield* ThreadVerbs.lastRun(runtime, subSessionId)
    const { binding } = yield* RunFailure.decoded(OpenRun.place(row))
    if (binding?.delegate !== undefined) return row
    const issues = [`"${subSessionId}" is a thread of the agent "${row.agentId}", and of no posture`]
    return yield* RunFailure.fail({ _tag: "InvalidInput", field: "sub-session id", issues })
  })

  const stored = Effect.fnUntraced(function*(subSessionId: string) {
    const row = yield* lastRun(subSessionId)
    const loaded = yield* RunFailure.fromStore(subSessionId)(runtime.store.load(row.runId))
    if (loaded === undefined) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId: subSessionId })
    return yield* RunFailure.fromStore(subSessionId)(StoredPosture.of({ compile }, loaded))
  })

  // A caller that was interrupted while the run started is one too.
  const toTheEnd = (session: DelegateOutcome.Session, started: StartRun.Started, restore: Restore) =>
    Effect.onInterrupt(
      restore(Effect.flatMap(started.wait, (end) => DelegateOutcome.of(runtime, session, started, end))),
      () => Effect.ignore(CancelRun.driven(runtime, started))
    )

  const goOn = <E>(
    subSessionId: string,
    begin: (posture: StoredPosture.StoredPosture, restore: Restore) => Effect.Effect<StartRun.Started, E>
  ) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const { now } = yield* runtime.lease
        const posture = yield* stored(subSessionId)
        const started = yield* begin(posture, restore)
        return (yield* toTheEnd({ ...posture, since: now }, started, restore)).result
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
        (started) => toTheEnd(session, started, restore)
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
    const pair = Announce.hit({ ...run, runId: Ids.runId(threadId, 0) }, now)
    runtime.events.publish(threadId, pair.flatMap((event) => Journal.numbered([event], 0)))
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
    surroundings: Surroundings.ofPostures(registry, catalog),
    admit,
    run: (given) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const decoded = decodeRequest(given)
          if (Result.isFailure(decoded)) {
            const reason = { _tag: "InvalidRequest", field: "request", issues: decoded.failure } as const
            return yield* new DelegateError({ reason })
          }
          const request = decoded.success
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
          const threadId = yield* Terms.threadOf(runtime, undefined)
          const ended = yield* restore(results.use(
            { ...admitted, id: threadId, within: yield* CallLine.current, partial: true },
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
            CheckAnswer.make({ ...subagent, delegates: self })
          )
      ),
    recover: (subSessionId, options) =>
      Effect.flatMap(RunFailure.valid("options", VerbOptions.decodeRecover(options)), ({ force }) =>
        goOn(
          subSessionId,
          ({ subagent }, restore) =>
            RecoverRun.recover(runtime, subagent, subSessionId, force === true ? "force" : "wait", restore)
        )),
    cancel: (subSessionId) => Effect.flatMap(lastRun(subSessionId), (row) => CancelRun.unlessSettled(runtime, row))
  }
  runtime.agents.register({
    agentId: anyAgent,
    shape: PostureCompile.shape,
    recover: (threadId) =>
      Effect.flatMap(
        stored(threadId),
        ({ subagent }) => Effect.asVoid(RecoverRun.recover(runtime, subagent, threadId, "give-up", identity))
      )
  })
  return self
}

// Runs of postures have the name of their posture, and one shape.
const anyAgent = "*"
