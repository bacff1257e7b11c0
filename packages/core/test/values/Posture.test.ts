import { assert, describe, it } from "@effect/vitest"
import { Posture } from "@mandate/core"
import { Duration, Effect, Exit, Result, Schema } from "effect"
import { createHash } from "node:crypto"

const minimal = { name: "reviewer", description: "Reviews one change", instructions: "You review." }

const make = (input: Posture.PostureInput): Posture.Posture => Effect.runSync(Posture.make(input))

const problemsOf = (input: unknown): ReadonlyArray<string> =>
  Result.match(Posture.fromUnknown(input), {
    onSuccess: () => assert.fail("the posture was taken"),
    onFailure: (problems) => problems.map(({ field, message }) => `${field}: ${message}`)
  })

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const Word = Schema.String.check(Schema.isPattern(/^[a-zA-Z0-9_-]{1,52}$/))
const Input = Schema.Struct({
  name: Word,
  description: Word,
  instructions: Word,
  allowedTools: Schema.optionalKey(Schema.Array(Word)),
  report: Schema.optionalKey(
    Schema.Union([
      Word,
      Schema.Struct({ name: Word }),
      Schema.Struct({ type: Schema.Literals(["string", "object"]), title: Word })
    ])
  ),
  model: Schema.optionalKey(Word),
  settings: Schema.optionalKey(Schema.Struct({ temperature: Schema.Finite, stopSequences: Schema.Array(Word) })),
  budget: Schema.optionalKey(Schema.Struct({ maxTokens: Schema.optionalKey(Limit), timeout: Limit })),
  ceiling: Schema.optionalKey(Schema.Struct({ maxToolCalls: Limit })),
  maxDepth: Schema.optionalKey(Limit),
  maxSteps: Schema.optionalKey(Limit),
  extra: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})

// The same fields, and those inside of them, in the opposite order.
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([key, item]) => [key, reversed(item)]))
    : value

describe("Posture.make", () => {
  it("fills in every default", () => {
    assert.deepStrictEqual(make(minimal), {
      ...minimal,
      allowedTools: [],
      settings: {},
      budget: {},
      ceiling: {},
      maxSteps: 32,
      extra: {}
    })
  })

  it("sorts allowed tools, each once, and brings reports and times into one form", () => {
    const posture = make({
      ...minimal,
      allowedTools: ["search", "read", "search", "Read"],
      report: "finding",
      budget: { maxTokens: 5, timeout: "2 minutes" },
      ceiling: { timeout: Duration.hours(1) }
    })

    assert.deepStrictEqual(posture.allowedTools, ["Read", "read", "search"])
    assert.deepStrictEqual(posture.report, { name: "finding" })
    assert.deepStrictEqual(posture.budget, { maxTokens: 5, timeout: 120_000 })
    assert.deepStrictEqual(posture.ceiling, { timeout: 3_600_000 })
    assert.deepStrictEqual(make({ ...minimal, report: { name: "finding" } }).report, { name: "finding" })
    assert.deepStrictEqual(make({ ...minimal, report: { type: "object" } }).report, { schema: { type: "object" } })
    assert.deepStrictEqual(make({ ...minimal, report: { schema: { type: "string" } } }).report, {
      schema: { type: "string" }
    })
  })

  it("takes the ceiling as the default where the budget sets no limit", () => {
    const posture = make({ ...minimal, budget: { maxTokens: 5 }, ceiling: { maxTokens: 10, maxToolCalls: 3 } })

    assert.deepStrictEqual(posture.budget, { maxTokens: 5, maxToolCalls: 3 })
  })

  it("takes a field that is undefined as absent", () => {
    const posture = make({ ...minimal, model: undefined, report: undefined, maxDepth: undefined, budget: undefined })

    assert.deepStrictEqual(posture, make(minimal))
  })

  it.prop("takes what it made, and makes the same of it", [Input], ([input]) => {
    const posture = make(input)

    assert.deepStrictEqual(make(posture), posture)
    assert.strictEqual(Posture.version(make(posture)), Posture.version(posture))
  })

  it.prop("makes what a row can keep", [Input], ([input]) => {
    const codec = Schema.fromJsonString(Posture.Posture)
    const posture = make(input)

    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(posture)), posture)
  })

  it("keeps names such as __proto__ as plain names", () => {
    const extra = JSON.parse(`{ "__proto__": { "polluted": true }, "constructor": 1 }`)
    const posture = make({ ...minimal, extra, settings: { providerOptions: extra }, report: extra })

    assert.deepStrictEqual(Object.keys(posture.extra).sort(), ["__proto__", "constructor"])
    assert.deepStrictEqual(posture.report, { schema: extra })
    assert.isUndefined(({} as { polluted?: unknown }).polluted)
    assert.notStrictEqual(Posture.version(posture), Posture.version(make(minimal)))
  })

  it("reports every problem at once, with its field, and quotes no value", () => {
    const secret = "s3cr3t"
    const problems = problemsOf({
      name: `not a name ${secret}`,
      description: " \u200b\u3164",
      instructions: 5,
      allowedTools: ["search", "", 7],
      report: { schema: secret },
      model: "",
      settings: { temperature: secret, topK: 0, unknown: secret },
      budget: { maxTokens: 20, maxToolCalls: "10", timeout: secret },
      ceiling: { maxTokens: 10, maxToolcalls: 1 },
      maxDepth: 0,
      maxSteps: 1.5,
      color: secret
    })

    assert.sameMembers([...problems], [
      "name: Expected 1 to 52 of the characters a-z A-Z 0-9 _ -",
      "description: Expected text that is not blank",
      "instructions: Expected text",
      "allowedTools[1]: Expected text that is not blank",
      "allowedTools[2]: Expected text",
      "report.schema: Expected object",
      "model: Expected text that is not blank",
      "settings.temperature: Expected number",
      "settings.topK: Expected a positive whole number",
      "settings.unknown: Unexpected key",
      "budget.maxToolCalls: Expected a positive whole number",
      "budget.timeout: Expected a positive, finite duration",
      "ceiling.maxToolcalls: Unexpected key",
      "maxDepth: Expected a positive whole number",
      "maxSteps: Expected a positive whole number",
      "color: Unexpected key",
      "budget.maxTokens: Expected no more than the ceiling"
    ])
    assert.notInclude(problems.join(), secret)
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 53, "10", true, null, 10n])(
    "refuses %s as a limit",
    (value) => {
      for (const field of ["maxTokens", "maxToolCalls"]) {
        for (const name of ["budget", "ceiling"]) {
          assert.deepStrictEqual(problemsOf({ ...minimal, [name]: { [field]: value } }), [
            `${name}.${field}: Expected a positive whole number`
          ])
        }
      }
      for (const field of ["maxDepth", "maxSteps"]) {
        assert.include(problemsOf({ ...minimal, [field]: value })[0], `${field}: Expected a positive whole number`)
      }
    }
  )

  it.each([0, -1, Number.NaN, Infinity, "Infinity", "-5 seconds", "0 seconds", "soon", "10", {}, null])(
    "refuses %s as a time",
    (timeout) => {
      assert.deepStrictEqual(problemsOf({ ...minimal, budget: { timeout } }), [
        "budget.timeout: Expected a positive, finite duration"
      ])
    }
  )

  it("says of anything else that it is no posture", () => {
    for (const value of [null, undefined, "reviewer", 5, []]) {
      assert.deepStrictEqual(problemsOf(value), [": Expected an object"])
    }
    assert.deepStrictEqual(problemsOf({}), [
      "name: Missing key",
      "description: Missing key",
      "instructions: Missing key"
    ])
  })

  it("refuses what has no end or no JSON form", () => {
    const cycle: Record<string, unknown> = {}
    cycle["self"] = cycle

    assert.deepStrictEqual(problemsOf({ ...minimal, extra: cycle }), [": extra.self: Expected no cycle"])
    assert.lengthOf(problemsOf({ ...minimal, extra: { size: 5n } }), 1)
    assert.lengthOf(problemsOf({ ...minimal, extra: { at: new Date(0) } }), 1)
    assert.lengthOf(problemsOf({ ...minimal, report: { default: Number.NaN } }), 1)
  })

  it.effect("fails with an error that lists the problems", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Posture.make({ ...minimal, maxSteps: 0, description: "" }))

      assert.instanceOf(error, Posture.PostureError)
      assert.strictEqual(
        error.message,
        "Postures are not valid:\n" +
          "  - \"reviewer\" description: Expected text that is not blank\n" +
          "  - \"reviewer\" maxSteps: Expected a positive whole number"
      )
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Posture.make({ ...minimal, name: "a".repeat(53) }))))
    }))
})

describe("Posture.version", () => {
  it("is the first 16 digits of the SHA-256 of the canonical JSON", () => {
    const text = "{\"allowedTools\":[\"a\",\"b\"],\"budget\":{\"timeout\":1000},\"ceiling\":{}," +
      "\"description\":\"Reviews one change\",\"extra\":{},\"instructions\":\"You review.\",\"maxSteps\":32," +
      "\"name\":\"reviewer\",\"settings\":{}}"

    assert.strictEqual(
      Posture.version(make({ ...minimal, allowedTools: ["b", "a", "b"], budget: { timeout: "1 second" } })),
      createHash("sha256").update(text).digest("hex").slice(0, 16)
    )
  })

  it.prop("does not depend on the order of fields and tools", [Input], ([input]) => {
    const other = reversed(input) as Posture.PostureInput
    const version = Posture.version(make(input))

    assert.strictEqual(Posture.version(make(other)), version)
    if (input.allowedTools === undefined) return
    const tools = [...input.allowedTools]
    const shuffled = [...tools.slice().reverse(), ...tools]
    assert.strictEqual(Posture.version(make({ ...input, allowedTools: shuffled })), version)
    assert.strictEqual(Posture.version({ ...make(input), allowedTools: shuffled }), version)
  })

  it("depends on every field", () => {
    const changes: ReadonlyArray<Partial<Posture.PostureInput>> = [
      { name: "other" },
      { description: "Other" },
      { instructions: "Other" },
      { allowedTools: ["search"] },
      { report: "finding" },
      { report: { type: "object" } },
      { model: "fast" },
      { settings: { temperature: 0 } },
      { budget: { maxTokens: 5 } },
      { budget: { maxToolCalls: 5 } },
      { budget: { timeout: 5 } },
      { ceiling: { maxTokens: 6 } },
      { maxDepth: 2 },
      { maxSteps: 2 },
      { extra: { color: "blue" } }
    ]
    const versions = [{}, ...changes].map((change) => Posture.version(make({ ...minimal, ...change })))

    assert.lengthOf(new Set(versions), versions.length)
    for (const version of versions) assert.match(version, /^[0-9a-f]{16}$/)
  })
})
