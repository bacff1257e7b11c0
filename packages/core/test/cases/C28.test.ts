import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type RunConfig, RunStore, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Read = Tool.make("read", { success: Schema.String })

const turns = 20
const fiveTasks = Step.calls(...["1", "2", "3", "4", "5"].map((name) => Step.textTask("reader", name)))

/** A parent that keeps two children, which read `bytes` bytes each before they report. */
const family = (bytes: number) => {
  const reader = TypedAgent.text("reader", { description: "Reads" }).withTools(Toolkit.make(Read), {
    read: () => Effect.succeed("x".repeat(bytes))
  })
  return AgentBuilder.make("top").withSubagents([reader], { childRetention: 2 })
}

const program = new URL("../support/RetentionProgram.ts", import.meta.url).pathname

/** Of which children a process has anything left after a hundred of them. */
const leftInMemory = async (store: string, childRetention: number): Promise<unknown> => {
  const flags = ["--expose-gc", "--conditions=mandate-source", "--disable-warning=ExperimentalWarning"]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, store, `${childRetention}`])
  return JSON.parse(stdout)
}

describe.each(backings)("C28 Settled children, in $name", ({ name, pass, place }) => {
  /** Twenty turns, each in a process of its own. `sizes` is what the parent has stored at the end of each. */
  const live = Effect.fnUntraced(function*(bytes: number, config: RunConfig.RunConfig = {}) {
    const home = yield* place
    const store = yield* home
    const below = Effect.map(
      Effect.provideService(Trees.stored("t"), RunStore.RunStore, store),
      (runs) => runs.filter(({ row }) => row.parentRunId !== null).map(({ row }) => row.runId)
    )
    const sizes: Array<number> = []
    const during: Array<number> = []
    const measured = Effect.gen(function*() {
      const rows = yield* Effect.orDie(store.thread("t"))
      const open = yield* Effect.orDie(store.load(rows.at(-1)!.runId))
      sizes.push(JSON.stringify([rows, open?.records]).length)
      during.push((yield* Effect.orDie(below)).length)
      return Step.text("done")
    })
    const { next } = yield* Waiting.processes(home, {
      top: Script.each([fiveTasks, () => measured]),
      reader: Script.each([Step.withUsage(Step.call("read"), { input: 9, output: 9 }), Step.text("read")])
    })
    const kept: Array<ReadonlyArray<string>> = []
    for (let turn = 0; turn < turns; turn++) {
      yield* next(
        Effect.flatMap(family(bytes).build(), (agent) => agent.run("Go", { threadId: "t", ...config }))
      )
      kept.push(yield* below)
    }
    return { sizes, during, kept }
  })

  it.effect.each(
    [[{}, 2], [{ childRetention: 5 }, 2], [{ childRetention: 1 }, 1]] as const
  )(
    "C28 are at most the newest two of a hundred, and a run can only lower it: %o",
    ([config, count]) =>
      Effect.gen(function*() {
        const { during, kept } = yield* live(10, config)

        const newest = (turn: number) => [`t#${turn}/0.3#0`, `t#${turn}/0.4#0`].slice(-count)
        assert.deepStrictEqual(kept, Array.from({ length: turns }, (_, turn) => newest(turn)))
        // As its model sees it, a parent has recorded what its children came to.
        assert.deepStrictEqual(during, Array.from({ length: turns }, () => count))
      })
  )

  it.effect("C28 weigh nothing in what their parent stores", () =>
    Effect.gen(function*() {
      const small = yield* live(1)
      const large = yield* live(100_000)

      assert.deepStrictEqual(large.sizes, small.sizes)
      assert.isBelow(large.sizes.at(-1)!, 100_000)
    }))

  it("C28 are not held in memory", { timeout: 20_000 }, async () => {
    assert.deepStrictEqual(await leftInMemory(name, 2), {
      children: 100,
      left: name === "memory" ? ["t#19/0.3#0", "t#19/0.4#0"] : []
    })
  })

  it.effect("C28 do not push out one that waits, however old it is", () =>
    Effect.gen(function*() {
      const worker = TypedAgent.text("worker", { description: "Works" }).withTools(
        Toolkit.make(Waiting.gated("sign", {})),
        { sign: () => Effect.succeed("signed") }
      )
      const top = AgentBuilder.make("top").withSubagents([worker], { childRetention: 1 })
      const home = yield* place
      const { model, next } = yield* Waiting.processes(home, {
        top: [
          Step.calls(...["waits", "1", "2", "waits", "3"].map((input) => Step.textTask("worker", input))),
          Step.text("done")
        ],
        worker: Script.byInput((input) => input === "waits" ? [Step.call("sign"), Step.text("a")] : [Step.text("b")])
      })
      const ends = Effect.provideService(Trees.ends("t"), RunStore.RunStore, yield* home)
      const resume = (...keys: ReadonlyArray<string>) =>
        next(Effect.flatMap(top.build(), (agent) =>
          agent.resume(
            "t",
            keys.map((key) => Answer.approve(`${key}:child~0.0:approval0`))
          )))

      yield* next(Effect.flatMap(top.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const first = yield* ends
      yield* resume("0.3")
      const second = yield* ends
      const last = yield* resume("0.0")

      const newest = { "t#0/0.4#0": "Completed" }
      assert.deepStrictEqual(first, {
        "t#0": "Suspended",
        "t#0/0.0#0": "Suspended",
        "t#0/0.3#0": "Suspended",
        ...newest
      })
      assert.deepStrictEqual(second, { "t#0": "Suspended", "t#0/0.0#0": "Suspended", ...newest })
      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* ends, { "t#0": "Completed", ...newest })
      assert.lengthOf(yield* model.requestsOf("worker"), 2 + 1 + 1 + 2 + 1)
    }))

  it.effect("C28 stay until their parent has recorded what they came to, even if older and newer ones go", () =>
    Effect.gen(function*() {
      const worker = TypedAgent.text("worker", { description: "Works" })
      const top = AgentBuilder.make("top").withSubagents([worker], { childRetention: 1 })
      const home = yield* place
      const scripts: Script.Scripts = {
        top: [Step.calls(...["1", "2", "3", "4"].map((input) => Step.textTask("worker", input))), Step.text("done")],
        worker: Script.byInput((input) => [Step.text(input)])
      }
      const { die, model } = yield* Waiting.processes(
        Effect.map(home, (store) => neverRecording(store, "t/0.1")),
        scripts
      )
      const { next } = Waiting.processesOf(home, model)
      const ends = Effect.provideService(Trees.ends("t"), RunStore.RunStore, yield* home)

      yield* die(Effect.gen(function*() {
        const agent = yield* top.build()
        yield* agent.start("Go", { threadId: "t" })
        yield* pass("1 second")
      }))
      const crashed = yield* ends
      const recovered = yield* next(Effect.gen(function*() {
        const agent = yield* top.build()
        const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
        yield* pass("1 minute")
        return yield* Fiber.join(recovering)
      }))

      assert.deepStrictEqual(crashed, { "t#0": "Running", "t#0/0.1#0": "Completed", "t#0/0.3#0": "Completed" })
      assert.deepStrictEqual({ ...recovered.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* ends, { "t#0": "Completed", "t#0/0.3#0": "Completed" })
      assert.lengthOf(yield* model.requestsOf("worker"), 4)
    }))

  it.effect(
    "C28 are there for their parent wherever its process dies, and else at most as many as it keeps",
    () =>
      Effect.gen(function*() {
        const worker = TypedAgent.text("worker", { description: "Works" })
        const top = AgentBuilder.make("top").withSubagents([worker], { childRetention: 1, maxConcurrentChildren: 3 })
        const inputs = ["3", "1", "2", "1", "4"]
        const live = Effect.fnUntraced(function*(n: number) {
          const home = yield* place
          const store = yield* home
          const first = CrashingStore.crashing(store, n)
          const { model, next } = yield* Waiting.processes(first.store, {
            top: Script.each([Step.calls(...inputs.map((input) => Step.textTask("worker", input))), Step.text("done")]),
            worker: Script.byInput((input) => [Step.delay(Number(input), Step.text(input))])
          })
          yield* next(Effect.gen(function*() {
            const agent = yield* top.build()
            yield* Effect.forkChild(agent.start("Go", { threadId: "t" }), { startImmediately: true })
            yield* pass("1 minute")
          }))
          const [runs, events] = yield* Effect.provideService(
            Effect.all([Trees.stored("t"), Trees.durableEvents("t")]),
            RunStore.RunStore,
            store
          )
          const parent = runs[0]!
          const isRecorded = (key: string) =>
            parent.row.state === "Settled" || parent.records.some((record) => record.key === `t/${key}`)
          const there = runs.slice(1).map(({ row }) => row.callKey!)
          const started = Trees.tagged(events, "TaskStarted").map(({ key }) => String(key))
          assert.deepStrictEqual(started.filter((key) => !isRecorded(key) && !there.includes(key)), [], `write ${n}`)
          assert.isAtMost(there.filter(isRecorded).length, 1, `write ${n}`)

          const ended = yield* Waiting.processesOf(home, model).next(Effect.gen(function*() {
            const agent = yield* top.build()
            if (parent.row.state === "Settled") return yield* agent.status("t")
            const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
            yield* pass("1 minute")
            return yield* Fiber.join(recovering)
          }))
          assert.deepStrictEqual({ ...ended.status }, { _tag: "Completed", answer: "done" })
          return first.writes()
        })

        const writes = yield* Effect.scoped(live(Number.POSITIVE_INFINITY))
        assert.isAbove(writes, 15)
        for (let n = 1; n < writes; n++) yield* Effect.scoped(live(n))
      }),
    20_000
  )
})

describe("C28 A process that keeps all its children", () => {
  it("C28 has them in memory, so that a reference that is gone means something", { timeout: 20_000 }, async () => {
    const { left } = await leftInMemory("memory", 100) as { readonly left: ReadonlyArray<string> }

    assert.lengthOf(left, 100)
  })
})

type Store = RunStore.RunStore["Service"]

/** A store in which one record of a run is never written. */
const neverRecording = (store: Store, key: string): Store =>
  new Proxy(store, {
    get: (target, name) => {
      const append: Store["append"] = (fence, batch) =>
        batch.records.some((record) => record.key === key) ? Effect.never : target.append(fence, batch)
      const operation: unknown = name === "append" ? append : Reflect.get(target, name)
      return typeof operation === "function" ? operation.bind(target) : operation
    }
  })
