import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Message, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step, StrictProvider } from "@mandate/testing"
import { Effect, Fiber, Layer, Ref, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Results from "../support/Results.ts"
import * as Runtime from "../support/Runtime.ts"
import { ways } from "../support/Ways.ts"

const Work = Tool.make("work", { parameters: Schema.Struct({ n: Schema.Number }), success: Schema.Number })
const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Work), { work: ({ n }) => Effect.succeed(n) })

const work = (n: number, id: string) => Step.call("work", { n }, { id })
const layers = (scripts: Script.Scripts) =>
  Layer.mergeAll(Runtime.layer, StrictProvider.layer(ScriptedModel.layer(scripts)))

const violations = Effect.flatMap(StrictProvider.StrictProvider, (strict) => strict.violations)
const lastMessages = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("clerk")),
  (requests) => requests.at(-1)!.request.messages
)

/** Checks that ids are usable, and that the nth result is that of the nth call. */
const assertConsistent = (messages: ReadonlyArray<Message.Message>, results: ReadonlyArray<unknown>) => {
  const ids = Results.callIds(messages)
  assert.strictEqual(new Set(ids).size, ids.length)
  assert.notInclude(ids, "")
  assert.deepStrictEqual(Results.parts(messages).map(({ id }) => id), ids)
  assert.deepStrictEqual(Results.all(messages).map(({ value }) => value), results)
}

const shapes: ReadonlyArray<readonly [what: string, ids: ReadonlyArray<string>]> = [
  ["empty", ["", "", ""]],
  ["all the same", ["x", "x", "x"]],
  ["empty and the same", ["x", "", "x"]],
  ["the same once their halves of characters are whole", ["x\ud800", "x\udbff", "x\ufffd"]],
  ["like the ids that are made up", ["", "call_0_0_0", "call_0_0_1"]],
  ["like the ids that are made up, from the end", ["call_0_0_2", "call_0_0_1", ""]]
]

describe("R5 Ids of tool calls", () => {
  it.effect("ids that are unique and that every provider takes stay as the provider gave them", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      yield* agent.run("Go", { threadId: "t" })
      yield* agent.run("Go", { threadId: "t" })

      assert.deepStrictEqual(Results.callIds(yield* lastMessages), ["a", "toolu_01-X", "u-b", "c", "d"])
    }).pipe(Effect.provide(layers({
      clerk: Script.runs(
        [Step.calls(work(1, "a"), work(2, "toolu_01-X"), work(3, "u-b")), work(4, "c"), Step.text("done")],
        [work(5, "d"), Step.text("done")]
      )
    }))))

  for (const [way, run] of ways) {
    for (const [what, ids] of shapes) {
      it.effect(`ids that are ${what} are made unique, and the results follow them (${way})`, () =>
        Effect.gen(function*() {
          yield* run(yield* clerk.build(), "Go")

          assertConsistent(yield* lastMessages, [0, 1, 2])
          assert.deepStrictEqual(yield* violations, [])
        }).pipe(Effect.provide(layers({
          clerk: [Step.calls(...ids.map((id, n) => work(n, id))), Step.text("done")]
        }))))
    }
  }

  it.effect("the first call keeps a repeated id, and later steps and runs of the thread get others", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      for (let times = 0; times < 3; times++) yield* agent.run("Go", { threadId: "t" })

      const messages = yield* lastMessages
      assertConsistent(messages, [1, 2, 3, 1, 2, 3, 1, 2, 3])
      assert.deepStrictEqual(Results.callIds(messages).indexOf("x"), 0)
      assert.deepStrictEqual(yield* violations, [])
    }).pipe(Effect.provide(layers({
      clerk: Script.runs(...[1, 2, 3].map(() => [
        Step.calls(work(1, "x"), work(2, "")),
        work(3, "x"),
        Step.text("done")
      ]))
    }))))

  it.effect("ids of a run that was cancelled are taken too", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust(1)
      yield* agent.cancel("t")
      yield* Fiber.join(running)
      yield* agent.run("Go", { threadId: "t" })

      assertConsistent(yield* lastMessages, [1, 2])
      assert.deepStrictEqual(yield* violations, [])
    }).pipe(Effect.provide(layers({
      clerk: Script.runs([work(1, "x"), Step.hang()], [work(2, "x"), Step.text("done")])
    }))))

  it.effect("a recovered run finds the ids it gave before", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const before = yield* lastMessages
      yield* agent.recover("t")

      const after = yield* lastMessages
      assert.deepStrictEqual(after.slice(0, before.length), before)
      assertConsistent(after, [1, 2, 3])
    }).pipe(Effect.provide(layers({
      clerk: [
        Step.calls(work(1, ""), work(2, "")),
        Step.again(Step.fail("authentication"), work(3, "")),
        Step.text("done")
      ]
    }))))

  it.effect("handlers, events, and children are told the id that the history has", () =>
    Effect.gen(function*() {
      const told = yield* Ref.make<ReadonlyArray<string>>([])
      const helper = TypedAgent.text("helper", { description: "Helps" })
      const agent = yield* AgentBuilder.make("clerk").withSubagents([helper]).withTools(Toolkit.make(Work), {
        work: ({ n }) =>
          Effect.flatMap(ToolContext.ToolContext, ({ toolCallId }) =>
            Effect.as(Ref.update(told, (ids) => [...ids, toolCallId]), n))
      }).build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      const events = yield* Stream.runCollect(handle.events)
      yield* handle.await

      const model = yield* ScriptedModel.ScriptedModel
      const ids = Results.callIds(yield* lastMessages)
      const [child] = yield* model.requestsOf("helper")
      const executed = events.flatMap((event) =>
        event._tag === "ToolExecuted" ? [event.toolCallId] : []
      )
      const started = events.flatMap((event) => event._tag === "TaskStarted" ? [event.toolCallId] : [])
      assert.strictEqual(new Set(ids).size, 3)
      assert.deepStrictEqual(yield* Ref.get(told), ids.slice(0, 2))
      assert.deepStrictEqual(executed, ids.slice(0, 2))
      assert.deepStrictEqual(started, ids.slice(2))
      assert.deepStrictEqual(child?.call.call, { key: "0.2", toolCallId: ids[2]! })
    }).pipe(Effect.provide(layers({
      clerk: [Step.calls(work(1, "x"), work(2, "x"), Step.textTask("helper", "Help", { id: "x" })), Step.text("done")],
      helper: [Step.text("helped")]
    }))))

  it.effect("a child's thread is another thread: it may repeat an id of its parent's", () =>
    Effect.gen(function*() {
      const child = TypedAgent.text("child", { description: "Works" })
        .withTools(Toolkit.make(Work), { work: ({ n }) => Effect.succeed(n) })
      yield* (yield* AgentBuilder.make("clerk").withSubagents([child]).build()).run("Go")

      const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("child")
      assert.deepStrictEqual(Results.callIds(second?.request.messages ?? []), ["x"])
    }).pipe(Effect.provide(layers({
      clerk: [Step.textTask("child", "Work", { id: "x" }), Step.text("done")],
      child: [work(1, "x"), Step.text("worked")]
    }))))

  const providers = {
    "each before its result": [0, 0, 1, 1],
    "all before their results": [0, 1, 0, 1]
  }
  for (const [order, places] of Object.entries(providers)) {
    for (const id of ["", "x"]) {
      it.effect(`calls that the provider ran under the id "${id}", ${order}, keep their results`, () =>
        Effect.gen(function*() {
          yield* (yield* clerk.build()).run("Go")

          const [, assistant] = yield* lastMessages
          const parts = assistant?.role === "assistant" ? assistant.content : []
          const called = parts.flatMap((part) => part.type === "tool-call" && part.providerExecuted ? [part.id] : [])
          const answered = parts.flatMap((part) => part.type === "tool-result" ? [part.id] : [])
          assert.strictEqual(new Set(called).size, 2)
          assert.notInclude(called, "")
          assert.deepStrictEqual(answered, called)
        }).pipe(Effect.provide(layers({
          clerk: [Step.parts([...ran(id, places), work(1, "y")], "tool-calls"), Step.text("done")]
        }))))
    }
  }

  const lists = { runs: Schema.Array(Schema.Array(Schema.Literals(["", "x", "y", "call_0_0_0", "call_1_0_1"]))) }
  it.effect.prop(
    "no ids of any runs leave a thread with two equal ones, or with an empty one",
    lists,
    ({ runs }) =>
      Effect.gen(function*() {
        const agent = yield* clerk.build()
        yield* Effect.forEach([...runs, []], () => agent.run("Go", { threadId: "t" }))

        const given = runs.flat()
        const messages = yield* lastMessages
        assertConsistent(messages, given.map((_, n) => n))
        assert.deepStrictEqual(yield* violations, [])
      }).pipe(Effect.provide(layers({ clerk: Script.runs(...scripted(runs), [Step.text("done")]) })))
  )
})

/** Two calls that the provider ran, and their results, in the order of `places`. */
const ran = (id: string, places: ReadonlyArray<number>): ReadonlyArray<Message.AssistantPart> => {
  const seen = new Set<number>()
  return places.map((n): Message.AssistantPart => {
    const mine = { id, name: "search", providerExecuted: true }
    if (seen.has(n)) return { type: "tool-result", ...mine, output: { type: "json", value: n }, isError: false }
    seen.add(n)
    return { type: "tool-call", ...mine, arguments: JSON.stringify({ n }) }
  })
}

/** Runs that call the tool under the given ids; the calls are numbered over all runs. */
const scripted = (runs: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<Script.Steps> => {
  let n = 0
  return runs.map((ids) => {
    const calls = ids.map((id) => work(n++, id))
    return calls.length === 0 ? [Step.text("done")] : [Step.calls(...calls), Step.text("done")]
  })
}
