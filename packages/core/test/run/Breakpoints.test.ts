import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type AgentDefinitionError, Answer, ToolContext, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Text = Schema.Struct({ text: Schema.String })
const toolkit = Toolkit.make(
  Tool.make("send", { parameters: Text, success: Schema.String }),
  Tool.make("read", { parameters: Text, success: Schema.String }),
  Waiting.gated("pay", { text: Schema.String })
)

const writer = (ran: Array<string>) => {
  const run = (name: string) => ({ text }: { readonly text: string }) =>
    Effect.sync(() => `${name} ${ran.push(`${name} ${text}`)}`)
  return AgentBuilder.make("writer").withTools(toolkit, { send: run("send"), read: run("read"), pay: run("pay") })
}

const call = (name: string, text: string) => Step.call(name, { text })

const ids = (status: { readonly _tag: string; readonly pending?: ReadonlyArray<{ readonly id: string }> }) =>
  status.pending?.map(({ id }) => id) ?? []

describe.each(backings)("a breakpoint, in $name", ({ make }) => {
  it.effect("stops before calls of a tool by its name, and lets the others run", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const agent = writer(ran).withBreakpoints(["send"])
      const { next } = yield* Waiting.processes(yield* make, {
        writer: [Step.calls(call("send", "a"), call("read", "b")), Step.text("done")]
      })
      const first = yield* next(Effect.flatMap(agent.build(), (built) => built.run("Go", { threadId: "t" })))
      assert.deepStrictEqual(ids(first.status), ["0.0:breakpoint0"])
      assert.deepStrictEqual(
        first.status._tag === "Suspended" ? first.status.pending[0]?.request : undefined,
        { _tag: "Breakpoint", tool: "send", arguments: { text: "a" } }
      )
      assert.deepStrictEqual(ran, ["read b"])
      const last = yield* next(
        Effect.flatMap(agent.build(), (built) => built.resume("t", [Answer.proceed("0.0:breakpoint0")]))
      )

      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["read b", "send a"])
    }))

  it.effect("stops before calls that a function picks, and asks it once for each", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const asked: Array<string> = []
      const agent = writer(ran).withBreakpoints([({ arguments: args, tool }) => {
        const { text } = args as { readonly text: string }
        asked.push(`${tool} ${text}`)
        return text === "stop"
      }])
      const { next } = yield* Waiting.processes(yield* make, {
        writer: [Step.calls(call("read", "on"), call("read", "stop"), call("send", "stop")), Step.text("done")]
      })
      const build = agent.build()
      const first = yield* next(Effect.flatMap(build, (built) => built.run("Go", { threadId: "t" })))
      assert.deepStrictEqual(ids(first.status), ["0.1:breakpoint0", "0.2:breakpoint0"])
      const second = yield* next(
        Effect.flatMap(build, (built) => built.resume("t", [Answer.proceed("0.2:breakpoint0")]))
      )
      assert.deepStrictEqual(ids(second.status), ["0.1:breakpoint0"])
      const last = yield* next(Effect.flatMap(build, (built) => built.resume("t", [Answer.proceed("0.1:breakpoint0")])))

      assert.strictEqual(last.status._tag, "Completed")
      assert.deepStrictEqual(ran, ["read on", "send stop", "read stop"])
      assert.deepStrictEqual(asked, ["read on", "read stop", "send stop"])
    }))

  it.effect("is not looked for again, nor an approval, before a call that goes on after its question", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const Ask = Tool.make("ask", {
        success: Schema.String,
        needsApproval: () => Effect.sync(() => asked.push("policy") < 0)
      })
      const agent = AgentBuilder.make("writer")
        .withTools(Toolkit.make(Ask), { ask: () => ToolContext.ask("Which?", { answer: Schema.String }) })
        .withBreakpoints([({ tool }) => asked.push(tool) < 0])
      const { next } = yield* Waiting.processes(yield* make, {
        writer: [Step.calls(Step.call("ask")), Step.text("done")]
      })
      const first = yield* next(Effect.flatMap(agent.build(), (built) => built.run("Go", { threadId: "t" })))
      assert.deepStrictEqual(ids(first.status), ["0.0:question0"])
      const reply = Answer.replyUnknown("0.0:question0", "this")
      const last = yield* next(Effect.flatMap(agent.build(), (built) => built.resume("t", [reply])))

      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(asked, ["policy", "ask"])
    }))

  it.effect("comes after an approval, and shows what a person put in place of the arguments", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const agent = writer(ran).withBreakpoints(["pay"])
      const { next } = yield* Waiting.processes(yield* make, {
        writer: [Step.calls(call("pay", "10"), call("pay", "20")), Step.text("done")]
      })
      const build = agent.build()
      yield* next(Effect.flatMap(build, (built) => built.run("Go", { threadId: "t" })))
      const second = yield* next(Effect.flatMap(build, (built) =>
        built.resume("t", [
          Answer.edit("0.0:approval0", { text: "3" }),
          Answer.reject("0.1:approval0", "too much")
        ])))
      assert.deepStrictEqual(
        second.status._tag === "Suspended"
          ? second.status.pending.map(({ id, request }) => [String(id), request])
          : [],
        [["0.0:breakpoint0", { _tag: "Breakpoint", tool: "pay", arguments: { text: "3" } }]]
      )
      assert.deepStrictEqual(ran, [])
      yield* next(Effect.flatMap(build, (built) => built.resume("t", [Answer.proceed("0.0:breakpoint0")])))

      assert.deepStrictEqual(ran, ["pay 3"])
    }))

  it.effect("stops before a task, and in a child, each under the ids of its run", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const child = TypedAgent.text("child", { description: "Sends" })
        .withTools(Toolkit.make(Tool.make("send", { parameters: Text, success: Schema.String })), {
          send: ({ text }) => Effect.sync(() => `sent ${ran.push(text)}`)
        })
        .withBreakpoints(["send"])
      const agent = AgentBuilder.make("parent").withSubagents([child]).withBreakpoints(["task"])
      const { model, next } = yield* Waiting.processes(yield* make, {
        parent: [Step.calls(Step.textTask("child", "x")), Step.text("done")],
        child: [Step.calls(call("send", "a")), Step.text("sent")]
      })
      const build = agent.build()
      const first = yield* next(Effect.flatMap(build, (built) => built.run("Go", { threadId: "t" })))
      assert.deepStrictEqual(ids(first.status), ["0.0:breakpoint0"])
      assert.lengthOf(yield* model.requestsOf("child"), 0)
      const second = yield* next(
        Effect.flatMap(build, (built) => built.resume("t", [Answer.proceed("0.0:breakpoint0")]))
      )
      assert.deepStrictEqual(ids(second.status), ["0.0:child~0.0:breakpoint0"])
      const last = yield* next(
        Effect.flatMap(build, (built) => built.resume("t", [Answer.proceed("0.0:child~0.0:breakpoint0")]))
      )

      assert.strictEqual(last.status._tag, "Completed")
      assert.deepStrictEqual(ran, ["a"])
    }))

  it.effect("stops when its function fails, not before arguments that do not decode, and takes proceed alone", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const agent = writer(ran).withBreakpoints([() => {
        throw new Error("no idea")
      }])
      const { model, next } = yield* Waiting.processes(yield* make, {
        writer: [Step.calls(Step.call("read", { text: 7 }), call("read", "a")), Step.text("done")]
      })
      const build = agent.build()
      const first = yield* next(Effect.flatMap(build, (built) => built.run("Go", { threadId: "t" })))
      assert.deepStrictEqual(ids(first.status), ["0.1:breakpoint0"])
      const refused = yield* next(
        Effect.flatMap(build, (built) => Effect.flip(built.resume("t", [Answer.approve("0.1:breakpoint0")])))
      )
      assert.strictEqual(refused.reason._tag, "InvalidAnswer")
      yield* next(Effect.flatMap(build, (built) => built.resume("t", [Answer.proceed("0.1:breakpoint0")])))

      assert.deepStrictEqual(ran, ["read a"])
      const [invalid, ok] = Trees.outputs((yield* model.requests).at(-1)!.request)
      assert.include(JSON.stringify(invalid), "InvalidArguments")
      assert.strictEqual(ok, "read 1")
    }))

  it.effect("stops before no task whose input does not decode, or whose subagent is not there", () =>
    Effect.gen(function*() {
      const text = TypedAgent.text("text", { description: "Writes" })
      const typed = TypedAgent.make("typed", { description: "Counts", input: Text, report: Schema.String })
      const agent = AgentBuilder.make("parent").withSubagents([text, typed]).withPostures()
        .withBreakpoints([() => true])
      const scripts = {
        parent: [
          Step.calls(
            Step.textTask("nobody", "x"),
            Step.call("task", { subagent: "text", description: 7 }),
            Step.textTask("text", "x"),
            Step.task("typed", { text: 7 }),
            Step.task("typed", { text: "x" }),
            Step.call("delegate", { posture: "scout", task: 7 }),
            Step.call("delegate", { posture: "scout", task: "x" })
          )
        ]
      }
      const { status } = yield* Effect.flatMap(agent.build(), (built) => built.run("Go", { threadId: "t" })).pipe(
        Effect.provide(Postures.runtime([Postures.posture("scout")], scripts, { store: yield* make }))
      )

      assert.deepStrictEqual(ids(status), ["0.2:breakpoint0", "0.4:breakpoint0", "0.6:breakpoint0"])
    }))

  it.effect("that names no tool is a problem of the definition", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {})
      const { problems } = yield* next(
        Effect.flip(writer([]).withBreakpoints(["sent", "read"]).build()) as Effect.Effect<
          AgentDefinitionError.AgentDefinitionError
        >
      )

      assert.deepStrictEqual(problems, [{
        agent: "writer",
        kind: "InvalidSetting",
        message: "the breakpoint \"sent\" names no tool; tools: send, read, pay"
      }])
    }))
})
