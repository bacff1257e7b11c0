import { assert, describe, it } from "@effect/vitest"
import { Budget } from "@mandate/core"
import { Duration, Result, Schema } from "effect"
import * as ValueKind from "../../src/values/ValueKind.ts"

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const Limits = Schema.Struct({
  maxTokens: Schema.optionalKey(Limit),
  maxToolCalls: Schema.optionalKey(Limit),
  timeout: Schema.optionalKey(Limit)
})

const failure = (definition: unknown, call?: unknown): ReadonlyArray<string> =>
  Result.match(Budget.resolve(definition as Budget.Budget, call as Budget.Budget), {
    onSuccess: () => assert.fail("the budget was taken"),
    onFailure: (problems) => problems
  })

const timeoutOf = (timeout: Duration.Input): number | undefined =>
  Result.getOrThrow(Budget.resolve({ timeout }, undefined)).timeoutMillis

describe("Budget.resolve", () => {
  it.prop(
    "takes each limit from the call where it has one, and else from the definition",
    { definition: Limits, call: Limits },
    ({ call, definition }) => {
      const { timeout, ...counts } = { ...definition, ...call }

      assert.deepStrictEqual(
        Budget.resolve(definition, call),
        Result.succeed({ ...counts, ...(timeout === undefined ? {} : { timeoutMillis: timeout }) })
      )
    }
  )

  it.prop("gives what a row can keep", { definition: Limits, call: Limits }, ({ call, definition }) => {
    const codec = Schema.fromJsonString(Budget.ResolvedBudget)
    const resolved = Result.getOrThrow(Budget.resolve(definition, call))

    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(resolved)), resolved)
  })

  it("sets no limit by default, and none for a limit that is undefined", () => {
    const nothing = { maxTokens: undefined, maxToolCalls: undefined, timeout: undefined } as unknown as Budget.Budget

    assert.deepStrictEqual(Budget.resolve(undefined, undefined), Result.succeed({}))
    assert.deepStrictEqual(Budget.resolve({}, nothing), Result.succeed({}))
    assert.deepStrictEqual(Budget.resolve({ maxTokens: 5 }, nothing), Result.succeed({ maxTokens: 5 }))
  })

  it("lets a call raise a limit as well as lower it", () => {
    assert.deepStrictEqual(Budget.resolve({ maxTokens: 5 }, { maxTokens: 50 }), Result.succeed({ maxTokens: 50 }))
    assert.deepStrictEqual(Budget.resolve({ maxTokens: 5 }, { maxTokens: 1 }), Result.succeed({ maxTokens: 1 }))
  })

  it("refuses what is no object of limits, and null in place of a limit", () => {
    for (const none of [null, "5", 5, [], [5]]) {
      const problems = [
        `it must be a plain object, not ${ValueKind.of(none)}; the limits are maxTokens, maxToolCalls, timeout`
      ]
      assert.deepStrictEqual(failure(none), problems)
      assert.deepStrictEqual(failure({ maxTokens: 5 }, none), problems)
    }
    assert.deepStrictEqual(failure({ maxTokens: 5 }, { maxTokens: null, timeout: null }), [
      "maxTokens must be a positive whole number, not null",
      "timeout must be a positive, finite duration, not null"
    ])
  })

  it("refuses a limit that is misspelt, in the definition and in the call", () => {
    const problems = [
      "there is no limit \"maxToken\"; the limits are maxTokens, maxToolCalls, timeout (did you mean \"maxTokens\"?)"
    ]

    assert.deepStrictEqual(failure({ maxToken: 5 }), problems)
    assert.deepStrictEqual(failure({ maxTokens: 5 }, { maxToken: 5 }), problems)
  })

  it.each([0, -0, -1, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 53, "5", true])(
    "refuses %s as a count, in the definition and in the call",
    (value) => {
      for (const name of ["maxTokens", "maxToolCalls"]) {
        const problems = [`${name} must be a positive whole number, not ${ValueKind.of(value)}`]
        assert.deepStrictEqual(failure({ [name]: value }), problems)
        assert.deepStrictEqual(failure({ [name]: 1 }, { [name]: value }), problems)
      }
    }
  )

  it.each([
    0,
    -1,
    Number.NaN,
    Infinity,
    -Infinity,
    "Infinity",
    "-Infinity",
    "0 seconds",
    "-5 seconds",
    "soon",
    {},
    [],
    0n
  ])(
    "refuses %s as a time",
    (timeout) => {
      const problems = [`timeout must be a positive, finite duration, not ${ValueKind.of(timeout)}`]
      assert.deepStrictEqual(failure({ timeout }), problems)
      assert.deepStrictEqual(failure({}, { timeout }), problems)
    }
  )

  it("takes every form of a duration", () => {
    assert.strictEqual(timeoutOf(1500), 1500)
    assert.strictEqual(timeoutOf("2 minutes"), 120_000)
    assert.strictEqual(timeoutOf({ seconds: 3 }), 3000)
    assert.strictEqual(timeoutOf([1, 500_000_000]), 1500)
    assert.strictEqual(timeoutOf(Duration.hours(1)), 3_600_000)
    assert.strictEqual(timeoutOf(5_000_000n), 5)
  })

  it("reports every limit that is wrong at once", () => {
    assert.deepStrictEqual(failure({ maxTokens: 0, maxToolCalls: -1, timeout: 0 }), [
      "maxTokens must be a positive whole number, not 0",
      "maxToolCalls must be a positive whole number, not -1",
      "timeout must be a positive, finite duration, not 0"
    ])
  })
})
