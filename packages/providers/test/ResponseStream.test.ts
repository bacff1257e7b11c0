import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as MockStream from "./support/MockStream.ts"

const text = (id: string, ...deltas: ReadonlyArray<string>) => [
  { type: "text-start", id },
  ...deltas.map((delta) => ({ type: "text-delta", id, delta })),
  { type: "text-end", id }
]
const input = (id: string, toolName: string, ...deltas: ReadonlyArray<string>) => [
  { type: "tool-input-start", id, toolName },
  ...deltas.map((delta) => ({ type: "tool-input-delta", id, delta })),
  { type: "tool-input-end", id }
]
const call = (toolCallId: string, toolName: string, args: string, more = {}) => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: args,
  ...more
})

describe("ResponseStream", () => {
  it.effect("gives every type of part, whole and in its place", () =>
    Effect.gen(function*() {
      const metadata = { acme: { id: "1" } }
      const all = yield* MockStream.collect(MockStream.streaming([
        { type: "stream-start", warnings: [] },
        { type: "response-metadata", id: "r", modelId: "m" },
        { type: "ping" },
        { type: "raw", rawValue: { a: 1 } },
        { type: "reasoning-start", id: "1", providerMetadata: metadata },
        { type: "reasoning-delta", id: "1", delta: "Hm" },
        { type: "reasoning-end", id: "1", providerMetadata: { acme: { signature: "s" } } },
        ...text("1", "Hi ", "there"),
        { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([0, 1, 2]) } },
        { type: "source", sourceType: "url", id: "s1", url: "https://source.test", title: "A page" },
        { type: "custom", kind: "acme.thing", providerMetadata: metadata },
        ...input("c1", "look", "{\"a\"", ":1}"),
        call("c1", "look", "{\"a\":1}", { providerMetadata: metadata }),
        call("c2", "web", "{}", { providerExecuted: true }),
        { type: "tool-result", toolCallId: "c2", toolName: "web", result: "half", preliminary: true },
        { type: "tool-result", toolCallId: "c2", toolName: "web", result: { pages: 3 } },
        MockStream.finish({ providerMetadata: { acme: { cost: 1 } } })
      ]))

      assert.deepStrictEqual(all, [
        { type: "reasoning-delta", delta: "Hm" },
        {
          type: "part",
          part: { type: "reasoning", text: "Hm", providerMetadata: { acme: { id: "1", signature: "s" } } }
        },
        { type: "text-delta", delta: "Hi " },
        { type: "text-delta", delta: "there" },
        { type: "part", part: { type: "text", text: "Hi there" } },
        { type: "part", part: { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAEC" } } },
        { type: "part", part: { type: "source", id: "s1", url: "https://source.test", title: "A page" } },
        {
          type: "part",
          part: { type: "reasoning", text: "", providerMetadata: { ...metadata, mandate: { custom: "acme.thing" } } }
        },
        { type: "tool-input-delta", id: "c1", name: "look", delta: "{\"a\"" },
        { type: "tool-input-delta", id: "c1", name: "look", delta: ":1}" },
        {
          type: "part",
          part: { type: "tool-call", id: "c1", name: "look", arguments: "{\"a\":1}", providerMetadata: metadata }
        },
        { type: "part", part: { type: "tool-call", id: "c2", name: "web", arguments: "{}", providerExecuted: true } },
        {
          type: "part",
          part: {
            type: "tool-result",
            id: "c2",
            name: "web",
            output: { type: "json", value: { pages: 3 } },
            isError: false,
            providerExecuted: true
          }
        },
        {
          type: "finish",
          finishReason: "stop",
          usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
          providerMetadata: { acme: { cost: 1 } }
        }
      ])
    }))

  it.effect("keeps the order in which parts began, however they end", () =>
    Effect.gen(function*() {
      const all = yield* MockStream.pieces(
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "first" },
        { type: "tool-input-start", id: "c1", toolName: "look" },
        { type: "tool-input-start", id: "c2", toolName: "look" },
        call("c2", "look", "2"),
        { type: "source", sourceType: "url", id: "s1", url: "https://source.test" },
        call("c1", "look", "1"),
        { type: "text-end", id: "0" }
      )

      assert.deepStrictEqual(
        MockStream.partsOf(all).map((part) => part.type === "tool-call" ? part.id : part.type),
        ["text", "c1", "c2", "source"]
      )
    }))

  it.effect("keeps blocks apart whose ids are the same, and those that never end", () =>
    Effect.gen(function*() {
      const all = yield* MockStream.pieces(
        ...text("0", "a"),
        ...text("0", "b"),
        { type: "reasoning-start", id: "0" },
        { type: "reasoning-delta", id: "0", delta: "hm" },
        { type: "text-start", id: "0" },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "c" }
      )

      assert.deepStrictEqual(
        MockStream.partsOf(all).map((part) => "text" in part ? part.text : part.type),
        ["a", "b", "hm", "c"]
      )
    }))

  it.effect("keeps citations, and reasoning that is a signature alone", () =>
    Effect.gen(function*() {
      const citations = [{ type: "url", url: "https://source.test" }]
      const all = yield* MockStream.pieces(
        { type: "reasoning-start", id: "r", providerMetadata: { acme: { sealed: "x" } } },
        { type: "reasoning-end", id: "r" },
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "cited" },
        { type: "text-end", id: "t", citations }
      )

      assert.deepStrictEqual(MockStream.partsOf(all), [
        { type: "reasoning", text: "", providerMetadata: { acme: { sealed: "x" } } },
        { type: "text", text: "cited", providerMetadata: { mandate: { citations } } } as never
      ])
    }))

  it.effect("gives arguments that are not JSON as they are", () =>
    Effect.gen(function*() {
      const all = yield* MockStream.pieces(...input("c1", "look", "{\"a\": "), call("c1", "look", "{\"a\": "))

      assert.deepStrictEqual(MockStream.partsOf(all), [
        { type: "tool-call", id: "c1", name: "look", arguments: "{\"a\": " }
      ])
    }))

  it.effect("leaves out a call that was cut at the limit", () =>
    Effect.gen(function*() {
      const cut = MockStream.finish({ finishReason: { unified: "length", raw: "length" } })
      const all = yield* MockStream.collect(
        MockStream.streaming([...text("0", "a"), { type: "tool-input-start", id: "c1", toolName: "look" }, cut])
      )

      assert.deepInclude(all.at(-1), { type: "finish", finishReason: "length" })
      assert.deepStrictEqual(MockStream.partsOf(all), [{ type: "text", text: "a" }])
    }))
})
