import { assert, describe, it } from "@effect/vitest"
import { ModelResponse } from "@mandate/core"
import { Schema } from "effect"
import * as PlainResponse from "../../src/loop/PlainResponse.ts"

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 1, reasoning: 0 } }
const call = { type: "tool-call", id: "a", name: "look", arguments: "{}" }
const plain = { parts: [{ type: "text", text: "Hi" }, call], finishReason: "tool-calls", usage }

const quarter = "a".repeat(ModelResponse.maxBytes / 4)

/** Values that only the schema may read, or refuse. */
const others: ReadonlyArray<readonly [what: string, given: unknown]> = [
  ["nothing", undefined],
  ["a text", "Hi"],
  [
    "a class",
    new (class {
      parts = []
      finishReason = "stop"
      usage = usage
    })()
  ],
  ["another key", { ...plain, providerMetadata: {} }],
  ["an unknown reason", { ...plain, finishReason: "done" }],
  ["a reason that names an object's own", { ...plain, finishReason: "constructor" }],
  ["no usage", { parts: [], finishReason: "stop" }],
  ["a negative count", { ...plain, usage: { ...usage, outputTokens: { total: -1 } } }],
  ["a count that is no number", { ...plain, usage: { ...usage, outputTokens: { total: undefined } } }],
  ["an unknown count", { ...plain, usage: { ...usage, outputTokens: { made: 1 } } }],
  ["parts that are no list", { ...plain, parts: { length: 0 } }],
  ["a part that is undefined", { ...plain, parts: [undefined, call] }],
  ["a part with metadata", { ...plain, parts: [{ ...call, providerMetadata: {} }] }],
  ["a call of the provider", { ...plain, parts: [{ ...call, providerExecuted: true }] }],
  ["a call without arguments", { ...plain, parts: [{ type: "tool-call", id: "a", name: "look" }] }],
  ["a file", { ...plain, parts: [{ type: "file", mediaType: "a/b", data: { type: "base64", base64: "" } }] }],
  ["half of a surrogate pair", { ...plain, parts: [{ type: "text", text: "\ud800" }] }],
  ["too many parts", { ...plain, parts: Array.from({ length: ModelResponse.maxParts + 1 }, () => call) }],
  ["too much text", { ...plain, parts: Array.from({ length: 5 }, () => ({ type: "text", text: quarter })) }]
]

describe("the fast way to read a response", () => {
  it.prop(
    "gives what the schema takes, and a copy of it",
    { response: ModelResponse.ModelResponse },
    ({ response }) => {
      const read = PlainResponse.read(response)

      if (read === undefined) return
      assert.deepStrictEqual<unknown>(read, JSON.parse(JSON.stringify(response)))
      assert.isTrue(Schema.is(ModelResponse.ModelResponse)(read))
    }
  )

  it("takes texts and calls with counted usage", () => {
    assert.deepStrictEqual<unknown>(PlainResponse.read(plain), plain)
    assert.notStrictEqual<unknown>(PlainResponse.read(plain), plain)
  })

  it.each(others)("leaves %s to the schema", (_, given) => {
    assert.isUndefined(PlainResponse.read(given))
  })

  it("reads each property once", () => {
    let reads = 0
    const counting = {
      ...plain,
      parts: [{
        type: "text",
        get text() {
          return `${++reads}`
        }
      }]
    }

    assert.deepStrictEqual<unknown>(PlainResponse.read(counting)?.parts, [{ type: "text", text: "1" }])
    assert.strictEqual(reads, 1)
  })
})
