import { assert, describe, it } from "@effect/vitest"
import { type RunRow, type RunStore, ToolContext } from "@mandate/core"
import { ScriptedModel, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Ref, type Scope } from "effect"
import { type Backing, backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import { type Tree, trees } from "../support/RedriveTrees.ts"

const thread = "t"

/** Everything that one life of a tree leaves behind. */
interface Left {
  readonly history: unknown
  readonly counts: ReadonlyMap<string, number>
  readonly recordedAtCrash: ReadonlySet<string>
  readonly openRuns: ReadonlyArray<string>
  readonly writes: number
}

/** Runs a tree in a process that dies after `n` writes, then goes on in a new one. */
const live = Effect.fnUntraced(function*(
  { make, pass }: Backing,
  index: number,
  n: number
): Effect.fn.Return<Left, unknown, Scope.Scope> {
  const counts = yield* Ref.make<ReadonlyMap<string, number>>(new Map())
  const count = (key: string) => Ref.update(counts, (all) => new Map(all).set(key, (all.get(key) ?? 0) + 1))
  const onTool = Effect.flatMap(ToolContext.ToolContext, (call) => count(`t/${call.idempotencyKey}`))
  const tree = trees(onTool as Effect.Effect<void>)[index] as Tree
  const inner = yield* make
  const first = CrashingStore.crashing(inner, n)
  const model = yield* ScriptedModel.make(tree.scripts)
  const strict = StrictProvider.layer(ScriptedModel.layerOf(model))

  const dying = yield* Effect.forkChild(
    Effect.flatMap(tree.agent.build(), (agent) => agent.start("Go", { threadId: thread })).pipe(
      Effect.andThen(Effect.never),
      Effect.provide(Layer.merge(TestRuntime.layerStore(first.store, "first"), strict))
    ),
    { startImmediately: true }
  )
  yield* pass("1 minute")
  const recordedAtCrash = new Set((yield* runsOf(inner)).flatMap(recordKeys))
  yield* Fiber.interrupt(dying)

  yield* Effect.gen(function*() {
    const agent = yield* tree.agent.build()
    const status = yield* agent.status(thread)
    if (status.status._tag !== "Running") return
    const recovering = yield* Effect.forkChild(agent.recover(thread), { startImmediately: true })
    yield* pass("2 minutes")
    yield* Fiber.join(recovering)
  }).pipe(Effect.provide(Layer.merge(TestRuntime.layerStore(inner, "second"), strict)))

  const history = yield* Effect.flatMap(tree.agent.build(), (agent) => agent.history(thread)).pipe(
    Effect.provide(Layer.merge(TestRuntime.layerStore(inner, "third"), strict))
  )
  for (const { call } of yield* model.requests) yield* count(`m/${call.runId}/${call.step}`)
  const openRuns = (yield* runsOf(inner)).filter(({ row }) => row.state !== "Settled").map(({ row }) => row.runId)
  return { history, counts: yield* Ref.get(counts), recordedAtCrash, openRuns, writes: first.writes() }
})

/** The runs of the tree that the store has, with their records. */
const runsOf = Effect.fnUntraced(function*(store: RunStore.RunStore["Service"]) {
  const found: Array<RunRow.LoadedRun> = []
  const visit: (runId: string) => Effect.Effect<void, unknown> = Effect.fnUntraced(function*(runId) {
    const loaded = yield* store.load(runId)
    if (loaded !== undefined) found.push(loaded)
    for (const child of yield* store.children(runId)) yield* visit(child.runId)
  })
  yield* visit(`${thread}#0`)
  return found
})

/** The model and tool calls that a run has recorded. */
const recordKeys = ({ records, row }: RunRow.LoadedRun): ReadonlyArray<string> =>
  records.map(({ key }) => `${key.slice(0, 1)}/${row.runId}/${key.slice(2)}`)

describe.each(backings)("a run that is driven again, in $name", (backing) => {
  const all = trees(Effect.void)
  it.effect.each(all.map((tree, index) => [tree.name, index] as const))(
    "goes on from any store write as if nothing had happened: %s",
    ([, index]) =>
      Effect.gen(function*() {
        const whole = yield* Effect.scoped(live(backing, index, Number.POSITIVE_INFINITY))
        assert.isAbove(whole.writes, 1)
        assert.deepStrictEqual(whole.openRuns, [])

        for (let n = 1; n <= whole.writes; n++) {
          const again = yield* Effect.scoped(live(backing, index, n))

          assert.deepStrictEqual(again.openRuns, [], `open runs after a crash at write ${n}`)
          assert.deepStrictEqual(again.history, whole.history, `history after a crash at write ${n}`)
          assert.sameMembers([...again.counts.keys()], [...whole.counts.keys()], `calls after a crash at write ${n}`)
          for (const [key, times] of again.counts) {
            assert.isAtMost(times, again.recordedAtCrash.has(key) ? 1 : 2, `${key} after a crash at write ${n}`)
          }
        }
      })
  )
})
