import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ToolContext, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

const Draw = Waiting.gated("draw", { shape: Schema.String })

describe.each(backings)("C03 Children that wait at once, in $name", ({ place }) => {
  it.effect("C03 have ids of their own, and one answer moves one child", () =>
    Effect.gen(function*() {
      const drawn: Array<string> = []
      const artist = TypedAgent.text("artist", { description: "Draws" }).withTools(Toolkit.make(Draw), {
        draw: ({ shape }) => Effect.as(Effect.sync(() => drawn.push(shape)), "drawn")
      })
      const parent = AgentBuilder.make("parent").withSubagents([artist], { maxConcurrentChildren: 1 })
      const { model, next } = yield* Waiting.processes(yield* place, {
        parent: [
          Step.calls(...["circle", "square", "triangle"].map((shape) => Step.textTask("artist", shape))),
          Step.text("done")
        ],
        artist: Script.byInput((shape) => [Step.calls(Step.call("draw", { shape })), Step.text(`the ${shape}`)])
      })
      const resume = (...answers: ReadonlyArray<Answer.Answer>) =>
        next(Effect.flatMap(parent.build(), (agent) => agent.resume("t", answers)))
      const asked = Effect.map(model.requestsOf("artist"), (all) => all.map(({ call }) => call.call?.key))
      const ids = (status: { readonly _tag: string; readonly pending?: ReadonlyArray<{ readonly id: string }> }) =>
        status.pending?.map(({ id }) => id)

      const first = yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      assert.deepStrictEqual(ids(first.status), [
        "0.0:child~0.0:approval0",
        "0.1:child~0.0:approval0",
        "0.2:child~0.0:approval0"
      ])

      const second = yield* resume(Answer.approve("0.1:child~0.0:approval0"))
      assert.deepStrictEqual(ids(second.status), ["0.0:child~0.0:approval0", "0.2:child~0.0:approval0"])
      assert.deepStrictEqual(drawn, ["square"])
      assert.deepStrictEqual(yield* asked, ["0.0", "0.1", "0.2", "0.1"])
      assert.lengthOf(yield* model.requestsOf("parent"), 1)
      const { status } = yield* next(Effect.flatMap(parent.build(), (agent) => agent.status("t")))
      assert.deepStrictEqual(status, second.status)

      const third = yield* resume(
        Answer.reject("0.0:child~0.0:approval0", "no circles"),
        Answer.approve("0.2:child~0.0:approval0")
      )
      assert.deepStrictEqual({ ...third.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(drawn, ["square", "triangle"])
      const circle = (yield* model.requestsOf("artist")).filter(({ call }) => call.call?.key === "0.0").at(-1)
      assert.include(JSON.stringify(circle?.request.messages.at(-1)), "no circles")
      assert.deepStrictEqual(yield* asked, ["0.0", "0.1", "0.2", "0.1", "0.0", "0.2"])
      const [, last] = yield* model.requestsOf("parent")
      assert.deepStrictEqual(
        Results.last(last?.request),
        ["circle", "square", "triangle"].map((shape) => Results.reported("task", `the ${shape}`))
      )
      assert.deepStrictEqual(third.usage.tree.modelCalls, 8)
    }))

  it.effect("C03 take several answers each in one go, and every one is applied", () =>
    Effect.gen(function*() {
      const drawn: Array<string> = []
      const artist = TypedAgent.text("artist", { description: "Draws" }).withTools(Toolkit.make(Draw), {
        draw: ({ shape }) => Effect.as(Effect.sync(() => drawn.push(shape)), `a ${shape}`)
      })
      const parent = AgentBuilder.make("parent").withSubagents([artist])
      const { model, next } = yield* Waiting.processes(yield* place, {
        parent: [Step.calls(Step.textTask("artist", "a"), Step.textTask("artist", "b")), Step.text("done")],
        artist: Script.byInput((name) => [
          Step.calls(...["circle", "square"].map((shape) => Step.call("draw", { shape: `${shape} ${name}` }))),
          Step.text(name)
        ])
      })
      yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const result = yield* next(Effect.flatMap(parent.build(), (agent) =>
        agent.resume("t", [
          Answer.approve("0.1:child~0.0:approval0"),
          Answer.approve("0.0:child~0.1:approval0"),
          Answer.reject("0.1:child~0.1:approval0", "no squares"),
          Answer.approve("0.0:child~0.0:approval0")
        ])))

      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "done" })
      assert.sameMembers(drawn, ["circle a", "square a", "circle b"])
      const seen = (yield* model.requestsOf("artist")).slice(2).map(({ request }) =>
        Results.last(request).map((result) => Results.reason(result) ?? result.value)
      )
      assert.sameDeepMembers(seen, [["a circle a", "a square a"], ["a circle b", "Rejected"]])
    }))

  it.effect("C03 stay where they are when another is answered: no handler is entered again", () =>
    Effect.gen(function*() {
      const entered: Array<string> = []
      const Name = Tool.make("name", { parameters: Schema.Struct({ of: Schema.String }), success: Schema.String })
      const artist = TypedAgent.text("artist", { description: "Names" }).withTools(Toolkit.make(Name), {
        name: ({ of }) =>
          Effect.andThen(Effect.sync(() => entered.push(of)), ToolContext.ask(`${of}?`, { answer: Schema.String }))
      })
      const parent = AgentBuilder.make("parent").withSubagents([artist])
      const { next } = yield* Waiting.processes(yield* place, {
        parent: [Step.calls(Step.textTask("artist", "a")), Step.text("done")],
        artist: [
          Step.calls(Step.call("name", { of: "circle" }), Step.call("name", { of: "square" })),
          Step.text("named")
        ]
      })
      const reply = (call: string) =>
        next(
          Effect.flatMap(parent.build(), (agent) =>
            agent.resume("t", [Answer.reply(`0.0:child~${call}:question0`, Schema.String, "Bob")]))
        )

      yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const first = [...entered]
      yield* reply("0.1")
      const second = [...entered]
      const last = yield* reply("0.0")

      assert.deepStrictEqual(first, ["circle", "square"])
      assert.deepStrictEqual(second, ["circle", "square", "square"])
      assert.deepStrictEqual(entered, ["circle", "square", "square", "circle"])
      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "done" })
    }))

  it.effect("C03 an answer to what is not pending refuses all, and writes nothing", () =>
    Effect.gen(function*() {
      const home = yield* place
      const store = yield* home
      const artist = TypedAgent.text("artist", { description: "Draws" }).withTools(Toolkit.make(Draw), {
        draw: () => Effect.succeed("drawn")
      })
      const { next } = yield* Waiting.processes(home, {
        artist: [Step.calls(Step.call("draw", { shape: "circle" }), Step.call("draw", { shape: "square" }))]
      })
      yield* next(Effect.flatMap(artist.bind(), (bound) => bound.run({ description: "x" }, { threadId: "t" })))
      const before = yield* store.load("t#0")
      const refused = (...answers: ReadonlyArray<Answer.Answer>) =>
        next(Effect.flatMap(artist.bind(), (bound) => Effect.flip(bound.resume("t", answers))))

      const known = Answer.approve("0.0:approval0")
      const unknown = yield* refused(known, Answer.approve("0.0:child~0.0:approval0"))
      assert.deepStrictEqual(unknown.reason, {
        _tag: "UnknownInterrupt",
        threadId: "t",
        ids: ["0.0:child~0.0:approval0"],
        pending: ["0.0:approval0", "0.1:approval0"]
      })
      assert.strictEqual(
        unknown.message,
        "The thread \"t\" does not wait on 0.0:child~0.0:approval0; it waits on 0.0:approval0, 0.1:approval0"
      )
      const twice = yield* refused(known, known)
      assert.deepStrictEqual(twice.reason._tag, "UnknownInterrupt")
      assert.strictEqual(
        twice.message,
        "The thread \"t\" waits once on 0.0:approval0, and more than one answer was given"
      )
      assert.deepStrictEqual((yield* refused()).reason._tag, "InvalidInput")
      assert.deepStrictEqual(
        (yield* refused(known, Answer.replyUnknown("0.1:approval0", 1))).reason._tag,
        "InvalidAnswer"
      )
      assert.deepStrictEqual(
        (yield* refused(known, Answer.edit("0.1:approval0", { shape: 7 }))).reason,
        { _tag: "InvalidAnswer", threadId: "t", id: "0.1:approval0", issues: ["shape: Expected string"] }
      )
      assert.deepStrictEqual(yield* store.load("t#0"), before)
    }))
})
