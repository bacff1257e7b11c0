import { assert, describe, it } from "@effect/vitest"
import { CacheKey, type Json } from "@mandate/core"
import { Arbitrary, Result, Schema } from "effect"
import { createHash } from "node:crypto"

const call: CacheKey.PostureCall = {
  posture: "reviewer",
  version: "0123456789abcdef",
  task: "Review it",
  context: { a: { x: 1, y: [2, 1] }, b: 2 },
  allowedTools: ["read_file", "search"],
  tools: ["search"],
  budget: { maxTokens: 100 }
}

const typed: CacheKey.TypedCall = { agent: "scout", behaviour: "b", surroundings: {}, input: { topic: "tides" } }

const keysOf = (more: Partial<CacheKey.PostureCall> = {}): CacheKey.PostureKeys =>
  Result.getOrThrow(CacheKey.ofPosture({ ...call, ...more }))

const keyOf = (more: Partial<CacheKey.TypedCall> = {}): string =>
  Result.getOrThrow(CacheKey.ofTyped({ ...typed, ...more }))

// Few and similar texts, so that fields often could be split another way.
const Text = Schema.Literals(["", "a", "b", "ab", "bc", "abc", "\"", "\",\"", ",", "null"])
const Names = Schema.Array(Text)
const Calls = Arbitrary.schema(Schema.Struct({
  posture: Text,
  version: Text,
  task: Text,
  context: Schema.NullOr(Schema.Union([Text, Names, Schema.Record(Text, Text)])),
  allowedTools: Names,
  tools: Names,
  budget: Schema.Struct({ maxTokens: Schema.optionalKey(Schema.Literals([1, 11])) }),
  surroundings: Schema.UndefinedOr(Text),
  tenant: Schema.UndefinedOr(Text)
}))

const reversed = (value: Json.Json): Json.Json => {
  if (value === null || typeof value !== "object") return value
  return Array.isArray(value)
    ? value.map(reversed)
    : Object.fromEntries(Object.entries(value).toReversed().map(([key, item]) => [key, reversed(item as Json.Json)]))
}

// What tells two calls apart, by way of a comparison and not of a text.
const distinct = ({ allowedTools, tools, ...rest }: CacheKey.PostureCall) => ({
  ...rest,
  allowedTools: new Set(allowedTools),
  tools: new Set(tools)
})
const isEqual = (a: unknown, b: unknown): boolean => {
  try {
    assert.deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

describe("CacheKey.ofPosture", () => {
  it("is the SHA-256 of the canonical JSON of what tells calls apart", () => {
    const text = "{\"allowedTools\":[\"read_file\",\"search\"],\"context\":{\"a\":{\"x\":1,\"y\":[2,1]},\"b\":2},"
      + "\"posture\":\"reviewer\",\"task\":\"Review it\",\"tools\":[\"search\"],\"version\":\"0123456789abcdef\"}"
    const sha256 = (part: string) => createHash("sha256").update(part).digest("hex")

    assert.strictEqual(keysOf().success, sha256(text))
    assert.strictEqual(
      keysOf().partial,
      sha256(text.replace(",\"context\"", ",\"budget\":{\"maxTokens\":100},\"context\""))
    )
  })

  it.each(
    [
      ["posture", { posture: "reviewer2" }],
      ["version", { version: "0123456789abcdee" }],
      ["task", { task: "Review it " }],
      ["context", { context: { a: { x: 1, y: [1, 2] }, b: 2 } }],
      ["context that is absent", { context: undefined }],
      ["context that is null", { context: null }],
      ["allowed tools", { allowedTools: ["read_file"] }],
      ["resolved tools", { tools: [] }],
      ["tools in the other list", { allowedTools: ["search"], tools: ["read_file", "search"] }],
      ["surroundings", { surroundings: { depth: 1 } }],
      ["tenant", { tenant: "acme" }]
    ] satisfies ReadonlyArray<readonly [string, Partial<CacheKey.PostureCall>]>
  )("differs for another %s", (_field, more) => {
    assert.notStrictEqual(keysOf(more).success, keysOf().success)
    assert.notStrictEqual(keysOf(more).partial, keysOf().partial)
  })

  it("tells a context that is null from one that is absent", () => {
    assert.notStrictEqual(keysOf({ context: null }).success, keysOf({ context: undefined }).success)
  })

  it("holds the budget for partial results alone", () => {
    assert.strictEqual(keysOf({ budget: {} }).success, keysOf().success)
    for (const budget of [{}, { maxTokens: 101 }, { maxToolCalls: 100 }, { maxTokens: 100, timeoutMillis: 1 }]) {
      assert.notStrictEqual(keysOf({ budget }).partial, keysOf().partial)
    }
    assert.notStrictEqual(keysOf().partial, keysOf().success)
  })

  it("does not depend on the order of keys, nor on that of tools or how often they are there", () => {
    assert.deepStrictEqual(
      keysOf({
        context: { b: 2, a: { y: [2, 1], x: 1 } },
        allowedTools: ["search", "read_file", "search"],
        tools: ["search", "search"]
      }),
      keysOf()
    )
  })

  it("takes names such as __proto__ for what they are", () => {
    const context = JSON.parse("{\"__proto__\":{\"x\":1}}")

    assert.notStrictEqual(keysOf({ context }).success, keysOf({ context: {} }).success)
    assert.notStrictEqual(keysOf({ context }).success, keysOf({ context: { x: 1 } }).success)
  })

  it.prop("is equal exactly for equal calls", { a: Calls, b: Calls }, ({ a, b }) => {
    const [one, other] = [a, b].map((each) => Result.getOrThrow(CacheKey.ofPosture(each)))

    assert.strictEqual(one!.partial === other!.partial, isEqual(distinct(a), distinct(b)))
    assert.strictEqual(
      one!.success === other!.success,
      isEqual(distinct({ ...a, budget: {} }), distinct({ ...b, budget: {} }))
    )
  })

  it.prop("does not depend on the order in which things are written", { a: Calls }, ({ a }) => {
    const other = reversed(a as unknown as Json.Json) as unknown as CacheKey.PostureCall

    assert.deepStrictEqual(
      CacheKey.ofPosture({ ...other, context: a.context, tools: a.tools.toReversed() }),
      CacheKey.ofPosture(a)
    )
  })

  it.prop("is never equal to the key of a typed agent's call", { a: Calls, name: Text }, ({ a, name }) => {
    assert.notStrictEqual<unknown>(
      Result.getOrThrow(CacheKey.ofPosture(a)).success,
      keyOf({ agent: a.posture, version: a.version, input: a.context, behaviour: name })
    )
  })

  it("fails with a problem where the context has no canonical form", () => {
    const failed = CacheKey.ofPosture({ ...call, context: { a: [1n] } })

    assert.isTrue(Result.isFailure(failed))
    if (Result.isFailure(failed)) {
      assert.deepStrictEqual({ ...failed.failure }, { _tag: "NoCanonicalForm", path: "a[0]", expected: "a JSON value" })
    }
  })
})

describe("CacheKey.ofTyped", () => {
  it.each(
    [
      ["agent", { agent: "scouts" }],
      ["behaviour", { behaviour: "c" }],
      ["surroundings", { surroundings: { depth: 1 } }],
      ["input", { input: { topic: "tide" } }],
      ["version", { version: "2" }],
      ["tenant", { tenant: "2" }]
    ] satisfies ReadonlyArray<readonly [string, Partial<CacheKey.TypedCall>]>
  )("differs for another %s", (_field, more) => {
    assert.notStrictEqual(keyOf(more), keyOf())
    assert.notStrictEqual(keyOf({ version: "2" }), keyOf({ tenant: "2" }))
  })

  it("is equal for equal calls, and fails where the input has no canonical form", () => {
    assert.strictEqual(keyOf({ version: undefined, tenant: undefined }), keyOf())
    assert.strictEqual(keyOf({ input: { b: 1, a: 2 } }), keyOf({ input: { a: 2, b: 1 } }))
    assert.isTrue(Result.isFailure(CacheKey.ofTyped({ ...typed, input: { at: new Date(0) } })))
  })

  it("takes behaviour as data, whatever the order of keys", () => {
    assert.strictEqual(CacheKey.behaviour({ a: 1, b: 2 }), CacheKey.behaviour({ b: 2, a: 1 }))
    assert.notStrictEqual(CacheKey.behaviour({ a: 1 }), CacheKey.behaviour({ a: "1" }))
  })
})
