import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunRow, RunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema, type Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Work = Tool.make("work", { parameters: Schema.Struct({ at: Schema.Int }), success: Schema.String })

/** `ran` gets the run and call key of each tool call. */
const family = (ran: Array<string>, slots: number) => {
  const worker = TypedAgent.text("worker", { description: "Works" }).withTools(Toolkit.make(Work), {
    work: ({ at }) =>
      Effect.gen(function*() {
        const { idempotencyKey } = yield* ToolContext.ToolContext
        ran.push(idempotencyKey)
        yield* Effect.sleep(at)
        return `worked at ${at}`
      })
  })
  return AgentBuilder.make("top").withSubagents([worker], { maxConcurrentChildren: slots })
}

const tasks = Step.calls(...["1", "2", "3"].map((name) => Step.textTask("worker", name)))
const keys = ["0.0", "0.1", "0.2"]

/** The pairs of the tasks, which must be there once each, the start before the end. */
const pairs = (events: Effect.Success<ReturnType<typeof Trees.durableEvents>>) =>
  keys.map((key) =>
    events.flatMap((event) =>
      (event._tag === "TaskStarted" || event._tag === "TaskSettled") && event.key === key ? [event._tag] : []
    )
  )
const oncePerTask = keys.map(() => ["TaskStarted", "TaskSettled"])

describe.each(backings)("C27 Parallel work done before a crash, in $name", (backing) => {
  it.effect("C27 is not done again: the others go on where they were", () =>
    Effect.gen(function*() {
      const { pass, place } = backing
      const live = Effect.fnUntraced(function*(crashes: boolean) {
        const ran: Array<string> = []
        const top = family(ran, 3)
        const home = yield* place
        const { die, model, next } = yield* Waiting.processes(home, {
          top: [tasks, Step.text("done")],
          worker: Script.byInput((name) =>
            name === "2"
              ? [Step.call("work", { at: 0 }), crashes ? Step.again(Step.hang(), Step.text("two")) : Step.text("two")]
              : [Step.text(name === "1" ? "one" : "three")]
          )
        })
        const start = Effect.gen(function*() {
          const agent = yield* top.build()
          yield* agent.start("Go", { threadId: "t" })
          yield* model.awaitCalls(5)
          yield* pass("1 second")
        })
        yield* crashes ? die(start) : next(start)
        const store = yield* home
        const ends = yield* Effect.provideService(Trees.ends("t"), RunStore.RunStore, store)
        if (crashes) {
          yield* next(Effect.gen(function*() {
            const agent = yield* top.build()
            const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
            yield* pass("1 minute")
            assert.deepStrictEqual({ ...(yield* Fiber.join(recovering)).status }, { _tag: "Completed", answer: "done" })
          }))
        }
        return {
          ran,
          ends,
          asked: (yield* model.requestsOf("worker")).map(({ call }) => `${call.call?.key} ${call.step}`),
          history: yield* next(Effect.flatMap(top.build(), (agent) => agent.history("t"))),
          events: yield* Effect.provideService(Trees.durableEvents("t"), RunStore.RunStore, store)
        }
      })
      const whole = yield* Effect.scoped(live(false))
      const crashed = yield* Effect.scoped(live(true))

      assert.deepStrictEqual(crashed.ends, {
        "t#0": "Running",
        "t#0/0.0#0": "Completed",
        "t#0/0.1#0": "Running",
        "t#0/0.2#0": "Completed"
      })
      assert.sameMembers(crashed.asked, ["0.0 0", "0.1 0", "0.2 0", "0.1 1", "0.1 1"])
      assert.deepStrictEqual(crashed.ran, ["t#0/0.1#0/0.0"])
      assert.deepStrictEqual(pairs(crashed.events), oncePerTask)
      assert.deepStrictEqual(pairs(whole.events), oncePerTask)
      assert.lengthOf(whole.history, 1)
      assert.deepStrictEqual(crashed.history, whole.history)
    }))

  it.effect.each([1, 2, 3])(
    "C27 wherever the process dies, nothing recorded is done again, with %i slots",
    (slots) =>
      Effect.gen(function*() {
        const whole = yield* Effect.scoped(liveUntil(backing, slots, Number.POSITIVE_INFINITY))
        assert.deepStrictEqual(pairs(whole.events), oncePerTask)
        assert.isAbove(whole.writes, 12)

        for (let n = 1; n <= whole.writes; n++) {
          const crashed = yield* Effect.scoped(liveUntil(backing, slots, n))

          assert.deepStrictEqual(crashed.history, whole.history, `history after a crash at write ${n}`)
          assert.deepStrictEqual(pairs(crashed.events), oncePerTask, `pairs after a crash at write ${n}`)
          assert.deepStrictEqual(crashed.after.filter(isDoneIn(crashed.found)), [], `after a crash at write ${n}`)
          assert.sameMembers([...new Set([...crashed.before, ...crashed.after])], [...new Set(whole.before)])
        }
      }),
    20_000
  )
})

/** Lives to the `n`th write and then in a new process to the end. Calls are `m/<step>` and `t/<call key>` with their runs. */
const liveUntil = Effect.fnUntraced(function*(
  { pass, place }: Backing,
  slots: number,
  n: number
): Effect.fn.Return<Life, unknown, Scope.Scope> {
  const ran: Array<string> = []
  const top = family(ran, slots)
  const store = yield* yield* place
  const first = CrashingStore.crashing(store, n)
  const work = (at: number) => Step.call("work", { at })
  const model = yield* ScriptedModel.make({
    top: [tasks, Step.text("done")],
    worker: Script.byInput((name) => [
      Step.calls(work(Number(name)), work(2)),
      Step.delay(3 * Number(name), work(1)),
      Step.text(`worker ${name}`)
    ])
  })
  const look = <A, E>(effect: Effect.Effect<A, E, RunStore.RunStore>) =>
    Effect.provideService(effect, RunStore.RunStore, store)
  const calls = Effect.map(model.requests, (requests) => [
    ...requests.map(({ call }) => `${call.runId} m/${call.step}`),
    ...ran.map((key) => key.replace(/\/([^/]*)$/, " t/$1"))
  ])

  yield* Waiting.processesOf(first.store, model).next(Effect.gen(function*() {
    const agent = yield* top.build()
    yield* Effect.forkChild(agent.start("Go", { threadId: "t" }), { startImmediately: true })
    yield* pass("1 minute")
  }))
  const found = yield* look(Trees.stored("t"))
  const before = yield* calls
  const history = yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
    const agent = yield* top.build()
    if ((yield* agent.status("t")).status._tag === "Running") {
      const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
      yield* pass("1 minute")
      yield* Fiber.join(recovering)
    }
    return yield* agent.history("t")
  }))
  const done = yield* calls
  const events = yield* look(Trees.durableEvents("t"))
  return { history, events, before, after: without(done, before), found, writes: first.writes() }
})

interface Life {
  readonly history: unknown
  readonly events: Effect.Success<ReturnType<typeof Trees.durableEvents>>
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  readonly found: ReadonlyArray<Pick<RunRow.LoadedRun, "row" | "records">>
  readonly writes: number
}

const without = (all: ReadonlyArray<string>, some: ReadonlyArray<string>) => {
  const left = [...all]
  for (const one of some) left.splice(left.indexOf(one), 1)
  return left
}

/** Whether the store knew a call's result at the crash. */
const isDoneIn = (found: Life["found"]) => (call: string) => {
  const [runId, key] = call.split(" ")
  const run = found.find(({ row }) => row.runId === runId)
  return run?.row.state === "Settled" || run?.records.some((record) => record.key === key) === true
}
