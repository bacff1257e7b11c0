import { assert, describe, it } from "@effect/vitest"
import { CanonicalForm, Json } from "@mandate/core"
import { Result, Schema } from "effect"

const problemOf = (value: unknown): string | undefined =>
  Result.match(CanonicalForm.make(value), { onSuccess: () => undefined, onFailure: (error) => error.message })

const nested = (levels: number): unknown => levels === 0 ? 1 : [nested(levels - 1)]

const cyclic: { [key: string]: unknown } = { b: {} }
cyclic["b"] = { c: [cyclic] }

// Thirty values, each twice in the next: a billion if they are written out.
const doubled = (levels: number): unknown => {
  let value: unknown = "x"
  for (let level = 0; level < levels; level++) value = [value, value]
  return value
}

const hostile = {
  get a(): never {
    throw new Error("secret")
  }
}

const at = (path: string, expected: string) => `There is no canonical JSON form: ${path}: Expected ${expected}`

describe("CanonicalForm.make", () => {
  it.prop("gives an equal copy of every JSON value, which shares nothing with it", [Schema.Json], ([value]) => {
    const wellFormed = Json.stringify(value).value
    const copy = Result.getOrThrow(CanonicalForm.make(wellFormed))

    assert.strictEqual(Json.canonical(copy), Json.canonical(wellFormed))
    if (typeof copy === "object" && copy !== null) assert.notStrictEqual(copy, wellFormed)
  })

  it.each(
    [
      ["a cycle", { a: cyclic }, at("a.b.c[0]", "no cycle")],
      ["a bigint", { a: [1n] }, at("a[0]", "a JSON value")],
      ["a function", { a: { toJSON: () => 1 } }, at("a.toJSON", "a JSON value")],
      ["a symbol", Symbol("x"), at("the value", "a JSON value")],
      ["undefined", undefined, at("the value", "a JSON value")],
      ["undefined in an array", { a: [1, undefined] }, at("a[1]", "a JSON value")],
      ["a hole in an array", { a: Object.assign([], { length: 4_000_000_000 }) }, at("a[0]", "a JSON value")],
      ["NaN", { a: Number.NaN }, at("a", "a JSON value")],
      ["an infinite number", [Number.NEGATIVE_INFINITY], at("[0]", "a JSON value")],
      ["a date", { a: new Date(0) }, at("a", "a JSON value")],
      ["a map", new Map([["a", 1]]), at("the value", "a JSON value")],
      ["an instance of a class", { a: new URL("http://a") }, at("a", "a JSON value")],
      ["a boxed text", { a: Object("x") }, at("a", "a JSON value")],
      ["257 levels", nested(257), at(`${"[0]".repeat(65)}[0…`, "at most 256 levels of nesting")],
      ["values without end", doubled(30), undefined],
      ["an unpaired surrogate", { a: ["x\ud83d"] }, at("a[0]", "no unpaired surrogate")],
      ["a name with an unpaired surrogate", { a: { "\udc00": 1 } }, at("a", "names without unpaired surrogates")],
      ["a getter that throws", { a: hostile }, at("the value", "a value that can be read")],
      [
        "a proxy that throws",
        new Proxy({}, {
          ownKeys: () => {
            throw new Error("secret")
          }
        }),
        at("the value", "a value that can be read")
      ]
    ] as const
  )("refuses %s and names the place", (_what, value, message) => {
    const problem = problemOf(value)

    if (message !== undefined) assert.strictEqual(problem, message)
    else assert.match(problem ?? "", /Expected at most 1000000 values$/)
  })

  it("takes 256 levels, objects without a prototype, and what is there several times", () => {
    const shared = { x: 1 }

    assert.isUndefined(problemOf(nested(256)))
    assert.deepStrictEqual(
      CanonicalForm.make(Object.assign(Object.create(null), { a: shared, b: [shared, shared] })),
      Result.succeed({ a: { x: 1 }, b: [{ x: 1 }, { x: 1 }] })
    )
  })

  it("takes as many values as there may be, the list that holds them among them", () => {
    assert.isUndefined(problemOf(Array(999_999).fill(0)))
    assert.strictEqual(problemOf(Array(1_000_000).fill(0)), at("[999999]", "at most 1000000 values"))
  })

  it("leaves out keys whose value is undefined", () => {
    assert.deepStrictEqual(CanonicalForm.make({ a: undefined, b: 1 }), Result.succeed({ b: 1 }))
  })

  it("takes __proto__ for a name like any other", () => {
    const copy = Result.getOrThrow(CanonicalForm.make(JSON.parse("{\"__proto__\":{\"admin\":true}}")))

    assert.deepStrictEqual(Object.keys(copy as object), ["__proto__"])
    assert.isUndefined((copy as { readonly admin?: unknown }).admin)
  })
})
