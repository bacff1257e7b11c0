import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, PromiseRuntime, ResultCache, type RunError, TypedAgent } from "@mandate/core"
import { MandateSqlite, SqliteRunStore } from "@mandate/core/sqlite"
import { Script, ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Schema, Stream } from "effect"
import { backings } from "../support/Backings.ts"
import { leaks, notOptions } from "../support/NotOptions.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")
const scribe = TypedAgent.text("scribe", { description: "Writes" })
const runtime = Layer.mergeAll(TestRuntime.layer, ScriptedModel.layer({}), ResultCache.layerNone)

const invalidInput = (error: RunError.RunError): readonly [field: string, issues: string] => {
  assert.strictEqual(error._tag, "RunError")
  if (error.reason._tag !== "InvalidInput") return assert.fail(`not InvalidInput: ${error.message}`)
  assert.isFalse(leaks(error.message), error.message)
  return [error.reason.field, error.reason.issues.join("; ")]
}

/** What a limit may be given as, and is not. */
const notCounts = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "100", true, null, [100], {}, 100n]

for (const backing of backings) {
  describe(`X06 Options of a run, in ${backing.name}`, () => {
    it.effect("X06 What is not plain options is refused by run, start and stream, and nothing is written", () =>
      Effect.gen(function*() {
        const store = yield* backing.make
        const { next } = yield* Waiting.processes(store, {})
        yield* next(Effect.gen(function*() {
          const agent = yield* clerk.build()
          const verbs = (config: any): ReadonlyArray<Effect.Effect<unknown, RunError.RunError>> => [
            agent.run("hi", config),
            agent.start("hi", config),
            Stream.runCollect(agent.stream("hi", config))
          ]
          for (const [says, value] of notOptions) {
            for (const verb of verbs(value)) {
              const [field, issues] = invalidInput(yield* Effect.flip(verb))
              assert.strictEqual(field, "options")
              assert.match(issues, says)
            }
            for (const field of ["budget", "treeBudget"]) {
              for (const verb of verbs({ [field]: value })) {
                const [found, issues] = invalidInput(yield* Effect.flip(verb))
                assert.strictEqual(found, field)
                assert.match(issues, says)
              }
            }
          }
        }))
        assert.deepStrictEqual(yield* store.list({ after: "", limit: 10 }), [])
      }))

    it.effect("X06 Every limit of budget and treeBudget refuses what is not a count, by its name", () =>
      Effect.gen(function*() {
        const { next } = yield* Waiting.processes(yield* backing.make, {})
        yield* next(Effect.gen(function*() {
          const agent = yield* clerk.build()
          for (const value of notCounts) {
            for (
              const [field, limit] of [
                ["budget", "maxTokens"],
                ["budget", "maxToolCalls"],
                ["treeBudget", "maxTokens"],
                ["treeBudget", "maxToolCalls"],
                ["treeBudget", "maxChildRuns"]
              ] as const
            ) {
              const error = yield* Effect.flip(agent.run("hi", { [field]: { [limit]: value } } as never))
              const [found, issues] = invalidInput(error)
              assert.deepStrictEqual([found, issues.split(",")[0]], [
                field,
                `${limit} must be a positive whole number`
              ])
            }
          }
        }))
      }))

    it.effect("X06 Options of recover and cancel are refused before a run is touched", () =>
      Effect.gen(function*() {
        const { next } = yield* Waiting.processes(yield* backing.make, { clerk: Script.each([Step.text("done")]) })
        yield* next(Effect.gen(function*() {
          const agent = yield* clerk.build()
          yield* agent.run("hi", { threadId: "t" })
          for (const [says, value] of notOptions) {
            for (const verb of [agent.recover("t", value as never), agent.cancel("t", value as never)]) {
              assert.match(invalidInput(yield* Effect.flip(verb))[1], says)
            }
          }
          for (const force of ["yes", "false", 1, 0, null, {}]) {
            const error = yield* Effect.flip(agent.recover("t", { force } as never))
            assert.match(invalidInput(error)[1], /^force must be true or false/)
          }
          const error = yield* Effect.flip(agent.cancel("t", { chlid: "t#0/0.0" } as never))
          assert.deepStrictEqual(invalidInput(error), [
            "options",
            "there is no option \"chlid\"; the options are child (did you mean \"child\"?)"
          ])
        }))
      }))
  })
}

describe("X06 A misspelt option", () => {
  it.effect("X06 is answered with the keys there are, and the one that was probably meant", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      for (const [given, meant] of [["tenent", "tenant"], ["threadID", "threadId"], ["treebudget", "treeBudget"]]) {
        const [, issues] = invalidInput(yield* Effect.flip(agent.run("hi", { [given!]: "x" } as never)))
        assert.include(issues, `there is no option "${given}"; the options are threadId, `)
        assert.include(issues, `(did you mean "${meant}"?)`)
      }
    }).pipe(Effect.provide(runtime)))
})

/** Every method of a definition that takes something, with a name that its problem has. */
const methods: ReadonlyArray<readonly [name: string, says: RegExp, give: (agent: any, value: any) => any]> = [
  ["withBudget", /^the budget: |the limits are |limit that is a symbol/, (agent, value) => agent.withBudget(value)],
  [
    "withSubagents bounds",
    /^the bounds on tasks: |the bounds are /,
    (agent, value) => agent.withSubagents([scribe], value)
  ],
  ["withPostures", /^the options of postures: /, (agent, value) => agent.withPostures(value)],
  ["withChildFailure", /^the policy of failures: /, (agent, value) => agent.withChildFailure(value)],
  ["withModel settings", /^the settings of the model: /, (agent, value) => agent.withModel("m", value)]
]

const problemsOf = (agent: any) =>
  Effect.map(Effect.flip(agent.spec.role === "agent" ? agent.build() : agent.bind()), (error: any) => {
    assert.strictEqual(error._tag, "AgentDefinitionError")
    assert.isFalse(leaks(error.message), error.message)
    return (error.problems as ReadonlyArray<{ readonly message: string }>).map(({ message }) => message)
  }) as Effect.Effect<ReadonlyArray<string>>

describe("X06 A definition", () => {
  for (const definition of [clerk, scribe.withMaxSteps(3)]) {
    const own = definition === clerk ? methods : [
      ...methods,
      ["withCache", /^the cache policy: /, (agent, value) => agent.withCache(value)] as (typeof methods)[number]
    ]
    it.effect.each(own)(
      `X06 of role ${definition.spec.role} refuses at bind what %s was given`,
      ([name, says, give]) =>
        Effect.gen(function*() {
          for (const [, value] of notOptions) {
            const messages = yield* problemsOf(give(definition, value))
            assert.isTrue(messages.some((message) => says.test(message)), `${name}: ${messages.join(" | ")}`)
          }
        }).pipe(Effect.provide(runtime))
    )
  }

  it.effect("X06 keeps the limits that it has when it is given none", () =>
    Effect.sync(() => {
      const given = clerk.withBudget({ maxTokens: 5 }).withBudget({ maxTokens: undefined, maxToolCalls: 2 } as never)
      assert.deepStrictEqual<unknown>({ ...given.spec.budget }, { maxTokens: 5, maxToolCalls: 2 })
    }))

  const notText = [null, 5, {}, [], new Map(), Symbol("secret")]
  const single: ReadonlyArray<readonly [name: string, values: ReadonlyArray<unknown>, give: (value: any) => any]> = [
    ["AgentBuilder.make", [undefined, 5n, ...notText], (value) => AgentBuilder.make(value)],
    ["TypedAgent.text", [undefined, 5n, ...notText], (value) => TypedAgent.text(value, { description: "Writes" })],
    [
      "TypedAgent.text options",
      [undefined, ...notText, "Writes", { descripton: "Writes" }],
      (value) => TypedAgent.text("scribe", value)
    ],
    ["TypedAgent.make options", [undefined, ...notText, { description: "x" }, {
      description: "x",
      input: Schema.String
    }], (value) => TypedAgent.make("scribe", value)],
    ["withInstructions", [undefined, ...notText], (value) => clerk.withInstructions(value)],
    ["withModel id", notText, (value) => clerk.withModel(value)],
    ["withMaxSteps", [undefined, ...notText.filter((it) => it !== 5), "5"], (value) => clerk.withMaxSteps(value)],
    ["withReasks", [undefined, ...notText.filter((it) => it !== 5), "5"], (value) => clerk.withReasks(value)],
    ["withRetry", [...notText, "5 seconds"], (value) => clerk.withRetry(value)],
    ["withInputText", [...notText, "x"], (value) => scribe.withInputText(value)],
    [
      "withBreakpoints",
      [undefined, ...notText.filter((it) => !Array.isArray(it)), [5], "pay"],
      (value) => clerk.withBreakpoints(value)
    ],
    [
      "withCatalogTools",
      [undefined, ...notText.filter((it) => !Array.isArray(it)), [5], "pay"],
      (value) => clerk.withCatalogTools(value)
    ],
    [
      "withSubagents",
      [undefined, null, 5, {}, scribe, [undefined], [{}], [clerk]],
      (value) => clerk.withSubagents(value)
    ],
    ["withTools toolkit", [undefined, null, 5, {}], (value) => clerk.withTools(value, {})],
    ["withToolkit", [undefined, null, 5, {}, [], { tools: {} }, Effect.succeed(5)], (value) => clerk.withToolkit(value)]
  ]
  it.effect.each(single)("X06 refuses at bind what %s does not take", ([name, values, give]) =>
    Effect.gen(function*() {
      for (const value of values) {
        const messages = yield* problemsOf(give(value))
        assert.isNotEmpty(messages, name)
      }
    }).pipe(Effect.provide(runtime)))
})

describe("X06 The options of a SQLite store", () => {
  const open = (options: unknown) =>
    Effect.flip(Effect.scoped(Layer.build(SqliteRunStore.layer(options as SqliteRunStore.Options))))

  it.effect.each([
    "normal; CREATE TABLE stolen (a)",
    "NORMAL",
    "off",
    "",
    "0",
    0,
    1,
    null,
    true,
    ["normal"],
    { toString: () => "normal" }
  ])("X06 take synchronous from a closed list, and not %j", (synchronous) =>
    Effect.gen(function*() {
      const error = yield* open({ filename: ":memory:", synchronous })
      assert.strictEqual(error.reason._tag, "InvalidOptions")
      assert.include(error.message, "synchronous must be one of \"normal\", \"full\", not ")
    }))

  it.effect("X06 are refused as a whole and key by key, by both layers", () =>
    Effect.gen(function*() {
      for (
        const [says, value] of [...notOptions, [/filename is required/, {}], [
          /must be a plain object/,
          undefined
        ]] as const
      ) {
        const other = yield* Effect.flip(Effect.scoped(Layer.build(MandateSqlite.layer(value as never))))
        for (const error of [yield* open(value), other]) {
          assert.deepInclude(error, { _tag: "SqliteError", filename: "" })
          assert.match(error.message, says)
          assert.isFalse(leaks(error.message), error.message)
        }
      }
      for (const filename of [null, 5, ["runs.db"], new URL("file:///tmp/x"), Buffer.from("x")]) {
        assert.include((yield* open({ filename })).message, "filename must be a string, not ")
      }
      for (const busyTimeout of [-1, Number.NaN, "soon", "Infinity", null, true]) {
        assert.include((yield* open({ filename: ":memory:", busyTimeout })).message, "busyTimeout must be ")
      }
    }))
})

describe("X06 Options of promises", () => {
  it("X06 reject, and never throw, for what is not plain options or no signal", async () => {
    await using promises = PromiseRuntime.make(runtime)
    const agent = await promises.build(clerk)
    const rejection = (attempt: () => Promise<unknown>) =>
      attempt().then(() => assert.fail("it was taken"), (error) => error)
    for (const [says, value] of notOptions) {
      for (
        const attempt of [
          () => agent.run("hi", value as never),
          () => agent.start("hi", value as never),
          () => agent.recover("t", value as never),
          () => agent.cancel("t", value as never),
          () => agent.resume("t", [], value as never),
          () => promises.run(Effect.void, value as never)
        ]
      ) {
        assert.match((await rejection(attempt)).message, says)
      }
    }
    for (const signal of [null, 5, {}, "abort", new AbortController()]) {
      const error = await rejection(() => agent.run("hi", { signal } as never))
      assert.match(error.message, /signal must be an AbortSignal, not /)
    }
  })
})
