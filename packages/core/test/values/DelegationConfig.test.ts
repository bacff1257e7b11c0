import { assert, describe, it } from "@effect/vitest"
import { DelegationConfig } from "@mandate/core"
import { Schema } from "effect"
import * as ValueKind from "../../src/values/ValueKind.ts"

const names = ["maxConcurrentChildren", "maxTasksPerTurn", "maxDepth", "maxReportBytes", "childRetention"] as const
const wrong = [0, -0, -1, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 53, "4", null, true, [4]]

const problems = (config: object) => DelegationConfig.problems(config as DelegationConfig.DelegationConfig)

const Positive = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
const Bounds = Schema.Struct({
  maxConcurrentChildren: Schema.optionalKey(Positive),
  maxTasksPerTurn: Schema.optionalKey(Positive),
  maxDepth: Schema.optionalKey(Positive),
  maxReportBytes: Schema.optionalKey(Positive.check(Schema.isGreaterThanOrEqualTo(DelegationConfig.MinReportBytes))),
  childRetention: Schema.optionalKey(Positive)
})

describe("DelegationConfig", () => {
  it("has these defaults, and finds nothing wrong with them", () => {
    assert.deepStrictEqual(DelegationConfig.defaults, {
      maxConcurrentChildren: 4,
      maxTasksPerTurn: 16,
      maxDepth: 1,
      maxReportBytes: 65_536,
      childRetention: 16
    })
    assert.deepStrictEqual(problems(DelegationConfig.defaults), [])
    assert.sameMembers([...names], Object.keys(DelegationConfig.defaults))
  })

  it.prop("takes every positive whole number", { config: Bounds }, ({ config }) => {
    assert.deepStrictEqual(problems(config), [])
  })

  for (const name of names) {
    it.each(wrong)(`refuses %s as ${name}, and says so once`, (value) => {
      assert.deepStrictEqual(problems({ [name]: value }), [
        `${name} must be a positive whole number, not ${ValueKind.of(value)}`
      ])
    })
  }

  it("keeps the default of a bound that is undefined", () => {
    assert.deepStrictEqual(problems(Object.fromEntries(names.map((name) => [name, undefined]))), [])
  })

  it("takes no less than the least size of a report", () => {
    assert.strictEqual(DelegationConfig.MinReportBytes, 512)
    assert.deepStrictEqual(problems({ maxReportBytes: 512 }), [])
    assert.deepStrictEqual(problems({ maxReportBytes: 511 }), ["maxReportBytes must be at least 512, not 511"])
    assert.deepStrictEqual(problems({ maxReportBytes: 1 }), ["maxReportBytes must be at least 512, not 1"])
  })

  it.each(["maxDepht", "MaxDepth", "", "constructor", "toString", "__proto__"])(
    "refuses the unknown bound %j",
    (name) => {
      assert.deepStrictEqual(problems(Object.fromEntries([[name, 1]])), [
        `there is no bound "${name}"; the bounds are ${names.join(", ")}${
          name.toLowerCase().startsWith("maxdep") ? " (did you mean \"maxDepth\"?)" : ""
        }`
      ])
    }
  )

  it("reports every bound that is wrong at once, in the order they are given", () => {
    assert.deepStrictEqual(problems({ maxDepth: 0, childRetention: 1.5, maxReportBytes: 3, maxTasksPerTurn: 4 }), [
      "maxDepth must be a positive whole number, not 0",
      "childRetention must be a positive whole number, not 1.5",
      "maxReportBytes must be at least 512, not 3"
    ])
  })
})
