import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  type AgentDefinitionError,
  type DelegationConfig,
  Mandate,
  ModelRegistry,
  TypedAgent
} from "@mandate/core"
import { ScriptedModel } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

const runtime = Layer.merge(Mandate.layerMemory, Models.layer({}))

const problemsOf = (
  bind: Effect.Effect<unknown, AgentDefinitionError.AgentDefinitionError, Mandate.Mandate | ModelRegistry.ModelRegistry>
) => Effect.map(Effect.flip(Effect.provide(bind, runtime)), (error) => error.problems)

const found = (problems: ReadonlyArray<AgentDefinitionError.DefinitionProblem>) =>
  problems.map(({ agent, kind }) => [agent, kind])

const toolkitOf = (...names: ReadonlyArray<string>) => Toolkit.make(...names.map((name) => Tool.make(name)))

const handlersOf = (...names: ReadonlyArray<string>): Record<string, () => Effect.Effect<void>> =>
  Object.fromEntries(names.map((name) => [name, () => Effect.void]))

const withTools = (...names: ReadonlyArray<string>) =>
  AgentBuilder.make("parent").withTools(toolkitOf(...names), handlersOf(...names))

const texts = (...ids: ReadonlyArray<string>) => ids.map((id) => TypedAgent.text(id, { description: "Works" }))

const notEffects = "is neither made with Schema of effect nor a Standard Schema"

describe("binding a family", () => {
  it.effect("reports every problem of every agent in one error", () =>
    Effect.gen(function*() {
      const Keyed = Schema.Struct({ [Symbol.for("key")]: Schema.String })
      const grandchild = TypedAgent.make("grand child", {
        description: " ",
        input: Keyed,
        report: Schema.UndefinedOr(Schema.String)
      })
      const child = TypedAgent.make("child", { description: "Works", input: Schema.String, report: Schema.String })
        .withSubagents([grandchild], { maxDepth: 0, childRetention: -1 })
        .withBudget({ maxTokens: 0, timeout: 0 })
        .withTools(toolkitOf("delegate", "a b"), handlersOf("delegate", "a b"))
      const parent = AgentBuilder.make("parent")
        .withSubagents([child, ...texts("child", "worker")])
        .withTools(toolkitOf("task", "look"), handlersOf("task", "look"))
        .withTools(toolkitOf("look"), handlersOf("look"))
        .withTools(toolkitOf("count"), Effect.fail("no key"))
        .withMaxSteps(0)
        .withReasks(6)
        .withOutput(Keyed)

      const error = yield* Effect.flip(Effect.provide(parent.build(), runtime))

      assert.strictEqual(error.agentId, "parent")
      assert.sameDeepMembers(found(error.problems), [
        ["parent", "InvalidSetting"],
        ["parent", "InvalidSetting"],
        ["parent", "ToolNameCollision"],
        ["parent", "ToolNameCollision"],
        ["parent", "UnsupportedSchema"],
        ["parent", "HandlersFailed"],
        ["parent > child", "DuplicateId"],
        ["parent > child", "InvalidBound"],
        ["parent > child", "InvalidBound"],
        ["parent > child", "InvalidBudget"],
        ["parent > child", "InvalidBudget"],
        ["parent > child", "ReservedToolName"],
        ["parent > child", "InvalidToolName"],
        ["parent > child > grand child", "InvalidId"],
        ["parent > child > grand child", "BlankDescription"],
        ["parent > child > grand child", "UnsupportedSchema"],
        ["parent > child > grand child", "UnsupportedSchema"]
      ])
      for (const { message } of error.problems) assert.include(error.message, message)
    }))

  it.effect("says which schemas are none of Effect's, of every agent", () =>
    Effect.gen(function*() {
      const zod = { _zod: {}, parse: () => ({}) } as unknown as Schema.Codec<string>
      const child = TypedAgent.make("child", { description: "Works", input: zod, report: Schema.String })

      const parent = AgentBuilder.make("parent").withSubagents([child]).withOutput(zod)
      const error = yield* Effect.flip(Effect.provide(parent.build(), runtime))

      assert.deepStrictEqual(error.problems, [
        { agent: "parent", kind: "UnsupportedSchema", message: `the schema of the report ${notEffects}` },
        { agent: "parent > child", kind: "UnsupportedSchema", message: `the schema of the input ${notEffects}` }
      ])
    }))

  it.effect("binds a definition that is reached on two ways once, and builds its handlers once", () =>
    Effect.gen(function*() {
      let built = 0
      const shared = texts("shared")[0]!.withTools(
        toolkitOf("look"),
        Effect.sync(() => {
          built++
          return handlersOf("look")
        })
      )
      const [left, right] = texts("left", "right").map((agent) => agent.withSubagents([shared]))

      yield* AgentBuilder.make("parent").withSubagents([left!, right!, shared]).build()

      assert.strictEqual(built, 1)
    }).pipe(Effect.provide(runtime)))

  it.effect("refuses two definitions with one id, wherever they stand", () =>
    Effect.gen(function*() {
      const [first, second, parent] = texts("same", "same", "parent")
      const listed = AgentBuilder.make("parent").withSubagents([first!, first!])
      const deep = AgentBuilder.make("parent").withSubagents([texts("child")[0]!.withSubagents([first!]), second!])
      const itself = AgentBuilder.make("parent").withSubagents([texts("child")[0]!.withSubagents([parent!])])

      assert.deepStrictEqual(found(yield* problemsOf(listed.build())), [["parent", "DuplicateId"]])
      assert.deepStrictEqual(found(yield* problemsOf(deep.build())), [["parent > same", "DuplicateId"]])
      assert.deepStrictEqual(found(yield* problemsOf(itself.build())), [["parent > child > parent", "DuplicateId"]])
    }))
})

describe("binding names", () => {
  it.effect.each(["", "a b", "a.b", "é", "a/b", "a~b", "a\n", "x".repeat(53)])(
    "refuses the id %j",
    (id) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(found(yield* problemsOf(AgentBuilder.make(id).build())), [[id, "InvalidId"]])
      })
  )

  it.effect("takes an id of 52 characters, whose task tool has a name that providers take", () =>
    Effect.provide(AgentBuilder.make("x".repeat(52)).withSubagents(texts("y".repeat(52))).build(), runtime))

  it.effect.each(["", " ", "\n\t", "\u00a0", "\u200b", "\u2800", "\u3164", "\ufeff", "\u00ad", "\u2060\u2003"])(
    "refuses the blank description %j",
    (description) =>
      Effect.gen(function*() {
        const typed = TypedAgent.make("child", { description, input: Schema.String, report: Schema.String })
        const text = TypedAgent.text("child", { description })

        assert.deepStrictEqual(found(yield* problemsOf(typed.bind())), [["child", "BlankDescription"]])
        assert.deepStrictEqual(found(yield* problemsOf(text.bind())), [["child", "BlankDescription"]])
      })
  )

  it.effect.each(["submit_report", "task", "task_", "task_other", "delegate", "handoff_to_", "handoff_to_x"])(
    "refuses the reserved tool name %s",
    (name) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(found(yield* problemsOf(withTools(name).build())), [["parent", "ReservedToolName"]])
      })
  )

  it.effect.each(["tasks", "my_task", "delegate_x", "submit", "handoff", "__proto__", "x".repeat(64)])(
    "takes the tool name %s",
    (name) => Effect.provide(withTools(name).build(), runtime)
  )

  it.effect.each(["", "a b", "a.b", "é", "x".repeat(65)])("refuses the tool name %j", (name) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(found(yield* problemsOf(withTools(name).build())), [["parent", "InvalidToolName"]])
    }))

  it.effect("refuses a tool with the name of another, or of a task tool", () =>
    Effect.gen(function*() {
      const twice = withTools("look").withTools(toolkitOf("look"), handlersOf("look"))
      const typed = TypedAgent.make("typed", { description: "Works", input: Schema.String, report: Schema.String })
      const task = withTools("task_typed", "task").withSubagents([typed, ...texts("text")])

      assert.deepStrictEqual(found(yield* problemsOf(twice.build())), [["parent", "ToolNameCollision"]])
      assert.deepStrictEqual(found(yield* problemsOf(task.build())), [
        ["parent", "ToolNameCollision"],
        ["parent", "ToolNameCollision"]
      ])
    }))
})

describe("binding bounds, settings and models", () => {
  it.effect.each([0, -1, 1.5, Number.NaN, Infinity])(
    "refuses %s as any bound, limit or number of steps",
    (value) =>
      Effect.gen(function*() {
        const bounds = ["maxConcurrentChildren", "maxTasksPerTurn", "maxDepth", "maxReportBytes", "childRetention"]
        const config = Object.fromEntries(bounds.map((bound) => [bound, value])) as DelegationConfig.DelegationConfig
        const agent = AgentBuilder.make("parent")
          .withSubagents(texts("child"), config)
          .withBudget({ maxTokens: value, maxToolCalls: value })
          .withMaxSteps(value)

        const kinds = (yield* problemsOf(agent.build())).map(({ kind }) => kind)

        assert.deepStrictEqual(kinds, [
          ...bounds.map(() => "InvalidBound" as const),
          "InvalidBudget",
          "InvalidBudget",
          "InvalidSetting"
        ])
      })
  )

  it.effect.each([-1, 6, 0.5, Number.NaN])("refuses %s re-asks", (reasks) =>
    Effect.gen(function*() {
      const agent = AgentBuilder.make("parent").withReasks(reasks)
      assert.deepStrictEqual(found(yield* problemsOf(agent.build())), [["parent", "InvalidSetting"]])
    }))

  it.effect("refuses a model that is not registered, and names those that are", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({})
      const models = Layer.merge(Mandate.layerMemory, ModelRegistry.layer({ models: { fast: client, slow: client } }))
      const agent = AgentBuilder.make("parent").withSubagents(texts("child").map((child) => child.withModel("fats")))
      const error = yield* Effect.flip(Effect.provide(agent.build(), models))

      assert.deepStrictEqual(error.problems, [
        {
          agent: "parent > child",
          kind: "UnknownModel",
          message: "There is no model \"fats\"; known models: fast, slow"
        },
        { agent: "parent", kind: "UnknownModel", message: "There is no default model; known models: fast, slow" }
      ])
    }))
})
