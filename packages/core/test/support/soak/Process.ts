/** Processes of a case: a runtime on the store with the case's agents, which may die, and time that passes for it. */
import {
  DelegateRuntime,
  ModelRegistry,
  type Posture,
  PostureRegistry,
  ResultCache,
  type RunStore,
  ToolCatalog
} from "@mandate/core"
import { type StrictProvider, TestRuntime } from "@mandate/testing"
import { Cause, Effect, Exit, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as CrashingStore from "../CrashingStore.ts"
import type { Case } from "./Case.ts"
import * as Family from "./Family.ts"
import type { Log } from "./Log.ts"
import * as PosturePlan from "./PosturePlan.ts"
import * as SoakTools from "./SoakTools.ts"

export interface Process {
  readonly face: Family.Face
  readonly isDead: () => boolean

  /** Brings postures and tools to what they are before an act, and gives what there is. */
  readonly edit: (act: number) => Effect.Effect<Registered>

  /** Ends the process: it gives its leases back, unless it is dead. */
  readonly close: Effect.Effect<void>
}

/** The postures and the names of the tools that a process has. */
export interface Registered {
  readonly postures: ReadonlyArray<Posture.Posture>
  readonly tools: ReadonlyArray<string>
}

/** Starts a process. It dies after its `dieAfter`th write. */
export const boot = Effect.fnUntraced(function*(options: {
  readonly plan: Case
  readonly log: Log
  readonly store: RunStore.RunStore["Service"]
  readonly model: StrictProvider.StrictClient
  readonly instance: string
  readonly dieAfter: number | undefined
  readonly act: number
  readonly cache: ResultCache.ResultCache["Service"]
}): Effect.fn.Return<Process> {
  const { dieAfter = Number.POSITIVE_INFINITY, instance, log, model, plan } = options
  const { store, writes } = CrashingStore.crashing(options.store, dieAfter)
  const scope = yield* Scope.make()
  const parts = Layer.mergeAll(
    TestRuntime.layerStore(store, instance),
    Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(model) }),
    Layer.succeed(ResultCache.ResultCache, options.cache),
    PostureRegistry.layer([], { schemas: { facts: Family.Report } }),
    ToolCatalog.layerTools(SoakTools.toolkit, SoakTools.handlers(log)).pipe(Layer.provideMerge(ToolCatalog.layer))
  )
  const context = yield* Layer.buildWithScope(
    Layer.fresh(
      Layer.orDie(DelegateRuntime.layer({ maxDepth: plan.postures?.maxDepth ?? 1 }).pipe(Layer.provideMerge(parts)))
    ),
    scope
  )
  const edit = (act: number) => Effect.provideContext(edited(plan, act), context)
  yield* edit(options.act)
  const face = yield* Effect.provideContext(Effect.orDie(Family.bind(plan, log)), context)
  return { face, edit, isDead: () => writes() >= dieAfter, close: Scope.close(scope, Exit.void) }
})

const edited = Effect.fnUntraced(function*({ postures: plan }: Case, act: number) {
  const registry = yield* PostureRegistry.PostureRegistry
  if (plan !== undefined) {
    const { gone, postures } = PosturePlan.before(plan, act)
    for (const { name } of yield* registry.list) if (!postures.has(name)) yield* registry.remove(name)
    for (const posture of postures.values()) yield* Effect.orDie(registry.put(PosturePlan.input(posture)))
    yield* ToolCatalog.remove(...gone)
  }
  return { postures: yield* registry.list, tools: yield* ToolCatalog.names }
})

/** What came of a verb: what it gave, why it failed, or nothing. */
export const resultOf = (exit: Exit.Exit<unknown, unknown> | undefined): string => {
  if (exit === undefined) return "nothing"
  if (Exit.isSuccess(exit)) return statusOf(exit.value)
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return isRunError(error) ? error.reason._tag : `a defect: ${Cause.pretty(exit.cause)}`
}

const statusOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return "done"
  const { _tag, status } = value as { readonly _tag?: string; readonly status?: { readonly _tag: string } }
  return status?._tag ?? _tag ?? "done"
}

const isRunError = (error: unknown): error is { readonly reason: { readonly _tag: string } } =>
  typeof error === "object" && error !== null && "reason" in error

/**
 * Lets time pass until something is so, in steps that grow: what tools and
 * models wait for first, then retries, then leases. Gives whether it came.
 */
export const pass = Effect.fnUntraced(function*({ store }: Case, isSo: () => boolean) {
  for (const millis of steps) {
    yield* settled(store)
    if (isSo()) return true
    yield* TestClock.adjust(millis)
  }
  yield* settled(store)
  return isSo()
})

/** Lets more time pass than anything of a run takes. */
export const passLong = Effect.fnUntraced(function*({ store }: Case) {
  for (const millis of [1, 100, 60_000]) {
    yield* TestClock.adjust(millis)
    yield* settled(store)
  }
})

const steps = [
  ...Array.from({ length: 60 }, () => 1),
  ...Array.from({ length: 20 }, () => 20),
  ...Array.from({ length: 12 }, () => 5_000)
]

// A commit of SQLite takes turns of the event loop that no test clock knows of.
const settled = (store: Case["store"]) =>
  Effect.promise(async () => {
    for (let turn = 0; turn < (store === "memory" ? 1 : 3); turn++) await new Promise((done) => setImmediate(done))
  })
