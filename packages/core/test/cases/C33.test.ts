import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  type Budget,
  type DelegationConfig,
  Mandate,
  Posture,
  PostureRegistry,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schedule, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

const Look = Tool.make("look", { parameters: Schema.Struct({ at: Schema.String }), success: Schema.String })
const Count = Tool.make("count", { success: Schema.Number })
const scout = TypedAgent.text("scout", { description: "Looks around" })
const clerk = TypedAgent.text("clerk", { description: "Counts" })

// What one run of an agent sends to its model, without the ids of the run.
const requestsOf = (builder: AgentBuilder.AgentBuilder<string>) =>
  Effect.gen(function*() {
    const agent = yield* builder.build()
    yield* agent.run("Go")
    const model = yield* ScriptedModel.ScriptedModel
    return (yield* model.requests).map(({ request }) => request)
  }).pipe(Effect.provide(runtime({ editor: [Step.call("look", { at: "sea" }), Step.text("done")] })))

const runtime = (scripts: Script.Scripts) => Layer.merge(Mandate.layerMemory, Models.layer(scripts))

describe("C33 Definitions never change", () => {
  it.effect("C33 toolkits, handlers, lists and options that their owner changes change no definition", () =>
    Effect.gen(function*() {
      const toolkit = Toolkit.make(Look)
      const handlers = { look: ({ at }: { readonly at: string }) => Effect.succeed(`at ${at}`) }
      const subagents = [scout]
      const config: Mutable<DelegationConfig.DelegationConfig> = { maxConcurrentChildren: 1 }
      const settings = { temperature: 0, stopSequences: ["END"], providerOptions: { openai: { user: "a" } } }
      const budget: Mutable<Budget.Budget> = { maxToolCalls: 3 }
      const policy: { refused: "tool-error" | "fail-run" } = { refused: "tool-error" }
      const first = AgentBuilder.make("editor")
        .withInstructions("Look")
        .withTools(toolkit, handlers)
        .withSubagents(subagents, config)
        .withModel("fast", settings)
        .withBudget(budget)
        .withChildFailure(policy)
      const second = first.withMaxSteps(5)
      const firstBefore = yield* requestsOf(first)
      const secondBefore = yield* requestsOf(second)
      const early = yield* first.build()

      Object.assign(toolkit.tools, { count: Count })
      delete (toolkit.tools as { look?: unknown }).look
      handlers.look = () => Effect.succeed("changed")
      subagents.push(clerk)
      subagents.shift()
      config.maxConcurrentChildren = -1
      settings.temperature = 2
      settings.stopSequences.push("STOP")
      settings.providerOptions.openai.user = "b"
      budget.maxToolCalls = 0
      policy.refused = "fail-run"

      assert.deepStrictEqual(yield* requestsOf(first), firstBefore)
      assert.deepStrictEqual(yield* requestsOf(second), secondBefore)
      yield* early.run("Go")
      const model = yield* ScriptedModel.ScriptedModel
      assert.deepStrictEqual((yield* model.requests).map(({ request }) => request), firstBefore)
      assert.deepStrictEqual(firstBefore, secondBefore)
      assert.deepStrictEqual(firstBefore[0]!.tools.map(({ name }) => name), ["look", "task"])
      assert.include(JSON.stringify(firstBefore[1]!.messages), "at sea")
    }).pipe(Effect.provide(runtime({ editor: [Step.call("look", { at: "sea" }), Step.text("done")] }))))

  it.effect("C33 the options of a subagent that their owner changes change no definition", () =>
    Effect.gen(function*() {
      const options = { description: "Looks", input: Schema.String, report: Schema.String }
      const textOptions = { description: "Writes" }
      const builder = AgentBuilder.make("editor").withSubagents([
        TypedAgent.make("looker", options),
        TypedAgent.text("writer", textOptions)
      ])

      options.description = " "
      Object.assign(options, { input: Schema.Number, report: Schema.Number })
      textOptions.description = " "
      const tools = yield* Effect.gen(function*() {
        const agent = yield* builder.build()
        yield* agent.run("Go")
        const model = yield* ScriptedModel.ScriptedModel
        const [first] = yield* model.requestsOf("editor")
        return first!.request.tools
      }).pipe(Effect.provide(runtime({ editor: [Step.text("done")] })))

      assert.deepStrictEqual(tools.map(({ description, name }) => ({ description, name })), [
        { description: "Looks", name: "task_looker" },
        {
          description: "Delegates a task to a subagent, which sees only your description of it.\n- writer: Writes",
          name: "task"
        }
      ])
      assert.deepNestedPropertyVal(tools[0]!.inputSchema, "properties.value", { type: "string" })
    }))

  it.effect("C33 a time limit that its owner changes holds as it was given", () =>
    Effect.gen(function*() {
      const timeout = { seconds: 10 }
      const budget: Mutable<Budget.Budget> = { timeout }
      const agent = yield* AgentBuilder.make("editor").withBudget(budget).build()
      timeout.seconds = 1
      delete budget.timeout

      const fiber = yield* Effect.forkChild(agent.run("Go"), { startImmediately: true })
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")

      assert.deepStrictEqual((yield* Fiber.join(fiber)).status, { _tag: "BudgetExceeded", limit: "time" })
    }).pipe(Effect.provide(runtime({ editor: [Step.hang()] }))))

  it.effect("C33 handlers that come from an effect are those of the time the agent was bound", () =>
    Effect.gen(function*() {
      const handlers = { look: () => Effect.succeed("as bound") }
      const builder = AgentBuilder.make("editor").withTools(Toolkit.make(Look), Effect.sync(() => handlers))
      const agent = yield* builder.build()
      handlers.look = () => Effect.succeed("changed")

      yield* agent.run("Go")

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requests
      assert.include(JSON.stringify(second!.request.messages), "as bound")
    }).pipe(Effect.provide(runtime({ editor: [Step.call("look", { at: "sea" }), Step.text("done")] }))))

  it.effect("C33 a budget that is changed after the run started does not change the run", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("editor").withTools(Toolkit.make(Look), { look: () => Effect.succeed("") })
        .build()
      const budget: Mutable<Budget.Budget> = { maxToolCalls: 1 }
      const handle = yield* agent.start("Go", { budget })
      budget.maxToolCalls = 10

      assert.deepStrictEqual((yield* handle.await).status, { _tag: "BudgetExceeded", limit: "toolCalls" })
    }).pipe(Effect.provide(
      runtime({ editor: [Step.call("look", { at: "sea" }), Step.call("look", { at: "land" })] })
    )))

  it.effect("C33 results that a caller changes change neither the thread nor its next run", () =>
    Effect.gen(function*() {
      const Report = Schema.Struct({ tags: Schema.Array(Schema.String) })
      const agent = yield* AgentBuilder.make("editor").withOutput(Report).build()
      const first = yield* agent.run("Go", { threadId: "t" })
      const [settled] = yield* agent.history("t")
      const answer = first.status._tag === "Completed" ? first.status.answer : undefined
      const untouched = structuredClone(settled)
      ;(answer!.tags as Array<string>).push("changed")
      ;(settled!.messages as Array<unknown>).push("changed")
      Object.assign(settled!.usage.tree, { inputTokens: -1 })

      assert.deepStrictEqual((yield* agent.history("t"))[0], untouched)
      yield* agent.run("Again", { threadId: "t" })
      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requests
      assert.deepStrictEqual(second!.request.messages.slice(0, -1), untouched!.messages)
    }).pipe(Effect.provide(
      runtime({ editor: Script.each([Step.report({ tags: ["first"] })]) })
    )))
})

const changes: {
  readonly [name: string]: (agent: AgentBuilder.AgentBuilder<string>) => AgentBuilder.AgentBuilder<string>
} = {
  withInstructions: (agent) => agent.withInstructions("Other"),
  withModel: (agent) => agent.withModel("other", { seed: 1 }),
  withTools: (agent) => agent.withTools(Toolkit.make(Count), { count: () => Effect.succeed(1) }),
  withSubagents: (agent) => agent.withSubagents([clerk], { maxDepth: 2 }),
  withMaxSteps: (agent) => agent.withMaxSteps(2),
  withReasks: (agent) => agent.withReasks(0),
  withRetry: (agent) => agent.withRetry(Schedule.recurs(1)),
  withBudget: (agent) => agent.withBudget({ maxTokens: 10_000 }),
  withChildFailure: (agent) => agent.withChildFailure({ modelFailed: "fail-run" })
}

const base = AgentBuilder.make("editor").withInstructions("Look")
  .withTools(Toolkit.make(Look), { look: () => Effect.succeed("seen") })
  .withSubagents([scout], { maxDepth: 3 })
  .withModel("fast", { temperature: 0, stopSequences: ["END"] })
  .withBudget({ maxTokens: 5_000 })

describe("C33 with*", () => {
  for (const [name, change] of Object.entries(changes)) {
    it.effect(`C33 ${name} gives a new definition and leaves the old one as it was`, () =>
      Effect.gen(function*() {
        const before = yield* requestsOf(base)
        const copy = change(base)

        assert.notStrictEqual<unknown>(copy, base)
        assert.notDeepEqual(copy.spec, base.spec)
        assert.deepStrictEqual(yield* requestsOf(base), before)
      }))

    it.effect(`C33 ${name} and every other with* may come in either order`, () =>
      Effect.gen(function*() {
        for (const [other, second] of Object.entries(changes)) {
          if (other === name) continue
          assert.deepStrictEqual(
            yield* requestsOf(second(change(base))),
            yield* requestsOf(change(second(base))),
            other
          )
        }
      }))
  }

  it("C33 nothing that a definition holds can be changed in place", () => {
    const notFrozen: Array<string> = []
    const look = (path: string, value: unknown): void => {
      if (typeof value !== "object" || value === null || !isPlain(value)) return
      if (!Object.isFrozen(value)) notFrozen.push(path)
      for (const [key, item] of Object.entries(value)) look(`${path}.${key}`, item)
    }
    look("editor", base.spec)

    assert.deepStrictEqual(notFrozen, [])
  })
})

describe("C33 postures", () => {
  const written = () => ({
    name: "reviewer",
    description: "Reviews",
    instructions: "You review.",
    allowedTools: ["search", "read"],
    report: { type: "object", properties: { ok: { type: "boolean" } } },
    settings: { temperature: 0, stopSequences: ["END"], providerOptions: { openai: { user: "a" } } },
    budget: { maxTokens: 5, timeout: { seconds: 10 } },
    ceiling: { maxTokens: 10 },
    extra: { labels: ["a"] }
  })

  it.effect("C33 parts that their owner changes change no posture and no version", () =>
    Effect.gen(function*() {
      const input = written()
      const posture = yield* Posture.make(input)
      const version = Posture.version(posture)
      const registry = yield* PostureRegistry.PostureRegistry
      yield* registry.put(input)

      input.instructions = "Changed"
      input.allowedTools.push("write")
      input.report.properties.ok.type = "string"
      input.settings.temperature = 1
      input.settings.stopSequences.push("STOP")
      input.settings.providerOptions.openai.user = "b"
      input.budget.maxTokens = 1
      input.budget.timeout.seconds = 1
      input.ceiling.maxTokens = 1
      input.extra.labels.push("b")

      assert.strictEqual(Posture.version(posture), version)
      assert.strictEqual(Posture.version(yield* registry.get("reviewer")), version)
      assert.strictEqual(Posture.version(yield* Posture.make(written())), version)
      assert.notStrictEqual(Posture.version(yield* Posture.make(input)), version)
    }).pipe(Effect.provide(PostureRegistry.layer())))

  it.effect("C33 nothing that a posture holds can be changed in place", () =>
    Effect.gen(function*() {
      const notFrozen: Array<string> = []
      const look = (path: string, value: unknown): void => {
        if (typeof value !== "object" || value === null) return
        if (!Object.isFrozen(value)) notFrozen.push(path)
        for (const [key, item] of Object.entries(value)) look(`${path}.${key}`, item)
      }
      look("posture", yield* Posture.make(written()))

      assert.deepStrictEqual(notFrozen, [])
    }))

  it.effect("C33 any two updates of a posture may come in either order", () =>
    Effect.gen(function*() {
      const updates: ReadonlyArray<Partial<Posture.PostureInput>> = [
        { description: "Other" },
        { instructions: "Other" },
        { allowedTools: ["write", "read"] },
        { report: "finding" },
        { model: "fast" },
        { settings: { seed: 1 } },
        { budget: { maxTokens: 3 } },
        { ceiling: { maxTokens: 20, maxToolCalls: 2 } },
        { maxDepth: 2 },
        { maxSteps: 3 },
        { extra: {} }
      ]
      const first = yield* Posture.make(written())
      const updated = (...patches: ReadonlyArray<Partial<Posture.PostureInput>>) =>
        Effect.map(
          Effect.reduce(patches, () => first, (posture, patch) => Posture.make({ ...posture, ...patch })),
          Posture.version
        )
      const versions = new Set([Posture.version(first)])
      for (const one of updates) {
        for (const other of updates) {
          if (one === other) continue
          const version = yield* updated(one, other)
          assert.strictEqual(yield* updated(other, one), version)
          versions.add(version)
        }
      }

      assert.lengthOf([...versions], 1 + (updates.length * (updates.length - 1)) / 2)
    }))
})

// Schemas, tools and effects look after themselves.
const isPlain = (value: object): boolean =>
  Array.isArray(value) ||
  (Object.getPrototypeOf(value) === Object.prototype && !("~effect/Schema" in value) && !("ast" in value))
