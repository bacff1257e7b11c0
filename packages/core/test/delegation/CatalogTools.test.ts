import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, DelegateRuntime, type Interrupt, ToolCatalog, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

const read = Tool.make("read", { parameters: Schema.Struct({ path: Schema.String }), success: Schema.String })
const write = Tool.make("write", { success: Schema.String })
const toolkit = Toolkit.make(read, write)
const handlers = {
  read: ({ path }: { readonly path: string }) => Effect.map(Desk, ({ name }) => `${name} reads ${path}`),
  write: () => Effect.succeed("written")
}

const catalogOf = (desk: string) =>
  ToolCatalog.layerTools(toolkit, handlers).pipe(
    Layer.provide(Layer.succeed(Desk, { name: desk })),
    Layer.provideMerge(ToolCatalog.layer)
  )

const runtime = (scripts: Script.Scripts) => Layer.merge(Trees.runtime(scripts), catalogOf("ours"))

const offered = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests),
  (requests) => requests.map(({ request }) => request.tools.map(({ name }) => name))
)

describe("tools of the catalog", () => {
  it.effect("are offered by name where they are there, and run with the services they were added with", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withCatalogTools(["read", "nothing"]).build()
      yield* agent.run("Go")

      const [, second] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
      assert.deepStrictEqual(yield* offered, [["read"], ["read"]])
      assert.deepStrictEqual(Trees.outputs(second!.request), ["ours reads a"])
    }).pipe(Effect.provide(runtime({ clerk: [Step.calls(Step.call("read", { path: "a" })), Step.text("done")] }))))

  it.effect("are all offered to an empty list, and none where no name is there", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(AgentBuilder.make("all").withCatalogTools([]).build(), (agent) => agent.run("Go"))
      yield* Effect.flatMap(AgentBuilder.make("none").withCatalogTools(["x"]).build(), (agent) => agent.run("Go"))

      assert.deepStrictEqual(yield* offered, [["read", "write"], []])
    }).pipe(Effect.provide(runtime({ all: [Step.text("done")], none: [Step.text("done")] }))))

  it.effect("are those of the moment a run starts; what is gone is an error of the call, what is new comes next", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withCatalogTools([]).build()
      const first = yield* Effect.forkChild(agent.run("Go"), { startImmediately: true })
      yield* ToolCatalog.remove("write")
      yield* ToolCatalog.add(Toolkit.make(Tool.make("extra", { success: Schema.String })), {
        extra: () => Effect.succeed("more")
      })
      yield* agent.run("Again")
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(first)

      assert.deepStrictEqual(yield* offered, [
        ["read", "write"],
        ["extra", "read"],
        ["extra", "read"],
        ["read", "write"]
      ])
      const requests = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
      assert.deepStrictEqual(requests.map(({ request }) => Trees.reasons(request)), [
        [],
        [],
        [undefined],
        ["ToolRemoved"]
      ])
    }).pipe(Effect.provide(runtime({
      clerk: Script.byInput((input) =>
        input === "Go"
          ? [Step.delay("1 second", Step.calls(Step.call("write"))), Step.text("done")]
          : [Step.calls(Step.call("extra")), Step.text("done")]
      )
    }))))

  it.effect("that were replaced ask for approval as they are now", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withCatalogTools([]).build()
      const run = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* ToolCatalog.add(Toolkit.make(Waiting.gated("write", {})), { write: () => Effect.succeed("gated") })
      yield* TestClock.adjust("1 second")
      const { status } = yield* Fiber.join(run)

      assert.deepStrictEqual(status._tag === "Suspended" ? status.pending.map(({ id }) => String(id)) : status, [
        "0.0:approval0"
      ])
      const last = yield* agent.resume("t", [Answer.approve("0.0:approval0")])
      const requests = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(Trees.outputs(requests[1]!.request), ["gated"])
    }).pipe(Effect.provide(runtime({
      clerk: [Step.delay("1 second", Step.calls(Step.call("write"))), Step.text("done")]
    }))))

  it.effect("do not take the place of an agent's own, and end with the layer that has them", () =>
    Effect.gen(function*() {
      const own = Toolkit.make(Tool.make("write", { success: Schema.String }))
      const agent = yield* AgentBuilder.make("clerk").withTools(own, { write: () => Effect.succeed("own") })
        .withCatalogTools([]).build()
      yield* agent.run("Go")
      const during = yield* Effect.provide(
        ToolCatalog.names,
        ToolCatalog.layerTools(Toolkit.make(Tool.make("brief")), { brief: () => Effect.void })
      )

      const [, second] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
      assert.deepStrictEqual(Trees.outputs(second!.request), ["own"])
      assert.deepStrictEqual([during, yield* ToolCatalog.names], [["brief", "read", "write"], ["read", "write"]])
    }).pipe(Effect.provide(runtime({ clerk: [Step.calls(Step.call("write")), Step.text("done")] }))))

  it.effect("that cannot be offered are refused with all that is wrong, and none is added", () =>
    Effect.gen(function*() {
      const bad = Toolkit.make(Tool.make("delegate"), Tool.make("a b"), Tool.make("good"))
      const error = yield* Effect.flip(ToolCatalog.add(bad, {
        delegate: () => Effect.void,
        "a b": () => Effect.void,
        good: () => Effect.void
      }))

      assert.strictEqual(
        error.message,
        "The tools cannot be offered: the tool name \"delegate\" is reserved; the tool name \"a b\" must be 1 to 64 of the characters a-z A-Z 0-9 _ -"
      )
      assert.deepStrictEqual(yield* ToolCatalog.names, ["read", "write"])
    }).pipe(Effect.provide(runtime({}))))
})

describe.each(backings)("a run with tools of the catalog, in $name", ({ make }) => {
  it.effect("has them again in another process, as far as they are there", () =>
    Effect.gen(function*() {
      const gated = Waiting.gated("pay", {})
      const child = TypedAgent.text("child", { description: "Pays" }).withCatalogTools(["pay", "read"])
      const parent = AgentBuilder.make("parent").withSubagents([child])
      const { model, next } = yield* Waiting.processes(yield* make, {
        parent: [Step.calls(Step.textTask("child", "x")), Step.text("done")],
        child: [Step.calls(Step.call("pay"), Step.call("read", { path: "a" })), Step.text("paid")]
      })
      const pay = ToolCatalog.layerTools(Toolkit.make(gated), { pay: () => Effect.succeed("paid") })
      const first = yield* next(
        Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })).pipe(
          Effect.provide(Layer.provideMerge(pay, catalogOf("first")))
        )
      )
      assert.strictEqual(first.status._tag, "Suspended")
      const last = yield* next(
        Effect.flatMap(parent.build(), (agent) => agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")])).pipe(
          Effect.provide(Layer.provideMerge(pay, ToolCatalog.layer))
        )
      )

      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      const requests = yield* model.requestsOf("child")
      assert.deepStrictEqual(requests.map(({ request }) => request.tools.map(({ name }) => name)), [
        ["pay", "read"],
        ["pay"]
      ])
      assert.deepStrictEqual(Trees.outputs(requests[1]!.request), ["paid", "first reads a"])
    }))
})

describe.each(backings)("a breakpoint before a tool of the catalog, in $name", ({ make }) => {
  const taken = [{ names: ["read"] }, { names: [] }]

  it.effect.each(taken)("stops the run of an agent that takes $names", ({ names }) =>
    Effect.gen(function*() {
      const store = yield* make
      yield* Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk").withCatalogTools(names).withBreakpoints(["read"]).build()
        const { status } = yield* agent.run("Go", { threadId: "t" })
        assert.deepStrictEqual<unknown>(status._tag === "Suspended" && status.pending[0]?.id, "0.0:breakpoint0")
        const last = yield* agent.resume("t", [Answer.proceed("0.0:breakpoint0")])

        assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
        const requests = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
        assert.deepStrictEqual(Trees.outputs(requests[1]!.request), ["read 1"])
      }).pipe(Effect.provide(
        Postures.runtime([], { clerk: [Step.calls(Step.call("read")), Step.text("done")] }, { store })
      ))
    }))

  it.effect("is a problem of the definition where it names none that the agent takes", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { problems } = yield* Effect.flip(
        AgentBuilder.make("clerk").withCatalogTools(["read"]).withBreakpoints(["reed", "read"]).build()
      ).pipe(Effect.provide(Postures.runtime([], {}, { store })))

      assert.deepStrictEqual(problems.map(({ message }) => message), [
        "the breakpoint \"reed\" names no tool; tools: read"
      ])
    }))
})

describe.each(backings)("a tool that goes while a person decides about its call, in $name", ({ make }) => {
  const waiting = Script.optional([Step.calls(Step.call("pay", { euros: 1 })), Step.text("done")])
  const error = { error: { reason: "ToolRemoved", message: "The tool \"pay\" is not there any more" } }
  const read = Effect.flatMap(ScriptedModel.ScriptedModel, (model) =>
    Effect.map(model.requests, (requests) => {
      const { request } = requests.at(-1)!
      return { outputs: Trees.outputs(request), offered: request.tools.map(({ name }) => name) }
    }))
  const approved = (pending: ReadonlyArray<Interrupt.PendingInterrupt>) => pending.map(({ id }) => Answer.approve(id))

  it.effect("is an error of the call in a posture's run", () =>
    Effect.gen(function*() {
      const store = yield* make
      yield* Effect.gen(function*() {
        const delegates = yield* DelegateRuntime.DelegateRuntime
        const first = yield* DelegateRuntime.run({ posture: "payer", task: "Pay" })
        yield* ToolCatalog.remove("pay")
        const last = yield* delegates.resume(
          first.subSessionId,
          first.status === "suspended" ? approved(first.pending) : []
        )

        assert.strictEqual(last.status, "success")
        assert.deepStrictEqual(yield* read, { outputs: [error], offered: ["read", "write"] })
      }).pipe(Effect.provide(Postures.runtime([Postures.posture("payer")], { payer: waiting }, { store })))
    }))

  it.effect("is an error of the call in an agent's run", () =>
    Effect.gen(function*() {
      const store = yield* make
      yield* Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk").withCatalogTools([]).build()
        const { status } = yield* agent.run("Pay", { threadId: "t" })
        yield* ToolCatalog.remove("pay")
        const last = yield* agent.resume("t", status._tag === "Suspended" ? approved(status.pending) : [])

        assert.strictEqual(last.status._tag, "Completed")
        assert.deepStrictEqual(yield* read, { outputs: [error], offered: ["read", "write"] })
      }).pipe(Effect.provide(Postures.runtime([], { clerk: waiting }, { store })))
    }))
})
