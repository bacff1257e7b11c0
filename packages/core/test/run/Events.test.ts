import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, RunEvent, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"

const Work = Tool.make("work", { parameters: Schema.Struct({ millis: Schema.Number }), success: Schema.String })
const tools = Toolkit.make(Work)
const work = { work: ({ millis }: { readonly millis: number }) => Effect.as(Effect.sleep(millis), "worked") }

const grandchild = TypedAgent.text("grandchild", { description: "Works" }).withTools(tools, work)
const child = TypedAgent.text("child", { description: "Delegates" }).withSubagents([grandchild])
const top = AgentBuilder.make("top").withTools(tools, work).withSubagents([child], { maxDepth: 2 })

const working = (millis: number) => Step.call("work", { millis })

// Two children of one id at once, each with a grandchild; one child is blocked in the end.
const scripts: Script.Scripts = {
  top: [
    Step.calls(Step.textTask("child", "one"), working(5), Step.textTask("child", "two"), Step.task("nobody", {})),
    Step.delay(3, Step.text("all done"))
  ],
  child: Script.byInput((input) => [
    Step.delay(input === "one" ? 4 : 2, Step.textTask("grandchild", input)),
    input === "one" ? Step.text("one done") : Step.contentFilter()
  ]),
  grandchild: Script.each([Step.delay(3, working(6)), Step.delay(2, Step.text("worked"))])
}

type Seen = Array<RunEvent.RunEvent>

// Streams a run to its end and gives all its events and what came last.
const streamed = Effect.gen(function*() {
  const agent = yield* top.build()
  const seen: Seen = []
  const running = yield* Effect.forkChild(
    Stream.runFold(
      agent.stream("Go", { threadId: "t" }),
      () => undefined as unknown,
      (_, event) => {
        if (event._tag !== "RunFinished") seen.push(event)
        return event
      }
    ),
    { startImmediately: true }
  )
  yield* TestClock.adjust("1 minute")
  return { agent, seen, last: yield* Fiber.join(running) }
})

const durable = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.filter((event): event is RunEvent.DurableEvent => "sequence" in event)

const numbersFrom1 = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

// Durable events are in an order in which a tree can be followed: a start before what follows, an end after it.
const checkOrder = (events: ReadonlyArray<RunEvent.DurableEvent>) => {
  const at = (tag: RunEvent.RunEvent["_tag"], key: string) =>
    events.flatMap((event, index) => {
      const own = event._tag === "TaskStarted" || event._tag === "TaskSettled" ? event.childRunId : event.runId
      return event._tag === tag && own === key ? [index] : []
    })
  const runIds = new Set(events.map(({ runId }) => runId as string))
  for (const runId of runIds) {
    const [started, settled] = [at("RunStarted", runId), at("RunSettled", runId)]
    assert.deepStrictEqual([started.length, settled.length], [1, 1], runId)
    const own = events.flatMap((event, index) => event.runId === runId ? [index] : [])
    assert.deepStrictEqual([own[0], own.at(-1)], [started[0], settled[0]], runId)
    if (!runId.includes("/")) continue
    const [taskStarted, taskSettled] = [at("TaskStarted", runId), at("TaskSettled", runId)]
    assert.deepStrictEqual([taskStarted.length, taskSettled.length], [1, 1], runId)
    assert.isBelow(taskStarted[0]!, started[0]!, runId)
    assert.isBelow(settled[0]!, taskSettled[0]!, runId)
  }
}

describe("an event", () => {
  it.effect("names its thread, run, agent, path, depth and the call that started its run", () =>
    Effect.gen(function*() {
      const { seen } = yield* streamed
      const model = yield* ScriptedModel.ScriptedModel
      const paths = [["top"], ["top", "child"], ["top", "child", "grandchild"]]
      for (const event of seen) {
        assert.isTrue(Schema.is(RunEvent.RunEvent)(event), event._tag)
        if (event._tag === "EventsMissed") continue
        assert.strictEqual(event.rootThreadId as string, "t")
        assert.strictEqual(event.runId as string, `${event.threadId}#0`)
        assert.strictEqual(event.depth, event.threadId.split("/").length - 1)
        assert.deepStrictEqual(event.agentPath, paths[event.depth])
        assert.strictEqual(event.agentId, event.agentPath.at(-1))
        const key = event.depth === 0 ? undefined : event.threadId.slice(event.threadId.lastIndexOf("/") + 1)
        assert.strictEqual(event.call?.key as string | undefined, key)
      }
      // The provider's id of that call is the one that the caller's model gave it.
      for (const started of Trees.tagged(seen, "RunStarted").filter(({ depth }) => depth > 0)) {
        const caller = started.threadId.slice(0, started.threadId.lastIndexOf("/"))
        const requests = (yield* model.requests).filter(({ call }) => call.runId === caller && call.step === 1)
        const ids = Trees.lastResults(requests[0]!.request).map(({ id }) => id)
        const index = Number(started.call!.key.split(".")[1])
        assert.strictEqual(started.call!.toolCallId, ids[index])
      }
      assert.deepStrictEqual([...new Set(seen.flatMap((event) => "depth" in event ? [event.depth] : []))].sort(), [
        0,
        1,
        2
      ])
      assert.lengthOf(new Set(seen.flatMap((event) => "runId" in event ? [event.runId] : [])), 5)
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect("that is durable has the next number of its thread, over all runs of its tree", () =>
    Effect.gen(function*() {
      const { agent, seen } = yield* streamed
      const first = durable(seen)
      const handle = yield* agent.start("Again", { threadId: "t" })
      yield* TestClock.adjust("1 minute")
      const second = durable(Array.from(yield* Stream.runCollect(handle.events)))
      const other = yield* agent.start("Elsewhere", { threadId: "u" })
      const elsewhere = durable(Array.from(yield* Stream.runCollect(other.events)))

      const all = [...first, ...second]
      assert.deepStrictEqual(all.map(({ sequence }) => sequence), numbersFrom1(all.length))
      assert.deepStrictEqual(yield* Trees.durableEvents("t"), all)
      assert.strictEqual(second[0]?._tag, "RunStarted")
      assert.deepStrictEqual([...new Set(second.map(({ runId }) => runId as string))], ["t#1"])
      assert.deepStrictEqual(elsewhere.map(({ sequence }) => sequence), numbersFrom1(elsewhere.length))
    }).pipe(Effect.provide(Trees.runtime({
      ...scripts,
      top: Script.runs(scripts["top"] as Script.Steps, [Step.text("again")], [Step.text("else")])
    }))))
})

describe("the events of a tree", () => {
  it.effect("follow each other: one end for each start, children within their task, the run's end last", () =>
    Effect.gen(function*() {
      const { seen } = yield* streamed
      const events = durable(seen)
      checkOrder(events)

      assert.deepStrictEqual(events.at(-1)?._tag, "RunSettled")
      assert.strictEqual(events.at(-1)?.runId as string, "t#0")
      const executed = Trees.tagged(events, "ToolExecuted").map(({ isError, runId, tool }) => [runId, tool, isError])
      assert.sameDeepMembers(executed as Array<unknown>, [
        ["t#0", "work", false],
        ["t#0", "task_nobody", true],
        ["t#0/0.0#0/0.0#0", "work", false],
        ["t#0/0.2#0/0.0#0", "work", false]
      ])
      assert.lengthOf(Trees.tagged(events, "Blocked"), 1)
      // Each response once, the last of a run too.
      const responses = Trees.tagged(events, "ModelCallCompleted").map(({ runId, step }) => `${runId} ${step}`)
      const models = ["t#0", "t#0/0.0#0", "t#0/0.2#0", "t#0/0.0#0/0.0#0", "t#0/0.2#0/0.0#0"]
      assert.sameMembers(responses, models.flatMap((runId) => [`${runId} 0`, `${runId} 1`]))
      // Each live start has its end too, in order: three tools that ran and four tasks.
      const live = seen.flatMap((event) =>
        event._tag === "ToolStarted" || event._tag === "ToolFinished"
          ? [{ tag: event._tag, call: `${event.runId}/${event.key}` }]
          : []
      )
      const started = live.filter(({ tag }) => tag === "ToolStarted").map(({ call }) => call)
      assert.lengthOf(started, 7)
      for (const call of started) {
        assert.deepStrictEqual(live.filter((event) => event.call === call).map(({ tag }) => tag), [
          "ToolStarted",
          "ToolFinished"
        ])
      }
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect.each([1, 4, 7, 9, 12])(
    "have one end for each start when cancelled after %s ms",
    (millis) =>
      Effect.gen(function*() {
        const agent = yield* top.build()
        yield* agent.start("Go", { threadId: "t" })
        yield* TestClock.adjust(millis)
        yield* agent.cancel("t")
        const events = yield* Trees.durableEvents("t")
        yield* TestClock.adjust("1 minute")

        checkOrder(durable(events))
        assert.deepStrictEqual(yield* Trees.durableEvents("t"), events)
      }).pipe(Effect.provide(Trees.runtime(
        Object.fromEntries(Object.entries(scripts).map(([id, script]) => [id, Script.optional(script)]))
      )))
  )

  it.effect("have one end for each start when a child hangs until its deadline, or fails", () =>
    Effect.gen(function*() {
      const slow = TypedAgent.text("slow", { description: "Hangs" }).withBudget({ timeout: "1 second" })
      const broken = TypedAgent.text("broken", { description: "Fails" })
      const agent = yield* AgentBuilder.make("top").withSubagents([slow, broken]).build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      yield* TestClock.adjust("1 second")
      yield* handle.await

      const events = durable(yield* Trees.durableEvents("t"))
      assert.deepStrictEqual(Trees.tagged(events, "RunFailed").map(({ reason }) => reason), ["ModelFailed"])
      checkOrder(events)
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(Step.textTask("slow", "go"), Step.textTask("broken", "go")), Step.text("done")],
      slow: [Step.hang()],
      broken: [Step.fail("authentication")]
    }))))

  it.effect("have one start for each task when another process recovers the run", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        top: [Step.textTask("child", "one"), Step.text("done")],
        child: [Step.again(Step.hang(), Step.text("done"))]
      })
      const store = MemoryRunStore.make()
      const process = () => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.gen(function*() {
        yield* Effect.flatMap(top.build(), (agent) => agent.start("Go", { threadId: "t" }))
        yield* model.awaitCalls(2)
      }).pipe(Effect.provide(process()))
      const events = yield* Effect.gen(function*() {
        yield* Effect.flatMap(top.build(), (agent) => agent.recover("t"))
        return durable(yield* Trees.durableEvents("t"))
      }).pipe(Effect.provide(process()))

      checkOrder(events)
      assert.deepStrictEqual(events.map(({ sequence }) => sequence), numbersFrom1(events.length))
      assert.deepStrictEqual(Trees.tagged(events, "RunRecovered").map(({ runId }) => runId as string), ["t#0"])
    }).pipe(Effect.scoped))
})
