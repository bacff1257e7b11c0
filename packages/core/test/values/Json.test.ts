import { assert, describe, it } from "@effect/vitest"
import { Json } from "@mandate/core"
import { Arbitrary, Result, Schema } from "effect"

// The rules of RFC 8785, written once more and as plainly as possible.
const expected = (value: Json.Json): string => {
  if (typeof value === "string") return JSON.stringify(value.toWellFormed())
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(expected).join(",")}]`
  const members = Object.entries(value).map(([key, item]) => [key.toWellFormed(), item as Json.Json] as const)
  // The default order of `sort` is that of UTF-16 code units.
  return `{${
    members.sort(([a], [b]) => [a, b].sort()[0] === a ? -1 : 1)
      .map(([key, item]) => `${JSON.stringify(key)}:${expected(item)}`).join(",")
  }}`
}

const oddKeys = Schema.Literals([
  "__proto__",
  "constructor",
  "toString",
  "10",
  "9",
  "1",
  "01",
  "-1",
  "4294967295",
  "4294967296",
  "1.5",
  "",
  " ",
  "a",
  "A",
  "é",
  "e\u0301",
  "\u0080",
  "€",
  "\ufb33",
  "😀",
  "\u{10ffff}",
  "\r",
  "\"",
  "\\",
  "\\ud83d",
  "\ud83d"
])
const oddNumbers = Schema.Literals([
  0,
  -0,
  1e21,
  1e20,
  5e-324,
  1e-7,
  0.000001,
  Number("333333333.33333329"),
  Number.MAX_SAFE_INTEGER,
  Number.MAX_VALUE,
  -1.5
])
const scalars = Schema.Union([oddKeys, oddNumbers, Schema.String, Schema.Boolean, Schema.Null, Schema.Finite])

const entries = <A>(item: Schema.Codec<A, unknown>) =>
  Arbitrary.array(Arbitrary.schema(Schema.Tuple([Schema.Union([oddKeys, Schema.String]), item])), { maxLength: 6 })

// A key comes once, also after unpaired surrogates are replaced.
const objectOf = <A>(list: ReadonlyArray<readonly [string, A]>): { readonly [key: string]: A } =>
  Object.fromEntries(new Map(list.map(([key, item]) => [key.toWellFormed(), [key, item] as const])).values())

const flat = Arbitrary.map(entries(scalars), objectOf)
const nested = Arbitrary.map(
  Arbitrary.all([entries(scalars), flat, Arbitrary.array(flat, { maxLength: 3 }), Arbitrary.schema(oddKeys)]),
  ([list, object, array, key]): { readonly [key: string]: Json.Json } => ({
    ...objectOf(list),
    object,
    array: [array, key]
  })
)

// The same value with the keys of every object in another order.
const reversed = (value: Json.Json): Json.Json => {
  if (value === null || typeof value !== "object") return value
  return Array.isArray(value)
    ? value.map(reversed)
    : Object.fromEntries(Object.entries(value).toReversed().map(([key, item]) => [key, reversed(item as Json.Json)]))
}

describe("Json.canonical", () => {
  it("sorts keys by their UTF-16 code units, as the example of RFC 8785 does", () => {
    const text = Json.canonical({
      "€": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "😀": "Emoji: Grinning Face",
      "\u0080": "Control",
      "ö": "Latin Small Letter O With Diaeresis"
    })

    assert.deepStrictEqual([...text.matchAll(/"([^"]*)":/g)].map((match) => match[1]), [
      "\\r",
      "1",
      "\u0080",
      "ö",
      "€",
      "😀",
      "\ufb33"
    ])
  })

  it("writes numbers, literals and strings as the example of RFC 8785 does", () => {
    const value = {
      numbers: [Number("333333333.33333329"), 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
      string: "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
      literals: [null, true, false]
    }

    assert.strictEqual(
      Json.canonical(value),
      "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    )
  })

  it.each([[-0, "0"], [1e21, "1e+21"], [1e20, "100000000000000000000"], [5e-324, "5e-324"], [1e-7, "1e-7"]] as const)(
    "writes the number %s as %s",
    (number, text) => assert.strictEqual(Json.canonical(number), text)
  )

  it("sorts keys that look like integers among the others, by text and not by value", () => {
    assert.strictEqual(
      Json.canonical({ b: 1, "10": 2, "9": 3, "": 4, a: 5 }),
      "{\"\":4,\"10\":2,\"9\":3,\"a\":5,\"b\":1}"
    )
    assert.strictEqual(Json.canonical({ x: [{ "2": 1, "10": 1 }] }), "{\"x\":[{\"10\":1,\"2\":1}]}")
  })

  it("takes __proto__ for a name like any other", () => {
    const value = JSON.parse("{\"b\":1,\"__proto__\":{\"z\":1,\"a\":2}}") as Json.Json

    assert.strictEqual(Json.canonical(value), "{\"__proto__\":{\"a\":2,\"z\":1},\"b\":1}")
  })

  it("replaces unpaired surrogates in strings and keys, and nothing else", () => {
    assert.strictEqual(
      Json.canonical({ "b\udc00": ["a\ud800", "😀", "\\ud800"] }),
      "{\"b\ufffd\":[\"a\ufffd\",\"😀\",\"\\\\ud800\"]}"
    )
    assert.strictEqual(Json.canonical("\ud83d"), "\"\ufffd\"")
  })

  it("leaves out keys whose value is undefined", () => {
    const value = { b: 1, a: undefined, "1": undefined } as unknown as Json.Json

    assert.strictEqual(Json.canonical(value), "{\"b\":1}")
    assert.strictEqual(Json.canonical([value, "x"]), "[{\"b\":1},\"x\"]")
  })

  it("gives equal text for equal values whose keys become one name", () => {
    const value = { "\ud800": 1, "\ud801": 2 }

    assert.strictEqual(Json.canonical(value), Json.canonical(reversed(value)))
  })

  it.prop("follows RFC 8785", { nested }, ({ nested }) => {
    assert.strictEqual(Json.canonical(nested), expected(nested))
  })

  it.prop("gives equal text for equal values, whatever the order of their keys", { nested }, ({ nested }) => {
    assert.strictEqual(Json.canonical(reversed(nested)), Json.canonical(nested))
  })

  it.prop("is idempotent, and stands for the value it was made from", { nested }, ({ nested }) => {
    const text = Json.canonical(nested)
    const parsed = JSON.parse(text) as Json.Json

    assert.strictEqual(Json.canonical(parsed), text)
    assert.deepStrictEqual(parsed, JSON.parse(expected(nested)))
    assert.isTrue(text.isWellFormed())
  })

  it.prop("differs for different values", { a: flat, b: flat }, ({ a, b }) => {
    assert.strictEqual(Json.canonical(a) === Json.canonical(b), expected(a) === expected(b))
  })

  it.prop("changes nothing in the value", { nested }, ({ nested }) => {
    const before = JSON.stringify(nested)
    Json.canonical(nested)

    assert.strictEqual(JSON.stringify(nested), before)
  })
})

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

describe("Json.parse", () => {
  it.prop("takes a text of exactly the bound, and refuses one byte more", { nested }, ({ nested }) => {
    const text = Json.canonical(nested)

    assert.deepStrictEqual(Json.parse(text, bytesOf(text)), Result.succeed(JSON.parse(text)))
    assert.deepStrictEqual(
      Json.parse(text, bytesOf(text) - 1),
      Result.fail(`the text is larger than ${bytesOf(text) - 1} bytes`)
    )
  })

  it("counts bytes, not characters", () => {
    assert.isTrue(Result.isSuccess(Json.parse("\"漢\"", 5)))
    assert.isTrue(Result.isFailure(Json.parse("\"漢\"", 4)))
  })

  it("looks at the size first: a large text that is no JSON is too large", () => {
    assert.deepStrictEqual(Json.parse("{".repeat(100), 99), Result.fail("the text is larger than 99 bytes"))
  })

  it.each(["", "{", "secret", "{\"secret\":}", "undefined", "NaN", "[1,]", "'secret'"])(
    "refuses %j without quoting it",
    (text) => {
      assert.deepStrictEqual(Json.parse(text, 100), Result.fail("the text is not JSON"))
    }
  )

  it("makes __proto__ a key like any other", () => {
    const parsed = Result.getOrThrow(Json.parse("{\"__proto__\":{\"admin\":true}}", 100))

    assert.deepStrictEqual(Object.keys(parsed as object), ["__proto__"])
    assert.isUndefined((parsed as { readonly admin?: unknown }).admin)
    assert.isUndefined(({} as { readonly admin?: unknown }).admin)
  })
})

describe("Json.stringify", () => {
  it.prop("gives the text, and the value that it stands for", { nested }, ({ nested }) => {
    const { text, value } = Json.stringify(nested)

    assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
    assert.isTrue(JSON.stringify(value) === text)
    assert.strictEqual(Json.canonical(value), Json.canonical(nested))
    assert.notMatch(text.replaceAll("\\\\", ""), /\\ud[89a-f]/)
  })

  it("keeps the order of the keys, and gives a value without unpaired surrogates back as it is", () => {
    const value = { b: 1, a: "😀" }

    assert.strictEqual(Json.stringify(value).value, value)
    assert.strictEqual(Json.stringify(value).text, "{\"b\":1,\"a\":\"😀\"}")
    assert.deepStrictEqual<unknown>(Json.stringify({ "a\ud800": 1, b: ["\udc00"] }), {
      text: "{\"a\ufffd\":1,\"b\":[\"\ufffd\"]}",
      value: { "a\ufffd": 1, b: ["\ufffd"] }
    })
  })
})
