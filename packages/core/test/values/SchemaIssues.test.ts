import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import * as SchemaIssues from "../../src/values/SchemaIssues.ts"

const secret = "s3cr3t"

const linesOf = (
  schema: Schema.Codec<any, any>,
  value: unknown,
  isKnown?: (key: string) => boolean
): ReadonlyArray<string> => {
  const result = Effect.runSync(
    Effect.result(Schema.decodeUnknownEffect(Schema.toCodecJson(schema), { errors: "all" })(value))
  )
  return result._tag === "Failure" ? SchemaIssues.lines(result.failure, isKnown) : assert.fail("the value was taken")
}

const Even = Schema.makeFilter((n: number) => n % 2 === 0 || `the number ${n} is odd`)
const Clean = Schema.makeFilter((text: string) => !text.includes("s3cr3t") || `the text "${text}" is dirty`)
const Loud = Schema.String.pipe(Schema.decodeTo(Schema.String, {
  decode: SchemaGetter.transformEffect((text: string) =>
    Effect.fail(new SchemaIssue.InvalidValue({ message: `"${text}" is too loud` }))
  ),
  encode: SchemaGetter.passthrough()
}))

// Schemas of every kind, each with a value that does not fit and holds the secret.
const quoting: { readonly [name: string]: { readonly schema: Schema.Codec<any, any>; readonly value: unknown } } = {
  "a number": { schema: Schema.Number, value: secret },
  "a boolean": { schema: Schema.Boolean, value: secret },
  "an array": { schema: Schema.Array(Schema.Number), value: [1, secret, [secret]] },
  "an object": { schema: Schema.Struct({ a: Schema.Number }), value: { a: { [secret]: secret } } },
  "no object": { schema: Schema.Struct({ a: Schema.Number }), value: secret },
  "a literal": { schema: Schema.Literals(["a", "b"]), value: secret },
  "a union": { schema: Schema.Union([Schema.Number, Schema.Struct({ a: Schema.Number })]), value: { a: secret } },
  "a tagged union": {
    schema: Schema.Union([Schema.TaggedStruct("A", { a: Schema.Number }), Schema.TaggedStruct("B", {})]),
    value: { _tag: "A", a: secret }
  },
  "an unknown tag": {
    schema: Schema.Union([Schema.TaggedStruct("A", {}), Schema.TaggedStruct("B", {})]),
    value: { _tag: secret }
  },
  "a pattern": { schema: Schema.String.check(Schema.isPattern(/^\d+$/)), value: secret },
  "a length": { schema: Schema.String.check(Schema.isMaxLength(2)), value: secret },
  "a check of its own": { schema: Schema.String.check(Clean), value: secret },
  "a check of a number": { schema: Schema.Number.check(Even), value: 1234567891 },
  "a template": { schema: Schema.TemplateLiteral(["id-", Schema.Number]), value: secret },
  "a date": { schema: Schema.Date, value: secret },
  "a moment": { schema: Schema.DateTimeUtc, value: secret },
  "a bigint": { schema: Schema.BigInt, value: secret },
  "a finite number in text": { schema: Schema.FiniteFromString, value: secret },
  "a link": { schema: Schema.URL, value: secret },
  "JSON in text": { schema: Schema.fromJsonString(Schema.Struct({ a: Schema.Number })), value: `{"a": ${secret}}` },
  "a field of JSON in text": {
    schema: Schema.fromJsonString(Schema.Struct({ a: Schema.Number })),
    value: JSON.stringify({ a: secret })
  },
  "bytes": { schema: Schema.Uint8Array, value: `${secret}!` },
  "a transformation of its own": { schema: Loud, value: secret },
  "a tuple that is too long": { schema: Schema.Tuple([Schema.Number]), value: [1, secret] },
  "a brand": {
    schema: Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9]$/)), Schema.brand("Digit")),
    value: secret
  },
  "a never": { schema: Schema.Struct({ a: Schema.Never }), value: { a: secret } }
}

describe("SchemaIssues.lines", () => {
  for (const [name, { schema, value }] of Object.entries(quoting)) {
    it(`does not quote the value where ${name} was expected`, () => {
      const lines = linesOf(schema, value)

      assert.isNotEmpty(lines)
      assert.notInclude(lines.join("\n"), secret)
      assert.notInclude(lines.join("\n"), "1234567891")
    })
  }

  it("says * for the keys that are not known, which are data as values are", () => {
    const schema = Schema.Struct({ known: Schema.Record(Schema.String, Schema.Struct({ a: Schema.Finite })) })
    const value = { known: { [secret]: { a: "x" }, "7": { a: "x" } } }
    const known = (key: string) => key === "known" || key === "a"

    assert.deepStrictEqual(linesOf(schema, value, known), ["known.*.a: Expected number", "known.*.a: Expected number"])
  })

  it("names the path of each issue and what was expected there", () => {
    const schema = Schema.Struct({
      name: Schema.String,
      tags: Schema.Array(Schema.Struct({ level: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })) }))
    })

    assert.deepStrictEqual(linesOf(schema, { tags: [{ level: 2 }, { level: "high" }, { level: 9 }] }), [
      "name: Missing key",
      "tags[1].level: Expected number",
      "tags[2].level: Expected a value between 1 and 3"
    ])
    assert.deepStrictEqual(linesOf(schema, 5), ["the value: Expected object"])
  })

  it("lists 16 issues, and counts the others", () => {
    const schema = Schema.Array(Schema.Finite)
    const lines = linesOf(schema, Array.from({ length: 20 }, () => "x"))

    assert.lengthOf(lines, 17)
    assert.strictEqual(lines[15], "[15]: Expected number")
    assert.strictEqual(lines[16], "and 4 more")
    assert.lengthOf(linesOf(schema, Array.from({ length: 16 }, () => "x")), 16)
  })

  it.prop(
    "gives lines of at most 200 bytes each, whole characters, however long the names are",
    {
      name: Schema.Literals(["a", "漢", "😀", "\n", "\u0001"]),
      length: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 }))
    },
    ({ length, name }) => {
      const key = name.repeat(length)
      const lines = linesOf(Schema.Struct({ [key]: Schema.Struct({ [key]: Schema.Number }) }), {
        [key]: { [key]: secret }
      })

      assert.lengthOf(lines, 1)
      for (const line of lines) {
        assert.isAtMost(new TextEncoder().encode(line).length, 200)
        assert.isTrue(line.isWellFormed())
      }
    }
  )

  it("keeps an issue on one line", () => {
    for (const { schema, value } of Object.values(quoting)) {
      for (const line of linesOf(schema, value)) assert.notInclude(line, "\n")
    }
    const named = linesOf(Schema.Struct({ "two\nlines": Schema.Number }), { "two\nlines": "x" })
    assert.notInclude(named.join(""), "\n")
  })
})
