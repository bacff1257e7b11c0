import { assert, describe, it } from "@effect/vitest"
import { Options } from "@mandate/core"
import { Result, Schema } from "effect"
import { leaks, notOptions } from "../support/NotOptions.ts"

interface Search {
  readonly term: string
  readonly limit?: number
  readonly exact?: boolean
  readonly fields?: ReadonlyArray<string>
  readonly order?: "newest" | "oldest"
}

const decode = Options.make<Search>("option", {
  term: Options.text,
  limit: Options.countWithin({ most: 100 }),
  exact: Options.flag,
  fields: Options.texts,
  order: Options.oneOf(["newest", "oldest"])
}, ["term"])
const loose = Options.make<{ readonly limit?: number }>("option", { limit: Options.count })

const issues = <A>(decoded: Result.Result<A, Options.Issues>): ReadonlyArray<string> =>
  Result.isFailure(decoded) ? decoded.failure : assert.fail("the options were taken")

describe("Options.make", () => {
  it("takes a plain object of any realm with known keys, and leaves out those that are undefined", () => {
    for (
      const given of [
        { term: "a", limit: undefined },
        Object.assign(Object.create(null), { term: "a" }),
        JSON.parse("{\"term\":\"a\"}")
      ]
    ) {
      assert.deepStrictEqual(decode(given), Result.succeed({ term: "a" }))
    }
    assert.deepStrictEqual(loose(undefined), Result.succeed({}))
  })

  it("reads each property once, and gives a copy", () => {
    let reads = 0
    const given = {
      get limit() {
        return ++reads
      }
    }
    const decoded = Result.getOrThrow(loose(given))

    assert.deepStrictEqual([decoded, reads], [{ limit: 1 }, 1])
  })

  it.each(notOptions)("refuses what is not options, in words that match %s", (says, value) => {
    for (const each of [decode, loose]) {
      const text = issues<unknown>(each(value)).join("; ")
      assert.match(text, says)
      assert.isFalse(leaks(text), text)
    }
  })

  it("names a key, what it takes and the kind that was given, for all keys at once", () => {
    assert.deepStrictEqual(
      issues(decode({ term: 5, limit: 101, exact: "secret", fields: ["a", null], order: "random", limt: 1 })),
      [
        "term must be a string, not 5",
        "limit must be at most 100, not 101",
        "exact must be true or false, not a string",
        "fields[1] must be a string, not null",
        "order must be one of \"newest\", \"oldest\", not a string",
        "there is no option \"limt\"; the options are term, limit, exact, fields, order (did you mean \"limit\"?)"
      ]
    )
    assert.deepStrictEqual(issues(decode({ fields: "a" })), [
      "fields must be a list, not a string",
      "term is required; the options are term, limit, exact, fields, order"
    ])
    assert.deepStrictEqual(issues(decode({})), ["term is required; the options are term, limit, exact, fields, order"])
    assert.deepStrictEqual(issues(decode(undefined)), [
      "it must be a plain object, not undefined; the options are term, limit, exact, fields, order"
    ])
  })

  it("names a property that throws when it is read", () => {
    const given = Object.defineProperty({}, "limit", {
      get: () => {
        throw new Error("secret")
      }
    })
    assert.deepStrictEqual(issues(loose(given)), ["limit cannot be read"])
  })

  it("says at most 16 things", () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, index]))
    assert.lengthOf(issues(loose(many)), 16)
  })

  it.prop("never throws, and never takes a key that it does not know", { value: Schema.Unknown }, ({ value }) => {
    const decoded = loose(value)
    if (Result.isSuccess(decoded)) assert.includeMembers(["limit"], Object.keys(decoded.success))
  })
})
