import { assert, describe, it } from "@effect/vitest"
import { DelegateRuntime, PostureRegistry, ToolCatalog } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const extra = Toolkit.make(Tool.make("extra", { success: Schema.String }))
const addExtra = ToolCatalog.add(extra, { extra: () => Effect.succeed("more") })

const lists: ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]> = [
  ["an empty list", [], ["pay", "read", "write"]],
  ["names that are there", ["write", "read"], ["read", "write"]],
  ["a name that is not there among others", ["gone", "read"], ["read"]],
  ["names that are not there", ["gone", "missing"], []],
  ["names of nothing but objects", ["__proto__", "constructor"], []],
  ["delegate alone", ["delegate"], ["delegate"]],
  ["delegate beside a tool", ["delegate", "read"], ["delegate", "read"]],
  ["a name in another case", ["READ"], []]
]

describe.each(backings)("the tools of postures, in $name", ({ make, pass }) => {
  const play = Effect.fnUntraced(function*<A, E>(
    postures: Parameters<typeof Postures.parts>[0],
    scripts: Script.Scripts,
    effect: Effect.Effect<A, E, PostureLives.Services>
  ) {
    const store = yield* make
    const model = yield* ScriptedModel.make(scripts)
    const value = yield* Effect.provide(effect, PostureLives.process(store, "process", model, postures))
    const offered = (yield* model.requests).map(({ request }) => request.tools.map(({ name }) => name).sort())
    return { value, offered, requests: yield* model.requests }
  })

  it.effect.each(lists)(
    "P3 are those that it allows and that are there, for %s",
    ([, allowedTools, tools]) =>
      Effect.gen(function*() {
        const { offered, value } = yield* play(
          [posture("worker", { allowedTools })],
          { worker: [Step.text("done")] },
          DelegateRuntime.run({ posture: "worker", task: "Work" })
        )

        assert.strictEqual(value.status, "success")
        assert.deepStrictEqual(offered, [tools])
      })
  )

  it.effect("P3 do not grow to all of the catalog when the last allowed one has gone", () =>
    Effect.gen(function*() {
      const { offered } = yield* play(
        [posture("worker", { allowedTools: ["read"] })],
        { worker: Script.each([Step.text("done")]) },
        Effect.gen(function*() {
          yield* DelegateRuntime.run({ posture: "worker", task: "Work" })
          yield* ToolCatalog.remove("read")
          yield* DelegateRuntime.run({ posture: "worker", task: "Work" })
        })
      )

      assert.deepStrictEqual(offered, [["read"], []])
    }))

  it.effect("P3 are those of the moment of the call: one that goes is an error, one that comes is for the next run", () =>
    Effect.gen(function*() {
      const { offered, requests, value } = yield* play(
        [posture("worker")],
        {
          worker: Script.byInput((input) =>
            input === "First"
              ? [
                Step.delay("2 seconds", Step.calls(Step.call("write"), Step.call("extra"), Step.call("read"))),
                Step.text("1")
              ]
              : [Step.calls(Step.call("extra"), Step.call("write")), Step.text("2")]
          )
        },
        Effect.gen(function*() {
          const first = yield* Effect.forkChild(DelegateRuntime.run({ posture: "worker", task: "First" }), {
            startImmediately: true
          })
          yield* pass("1 second")
          yield* ToolCatalog.remove("write")
          yield* addExtra
          const second = yield* DelegateRuntime.run({ posture: "worker", task: "Second" })
          yield* pass("10 seconds")
          return [yield* Fiber.join(first), second]
        })
      )

      assert.deepStrictEqual(value.map(({ status }) => status), ["success", "success"])
      assert.deepStrictEqual(offered, [
        ["pay", "read", "write"],
        ["extra", "pay", "read"],
        ["extra", "pay", "read"],
        ["pay", "read", "write"]
      ])
      assert.deepStrictEqual(Trees.reasons(requests[3]!.request), ["ToolRemoved", "UnknownTool", undefined])
      assert.deepStrictEqual(Trees.reasons(requests[2]!.request), [undefined, "UnknownTool"])
    }))

  it.effect("P3 do not have delegate from a whole catalog, and a call of it is of an unknown tool", () =>
    Effect.gen(function*() {
      const { requests, value } = yield* play(
        [posture("worker")],
        { worker: [Step.calls(Step.call("delegate", { posture: "worker", task: "Work" })), Step.text("alone")] },
        DelegateRuntime.run({ posture: "worker", task: "Work" })
      )

      assert.strictEqual(value.status, "success")
      assert.deepStrictEqual(Trees.outputs(requests[1]!.request), [{
        error: { reason: "UnknownTool", message: "There is no tool \"delegate\"; tools: pay, read, write" }
      }])
    }))

  it.effect("P3 are of the posture as the registry has it at the call", () =>
    Effect.gen(function*() {
      const { offered } = yield* play(
        [posture("worker", { allowedTools: ["read"] })],
        { worker: Script.each([Step.text("done")]) },
        Effect.gen(function*() {
          const registry = yield* PostureRegistry.PostureRegistry
          yield* DelegateRuntime.run({ posture: "worker", task: "Work" })
          yield* registry.put(posture("worker", { allowedTools: ["write"] }))
          yield* DelegateRuntime.run({ posture: "worker", task: "Work" })
        })
      )

      assert.deepStrictEqual(offered, [["read"], ["write"]])
    }))
})
