import type { LanguageModelV4Content, LanguageModelV4FinishReason } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@mandate/core"
import { ModelResponse } from "@mandate/core"
import { Result, Schema } from "effect"
import * as Prompt from "../src/v4/Prompt.ts"
import * as Response from "../src/v4/Response.ts"
import * as Mock from "./support/Mock.ts"

const partsOf = (...content: ReadonlyArray<LanguageModelV4Content>): ReadonlyArray<Message.AssistantPart> =>
  Result.getOrThrow(Response.make(Mock.result(content))).parts

const reasonOf = (unified: string, raw?: string) =>
  Result.getOrThrow(
    Response.make(Mock.result([], { finishReason: { unified, raw } as LanguageModelV4FinishReason }))
  ).finishReason

const problemOf = (...content: ReadonlyArray<unknown>) =>
  Result.getOrThrow(Result.flip(Response.make(Mock.result(content as ReadonlyArray<LanguageModelV4Content>))))

describe("Response", () => {
  it("keeps every type of content that has a place in a message", () => {
    const metadata = { acme: { id: "1" } }
    const parts = partsOf(
      { type: "reasoning", text: "hm", providerMetadata: metadata },
      { type: "text", text: "Hi", providerMetadata: metadata },
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([0, 1, 2]) } },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AAEC" } },
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://files.test/a.png") } },
      { type: "tool-call", toolCallId: "c1", toolName: "look", input: "{ not json", providerMetadata: metadata },
      { type: "tool-call", toolCallId: "c2", toolName: "web", input: "{}", providerExecuted: true, dynamic: true },
      { type: "tool-result", toolCallId: "c2", toolName: "web", result: "half", preliminary: true },
      { type: "tool-result", toolCallId: "c2", toolName: "web", result: { pages: 3 }, providerMetadata: metadata },
      { type: "tool-result", toolCallId: "c3", toolName: "web", result: "unavailable", isError: true },
      { type: "source", sourceType: "url", id: "s1", url: "https://source.test", title: "A page" },
      { type: "source", sourceType: "document", id: "s2", mediaType: "application/pdf", title: "B", filename: "b.pdf" }
    )

    assert.deepStrictEqual(parts, [
      { type: "reasoning", text: "hm", providerMetadata: metadata },
      { type: "text", text: "Hi", providerMetadata: metadata },
      { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAEC" } },
      { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAEC" } },
      { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/a.png" } },
      { type: "tool-call", id: "c1", name: "look", arguments: "{ not json", providerMetadata: metadata },
      { type: "tool-call", id: "c2", name: "web", arguments: "{}", providerExecuted: true },
      {
        type: "tool-result",
        id: "c2",
        name: "web",
        output: { type: "json", value: { pages: 3 } },
        isError: false,
        providerExecuted: true,
        providerMetadata: metadata
      },
      {
        type: "tool-result",
        id: "c3",
        name: "web",
        output: { type: "text", value: "unavailable" },
        isError: true,
        providerExecuted: true
      },
      { type: "source", id: "s1", url: "https://source.test", title: "A page" },
      { type: "source", id: "s2", mediaType: "application/pdf", title: "B", filename: "b.pdf" }
    ])
  })

  it("brings a provider's own parts and the files of its reasoning back unchanged", () => {
    const metadata = { openai: { itemId: "cmp_1", encrypted: "e" } }
    const parts = partsOf(
      { type: "custom", kind: "openai.compaction", providerMetadata: metadata },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AAEC" } },
      {
        type: "text",
        text: "Cited",
        citations: [{ source: { type: "source", sourceType: "url", id: "s1", url: "https://source.test" } }]
      }
    )
    const [message] = Prompt.make([{ role: "assistant", content: [...parts] }]).messages

    assert.strictEqual(parts[0]?.type, "reasoning")
    assert.deepStrictEqual(parts[2]?.providerMetadata, {
      mandate: { citations: [{ source: { type: "source", sourceType: "url", id: "s1", url: "https://source.test" } }] }
    })
    assert.deepStrictEqual(message?.content as unknown, [
      { type: "custom", kind: "openai.compaction", providerOptions: metadata },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AAEC" } },
      { type: "text", text: "Cited" }
    ])
  })

  it("keeps metadata as JSON", () => {
    const providerMetadata = { acme: { gone: undefined, at: new Date(0), list: [1, undefined] } } as never
    const response = Result.getOrThrow(
      Response.make(Mock.result([{ type: "text", text: "", providerMetadata }], { providerMetadata }))
    )

    const kept = { acme: { at: "1970-01-01T00:00:00.000Z", list: [1, null] } }
    assert.deepStrictEqual(response.providerMetadata, kept)
    assert.deepStrictEqual(response.parts, [{ type: "text", text: "", providerMetadata: kept }])
    assert.isTrue(Schema.is(ModelResponse.ModelResponse)(response))
  })

  it("takes arguments that a client parsed or left out as text", () => {
    const call = { type: "tool-call", toolCallId: "c1", toolName: "look" } as const
    const parts = partsOf({ ...call, input: { a: 1 } } as never, { ...call, input: undefined } as never)

    assert.deepStrictEqual(parts.map((part) => part.type === "tool-call" ? part.arguments : undefined), [
      "{\"a\":1}",
      ""
    ])
  })

  it("maps finish reasons, the pause of Anthropic among them", () => {
    for (
      const reason of ["stop", "tool-calls", "length", "content-filter", "error", "interrupted", "other"] as const
    ) {
      assert.strictEqual(reasonOf(reason, reason), reason)
    }
    assert.strictEqual(reasonOf("stop", "pause_turn"), "pause")
    assert.strictEqual(reasonOf("brand-new"), "other")
  })

  it("refuses a response with nothing in it that no provider ended", () => {
    const made = Response.make(Mock.result([], { finishReason: { unified: "other", raw: undefined } }))

    assert.strictEqual(Result.getOrThrow(Result.flip(made)).reason, "invalid-response")
  })

  it("leaves out counts that are unknown or are no counts", () => {
    const usage = {
      inputTokens: { total: 3.4, noCache: 1, cacheRead: undefined, cacheWrite: -1 },
      outputTokens: { total: Number.NaN, text: 1, reasoning: null as never }
    }
    const response = Result.getOrThrow(Response.make(Mock.result([], { usage })))
    const without = Result.getOrThrow(Response.make(Mock.result([], { usage: undefined as never })))

    assert.deepStrictEqual(response.usage, { inputTokens: { total: 3 }, outputTokens: {} })
    assert.deepStrictEqual(without.usage, { inputTokens: {}, outputTokens: {} })
  })

  it("fails as unsupported for content that has no place in a message", () => {
    const approval = problemOf({ type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" })
    const unknown = problemOf({ type: "text", text: "Hi" }, { type: "hologram" })

    assert.strictEqual(approval.reason, "unsupported")
    assert.strictEqual(unknown.reason, "unsupported")
  })

  it("fails as an invalid response for a result that is not what it should be", () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    const wrong: ReadonlyArray<unknown> = [
      null,
      { type: "text" },
      { type: "text", text: 7 },
      { type: "tool-call", toolCallId: "c1", input: "{}" },
      { type: "file", mediaType: "image/png" },
      { type: "text", text: "Hi", providerMetadata: { acme: circular } },
      { type: "text", text: "Hi", providerMetadata: { acme: { n: 1n } } }
    ]

    for (const content of wrong) assert.strictEqual(problemOf(content).reason, "invalid-response")
    for (const result of [undefined, {}, Mock.result([], { finishReason: undefined as never })]) {
      assert.isTrue(Result.isFailure(Response.make(result as never)))
    }
  })
})
