/** Lives of posture runs over several processes: where one dies, and how the next goes on. */
import { AgentBuilder, DelegateRuntime, Mandate, type Posture, type RunEvent, type RunStore } from "@mandate/core"
import { type Script, ScriptedModel, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, type Scope } from "effect"
import type { Backing } from "./Backings.ts"
import * as CrashingStore from "./CrashingStore.ts"
import * as Postures from "./Postures.ts"
import * as Sessions from "./Sessions.ts"

type Store = RunStore.RunStore["Service"]

/** What a process has. */
export type Services = Layer.Success<ReturnType<typeof process>>

/** A process of its own on a store, with a model that all of them share. */
export const process = (
  store: Store,
  instance: string,
  model: ScriptedModel.ScriptedModel["Service"],
  postures: ReadonlyArray<Posture.PostureInput>,
  options: Parameters<typeof Postures.parts>[1] & DelegateRuntime.Options = {}
) =>
  DelegateRuntime.layer(Postures.ofRuntime(options)).pipe(Layer.provideMerge(Layer.mergeAll(
    Postures.parts(postures, options),
    TestRuntime.layerStore(store, instance),
    StrictProvider.layer(ScriptedModel.layerOf(model))
  )))

/** What is begun, and how it is gone on with. */
export interface Life {
  readonly postures: ReadonlyArray<Posture.PostureInput>
  readonly scripts: Script.Scripts
  readonly begin: Effect.Effect<unknown, unknown, Services>
  readonly goOn: Effect.Effect<unknown, unknown, Services>
}

/** What one life leaves behind. */
export interface Left {
  readonly events: ReadonlyArray<RunEvent.RunEvent>
  readonly writes: number
  readonly open: ReadonlyArray<string>
  readonly calls: number
}

/** Lives in a process that dies after its `n`th write, and goes on in another one. */
export const live = Effect.fnUntraced(function*(
  { make, pass }: Backing,
  { begin, goOn, postures, scripts }: Life,
  n: number
): Effect.fn.Return<Left, unknown, Scope.Scope> {
  const recorded = Sessions.recording(yield* make)
  const first = CrashingStore.crashing(recorded.store, n)
  const model = yield* ScriptedModel.make(scripts)
  const dying = yield* Effect.forkChild(
    // Nobody interrupts the call: it would be a cancel, and dead processes do not say goodbye.
    Effect.andThen(Effect.forkDetach(begin, { startImmediately: true }), Effect.never).pipe(
      Effect.provide(process(first.store, "first", model, postures))
    ),
    { startImmediately: true }
  )
  yield* pass("1 minute")
  if (n === Number.POSITIVE_INFINITY) first.kill()
  yield* Fiber.interrupt(dying)
  yield* Effect.gen(function*() {
    const going = yield* Effect.forkChild(goOn, { startImmediately: true })
    yield* pass("2 minutes")
    yield* Fiber.join(going)
  }).pipe(Effect.provide(process(recorded.store, "second", model, postures)))
  const open = (yield* recorded.store.list({ after: "", limit: 100 })).filter(({ state }) => state !== "Settled")
  return {
    events: recorded.committed,
    writes: first.writes(),
    open: open.map(({ threadId }) => threadId),
    calls: yield* model.calls
  }
})

/** An agent that may delegate to all postures, three levels deep. */
export const lead = AgentBuilder.make("lead").withPostures().withSubagents([], { maxDepth: 3 })

/** A model delegates, on the thread `t`. */
export const byModel = {
  begin: Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })),
  goOn: Effect.gen(function*() {
    const agent = yield* lead.build()
    const { status } = yield* agent.status("t")
    if (status._tag === "Running") yield* agent.recover("t")
  })
}

/** Code delegates, in the sub-session `thread-1`, which goes when it settles. */
export const byCode = (request: Parameters<typeof DelegateRuntime.run>[0]) => ({
  begin: DelegateRuntime.run(request),
  goOn: Effect.gen(function*() {
    const { store } = yield* Mandate.Mandate
    const [run] = yield* store.thread("thread-1")
    if (run !== undefined) yield* DelegateRuntime.recover("thread-1")
  })
})
