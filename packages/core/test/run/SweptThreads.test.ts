import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunRow, RunStore, Sweep } from "@mandate/core"
import { Script, Step, TestRuntime } from "@mandate/testing"
import { Clock, Effect, Layer, Logger } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import { by, keepAll, settlement } from "../support/StoreRows.ts"
import * as TamperedStore from "../support/TamperedStore.ts"
import * as Waiting from "../support/Waiting.ts"

type Store = RunStore.RunStore["Service"]

const clerk = AgentBuilder.make("clerk")
const porter = AgentBuilder.make("porter")
const changed = clerk.withTools(Toolkit.make(Tool.make("new")), { new: () => Effect.void })

// A run fails at once, or answers after ten seconds, whichever drive asks.
const script = Script.optional(Script.byInput((input) => [
  Step.again(input === "Fail" ? Step.fail("authentication") : Step.delay("10 seconds", Step.text("done")))
]))
const scripts: Script.Scripts = { clerk: script, porter: script }

const start = (agent: AgentBuilder.AgentBuilder<unknown>, ...threads: ReadonlyArray<string>) =>
  Effect.flatMap(agent.build(), (built) => Effect.forEach(threads, (threadId) => built.start("Go", { threadId })))

describe.each(backings)("what a sweep goes on with, in $name", ({ make }) => {
  it.effect("are Running runs that nobody holds, and no others; of others it says nothing", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { next } = yield* Waiting.processes(store, scripts)
      yield* next(Effect.flatMap(clerk.build(), (agent) => Effect.exit(agent.run("Fail", { threadId: "a" }))))
      yield* next(start(clerk, "b", "d"))
      yield* next(start(porter, "c"))
      yield* Effect.forEach(["c", "d"], (threadId) => store.lease(threadId, by("alive")))
      const failed = yield* store.load("a#0")
      const report = yield* next(Effect.andThen(clerk.build(), Sweep.run()))

      assert.strictEqual(failed?.row.state, "Failed")
      assert.deepStrictEqual(report, { recovered: ["b"], unknown: [], failed: [] })
      assert.deepStrictEqual(yield* store.load("a#0"), failed)
    }))

  it.effect("are no more than its limit, however many it comes upon that it cannot take", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, scripts)
      yield* next(start(porter, "a"))
      yield* next(start(clerk, "b", "c", "d"))
      const swept = (limit: number) => next(Effect.andThen(clerk.build(), Sweep.run({ limit })))
      const unknown = [{ threadId: "a", agentId: "porter", isOtherShape: false }]

      assert.deepStrictEqual(yield* swept(1), { recovered: ["b"], unknown, failed: [] })
      assert.deepStrictEqual(yield* swept(2), { recovered: ["b", "c"], unknown, failed: [] })
    }))

  it.effect("are those of every shape of an agent that is bound, whichever was bound last", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, scripts)
      yield* next(start(clerk, "a"))
      yield* next(start(changed, "b"))
      const report = yield* next(Effect.andThen(Effect.andThen(clerk.build(), changed.build()), Sweep.run()))

      assert.deepStrictEqual(report, { recovered: ["a", "b"], unknown: [], failed: [] })
    }))

  it.effect("are not runs that cannot be read: it says why, and goes on with the others", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { model, next } = yield* Waiting.processes(store, scripts)
      yield* next(start(clerk, "a", "b"))
      const edited = TamperedStore.tampered(store, { runId: "a#0", column: "limits", value: "no json" })
      const report = yield* Waiting.processesOf(edited, model).next(Effect.andThen(clerk.build(), Sweep.run()))

      assert.deepStrictEqual(report.recovered, ["b"])
      assert.deepStrictEqual(report.unknown, [])
      assert.deepStrictEqual(report.failed.map(({ threadId }) => threadId), ["a"])
      assert.deepInclude(report.failed[0]?.reason, { _tag: "CorruptRun", threadId: "a", runId: "a#0" })
    }))

  it.effect("are not those that others were faster to take, to settle or to delete, which is no failure", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { model, next } = yield* Waiting.processes(store, scripts)
      yield* next(start(clerk, "deleted", "free", "settled", "taken"))
      const others = Effect.gen(function*() {
        yield* store.forget("deleted")
        const lease = yield* store.lease("settled", by("other"))
        if (lease._tag === "Held") return assert.fail("somebody holds a thread that was left")
        const fence: RunRow.Fence = { threadId: "settled", runId: "settled#0", epoch: lease.epoch }
        yield* store.settle(fence, settlement(), [], keepAll)
        yield* store.lease("taken", by("other"))
      })
      const list: Store["list"] = (query) => Effect.tap(store.list(query), () => Effect.orDie(others))
      const report = yield* Waiting.processesOf({ ...store, list }, model).next(
        Effect.andThen(clerk.build(), Sweep.run())
      )

      assert.deepStrictEqual(report, { recovered: ["free"], unknown: [], failed: [] })
    }))
})

describe("sweeps of a layer", () => {
  it.effect("come every 30 seconds and look for 100 threads unless told otherwise, also after one that failed", () =>
    Effect.gen(function*() {
      const store = yield* backings[0]!.make
      const asked: Array<readonly [at: number, limit: number]> = []
      const list: Store["list"] = Effect.fnUntraced(function*(query) {
        asked.push([yield* Clock.currentTimeMillis, query.limit])
        return yield* asked.length === 1
          ? new RunStore.StoreError({ operation: "list", cause: "no disk" })
          : store.list(query)
      })
      const lines: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => lines.push([message].flat()[0]))])
      yield* Effect.gen(function*() {
        yield* TestClock.adjust("60 seconds")
      }).pipe(
        Effect.provide(Sweep.layer().pipe(Layer.provide(TestRuntime.layerStore({ ...store, list })))),
        Effect.provide(logger)
      )

      assert.deepStrictEqual(asked, [[0, 100], [30_000, 100], [60_000, 100]])
      assert.deepStrictEqual(lines, ["A sweep failed"])
    }))
})
