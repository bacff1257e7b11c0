import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ModelRegistry, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Exit, Layer, Schedule, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const thrown = () => {
  throw new Error("thrown by the tool's own code")
}
const getter = (name: string): object => Object.defineProperty({}, name, { enumerable: true, get: thrown })
class Hostile {
  readonly own = 1
  toJSON() {
    return thrown()
  }
}
const trap = new Proxy({ a: 1 }, { ownKeys: thrown, get: thrown, getPrototypeOf: thrown })
let reads = 0
const unsteady = Object.defineProperty({}, "a", { enumerable: true, get: () => reads++ > 2 ? thrown() : 1 })
const badError = Object.defineProperty(new Error("x"), "message", { get: thrown })

const values: ReadonlyArray<readonly [string, unknown]> = [
  ["a getter that throws", getter("a")],
  ["a getter that throws, in a list", { list: [getter("a")] }],
  ["a toJSON that throws", Object.defineProperty({ a: 1 }, "toJSON", { value: thrown })],
  ["a toJSON that throws, in a list", { list: [Object.defineProperty({ a: 1 }, "toJSON", { value: thrown })] }],
  ["a proxy that throws", trap]
]

const errors: ReadonlyArray<readonly [string, () => Effect.Effect<unknown, unknown>]> = [
  ["dies with an error whose message throws", () => Effect.die(badError)],
  ["throws such an error", () => {
    throw badError
  }],
  ["fails with a proxy that throws", () => Effect.fail(trap)],
  ["dies with a proxy that throws", () => Effect.die(trap)],
  ["fails with a declared error that cannot be read", () => Effect.fail(getter("message"))]
]

const results = (request: Parameters<typeof Trees.outputs>[0]) => Step.text(JSON.stringify(Trees.outputs(request)))
const failed = JSON.stringify([{ error: { reason: "ToolFailed", message: "The tool failed unexpectedly" } }])

describe.each(backings)("X07 A tool, in $name", ({ make }) => {
  const run = (act: () => Effect.Effect<unknown, unknown>) =>
    Effect.gen(function*() {
      const tool = Tool.make("act", { success: Schema.Unknown, failure: Schema.Unknown })
      const { next } = yield* Waiting.processes(yield* make, { clerk: [Step.calls(Step.call("act")), results] })
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(tool), { act } as never)
      return yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
    })

  it.effect.each(values)("X07 that gives %s fails its own call", ([, value]) =>
    Effect.gen(function*() {
      const { status } = yield* run(() => Effect.succeed(value))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: failed })
    }))

  it.effect.each([["an instance", new Hostile()], ["a function", { toJSON: thrown }]])(
    "X07 that gives %s with a toJSON has a result that is refused, and not read",
    ([, value]) =>
      Effect.gen(function*() {
        const { status } = yield* run(() => Effect.succeed(value))

        assert.include(status._tag === "Completed" ? status.answer : "", "InvalidResult")
      })
  )

  it.effect.each(errors)("X07 that %s fails its own call", ([, act]) =>
    Effect.gen(function*() {
      const { status } = yield* run(act)

      assert.deepStrictEqual(status, { _tag: "Completed", answer: failed })
    }))

  it.effect("X07 whose result is read once is recorded as it was read", () =>
    Effect.gen(function*() {
      reads = 0
      const { status } = yield* run(() =>
        Effect.succeed({ at: Object.defineProperty({}, "toJSON", { value: () => "now" }), unsteady })
      )

      assert.deepStrictEqual(status, { _tag: "Completed", answer: JSON.stringify([{ at: "now", unsteady: { a: 1 } }]) })
    }))

  it.effect("X07 whose schema throws fails its own call", () =>
    Effect.gen(function*() {
      const parameters = Schema.Struct({ to: Schema.String.check(Schema.makeFilter(() => thrown())) })
      const { next } = yield* Waiting.processes(yield* make, {
        clerk: [Step.calls(Step.call("act", { to: "x" })), results]
      })
      const clerk = AgentBuilder.make("clerk").withTools(
        Toolkit.make(Tool.make("act", { parameters, success: Schema.String })),
        { act: () => Effect.succeed("done") }
      )
      const { status } = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: failed })
    }))
})

describe("X07 A ToolContext that was kept after its call", () => {
  const uses: ReadonlyArray<
    readonly [string, (context: ToolContext.ToolContext["Service"]) => Effect.Effect<unknown>]
  > = [
    ["ask", (context) => context.ask("Well?", { answer: Schema.String })],
    ["once", (context) => context.once("x", Schema.String, Effect.succeed("x"))],
    ["emit", (context) => context.emit("x")],
    ["fatal", (context) => context.fatal("x")]
  ]
  it.effect.each(uses)("X07 dies on %s, and writes nothing", ([, use]) =>
    Effect.gen(function*() {
      const store = yield* backings[0]!.make
      let kept: ToolContext.ToolContext["Service"] | undefined
      const { next } = yield* Waiting.processes(store, {
        clerk: [Step.calls(Step.call("act"), Step.call("wait"))]
      })
      const clerk = AgentBuilder.make("clerk").withTools(
        Toolkit.make(Tool.make("act", { success: Schema.String }), Tool.make("wait", { success: Schema.String })),
        {
          act: () => Effect.map(ToolContext.ToolContext, (context) => (kept = context) && "acted"),
          wait: () => ToolContext.ask("Well?", { answer: Schema.String })
        }
      )
      const exit = yield* next(
        Effect.flatMap(clerk.build(), (agent) =>
          Effect.andThen(agent.run("Go", { threadId: "t" }), Effect.exit(Effect.suspend(() => use(kept!)))))
      )

      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(Exit.isFailure(exit) ? exit.cause : ""), "is over")
      const keys = (yield* store.load("t#0"))?.records.map(({ key }) =>
        key
      )
      assert.deepStrictEqual(keys, ["m/0", "t/0.0", "i/0.1:question0"])
    }))

  it.effect("X07 ends a fiber that the handler left behind, which asks in it", () =>
    Effect.gen(function*() {
      let ended = ""
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Tool.make("act", { success: Schema.String })), {
        act: () =>
          Effect.gen(function*() {
            yield* Effect.forkDetach(
              Effect.onExit(
                ToolContext.ask("Well?", { answer: Schema.String }),
                (exit) => Effect.sync(() => (ended = exit._tag))
              ),
              { startImmediately: true }
            )
            return yield* Effect.never
          })
      })
      const { next } = yield* Waiting.processes(yield* backings[0]!.make, { clerk: [Step.calls(Step.call("act"))] })
      const { status } = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))

      assert.strictEqual(status._tag, "Suspended")
      assert.strictEqual(ended, "Failure")
    }))
})

describe("X07 A model's client", () => {
  const response = (more: object) => ({
    parts: [{ type: "text", text: "x" }],
    finishReason: "stop",
    usage: {},
    ...more
  })
  const finish = { type: "finish", finishReason: "stop", usage: {} }
  const part = { type: "part", part: { type: "text", text: "x" } }
  const given: ReadonlyArray<readonly [string, unknown, ReadonlyArray<unknown> | undefined]> = [
    ["a getter that throws", getter("parts"), undefined],
    ["a part that throws", response({ parts: [getter("type")] }), undefined],
    ["toJSON that throws", response({ toJSON: thrown }), undefined],
    ["a proxy that throws", trap, undefined],
    ["a piece that throws", undefined, [getter("type"), finish]],
    ["a part of a piece that throws", undefined, [{ type: "part", part: getter("type") }, finish]],
    ["a finish that throws", undefined, [
      part,
      Object.defineProperty({ ...finish }, "usage", { enumerable: true, get: thrown })
    ]],
    ["two finishes", undefined, [part, finish, finish]],
    ["two finishes that differ", undefined, [part, finish, part, { ...finish, finishReason: "length" }]]
  ]
  it.effect.each(given)(
    "X07 that gives %s has failed with an invalid response",
    ([, whole, pieces]) =>
      Effect.gen(function*() {
        const client = {
          provider: "p",
          modelId: "m",
          generate: () => Effect.succeed(whole),
          ...(pieces === undefined ? {} : { stream: () => Stream.fromIterable(pieces) })
        }
        const registry = Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(client as never) })
        const model = yield* ScriptedModel.make({})
        const { next } = Waiting.processesOf(
          yield* backings[0]!.make,
          model,
          Layer.merge(ScriptedModel.layerOf(model), registry)
        )
        const ran = yield* next(
          Effect.flatMap(AgentBuilder.make("clerk").withRetry(Schedule.recurs(0)).build(), (agent) =>
            Effect.exit(
              pieces === undefined
                ? agent.run("Go", { threadId: "t" })
                : Effect.asVoid(Stream.runCollect(agent.stream("Go", { threadId: "t" })))
            ))
        )

        assert.include(JSON.stringify(ran), "invalid-response")
      })
  )
})

describe("X07 A policy and a breakpoint", () => {
  it.effect("X07 that change the arguments they are given change nothing of what is shown and runs", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const change = (args: any): boolean => {
        args.lines.push("more")
        args.to = "y"
        return true
      }
      const clerk = AgentBuilder.make("clerk").withTools(
        Toolkit.make(Tool.make("act", {
          parameters: Schema.Unknown as never,
          success: Schema.String,
          needsApproval: change as never
        })),
        { act: (args: unknown) => Effect.sync(() => `did ${ran.push(args)}`) } as never
      ).withBreakpoints([({ arguments: args }) => change(args)])
      const written = { value: { to: "x", lines: ["one"] } }
      const { next } = yield* Waiting.processes(yield* backings[0]!.make, {
        clerk: [Step.calls(Step.call("act", written)), Step.text("done")]
      })
      const first = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const second = yield* next(
        Effect.flatMap(clerk.build(), (agent) => agent.resume("t", [Answer.approve("0.0:approval0")]))
      )
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", [Answer.proceed("0.0:breakpoint0")])))

      const shown = [first, second].map(({ status }) => {
        const request = status._tag === "Suspended" ? status.pending[0]?.request : undefined
        return request !== undefined && "arguments" in request ? request.arguments : undefined
      })
      assert.deepStrictEqual<unknown>(shown, [written, written])
      assert.deepStrictEqual(ran, [written.value])
    }))
})

describe("X07 The text of a subagent's input", () => {
  it.effect("X07 that throws refuses the task, and the run goes on", () =>
    Effect.gen(function*() {
      const clerk = TypedAgent.make("clerk", {
        description: "Works",
        input: Schema.Struct({ to: Schema.String }),
        report: Schema.String
      }).withInputText(() => thrown())
      const { next } = yield* Waiting.processes(yield* backings[0]!.make, {
        lead: [Step.calls(Step.task("clerk", { to: "x" })), results]
      })
      const { status } = yield* next(
        Effect.flatMap(AgentBuilder.make("lead").withSubagents([clerk]).build(), (agent) =>
          agent.run("Go", { threadId: "t" }))
      )

      assert.include(status._tag === "Completed" ? status.answer : "", "InvalidInput")
    }))
})
