import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as CachePolicy from "../../src/values/CachePolicy.ts"
import * as ValueKind from "../../src/values/ValueKind.ts"

describe("CachePolicy.problems", () => {
  it.each(
    [
      {},
      { timeToLive: "1 hour" },
      { timeToLive: Duration.millis(1), version: "2026-07" },
      { timeToLive: "Infinity", version: "0" },
      { timeToLive: undefined, version: undefined } as unknown as CachePolicy.CachePolicy
    ] satisfies ReadonlyArray<CachePolicy.CachePolicy>
  )("takes %j", (policy) => {
    assert.deepStrictEqual(CachePolicy.problems(policy), [])
  })

  it.each([0, -1, Number.NaN, Duration.zero, "-Infinity", "1 fortnight", null, {}])(
    "refuses a time to live of %j",
    (timeToLive) => {
      assert.deepStrictEqual(
        CachePolicy.problems({ timeToLive: timeToLive as Duration.Input }),
        [`timeToLive must be a positive duration, not ${ValueKind.of(timeToLive)}`]
      )
    }
  )

  it.each(["", " ", "\u200b", 1, null])("refuses the version %j", (version) => {
    assert.deepStrictEqual(
      CachePolicy.problems({ version: version as string }),
      [`version must be a string that is not blank, not ${ValueKind.of(version)}`]
    )
  })

  it("names what a policy does not have, and all problems at once", () => {
    assert.deepStrictEqual(CachePolicy.problems({ ttl: 1, version: "", timeToLive: 0 } as CachePolicy.CachePolicy), [
      "there is no setting \"ttl\"; the settings are timeToLive, version",
      "version must be a string that is not blank, not an empty string",
      "timeToLive must be a positive duration, not 0"
    ])
  })
})
