import { assert, describe, it } from "@effect/vitest"
import { Message } from "@mandate/core"
import { Schema } from "effect"
import * as Prompt from "../src/v4/Prompt.ts"

const promptOf = (...messages: ReadonlyArray<Message.Message>) => Prompt.make(messages).messages

const assistant = (...content: ReadonlyArray<Message.AssistantPart>): Message.Message => ({
  role: "assistant",
  content
})

const toolCall = (text: string, more: Partial<Message.ToolCallPart> = {}): Message.ToolCallPart => ({
  type: "tool-call",
  id: "c1",
  name: "search",
  arguments: text,
  ...more
})

const toolResult = (id: string, more: Partial<Message.ToolResultPart> = {}): Message.ToolResultPart => ({
  type: "tool-result",
  id,
  name: "search",
  output: { type: "text", value: "found" },
  isError: false,
  ...more
})

const inputOf = (part: Message.ToolCallPart): unknown => {
  const [message] = promptOf(assistant(part))
  const [first] = message?.role === "assistant" ? message.content : []
  return first?.type === "tool-call" ? first.input : undefined
}

describe("Prompt", () => {
  it("sends system and user messages with files as base64 and behind URLs", () => {
    const prompt = promptOf(
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look", providerMetadata: { anthropic: { cacheControl: { type: "ephemeral" } } } },
          { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "base64", base64: "AAEC" } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/a.png" } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: "gs://Bucket/../a b" } }
        ]
      }
    )

    assert.deepStrictEqual(prompt, [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
          { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "data", data: "AAEC" } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://files.test/a.png") } },
          {
            type: "file",
            mediaType: "image/png",
            data: { type: "url", url: new URL("gs://Bucket/../a b"), originalUrl: "gs://Bucket/../a b" }
          }
        ]
      }
    ])
  })

  it("sends every part of an assistant message but sources and empty text, metadata unchanged", () => {
    const signature = { anthropic: { signature: "sig", blocks: [1, null] } }
    const prompt = promptOf(assistant(
      { type: "reasoning", text: "hm", providerMetadata: signature },
      { type: "text", text: "" },
      { type: "text", text: "Searching" },
      { type: "source", id: "s1", url: "https://source.test" },
      { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAEC" } },
      toolCall("{\"q\":1}", { providerExecuted: true, providerMetadata: { openai: { itemId: "i1" } } }),
      toolResult("c1", { providerExecuted: true, output: { type: "json", value: [{ url: "u" }] } })
    ))

    assert.deepStrictEqual(prompt, [{
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: signature },
        { type: "text", text: "Searching" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "AAEC" } },
        {
          type: "tool-call",
          toolCallId: "c1",
          toolName: "search",
          input: { q: 1 },
          providerExecuted: true,
          providerOptions: { openai: { itemId: "i1" } }
        },
        { type: "tool-result", toolCallId: "c1", toolName: "search", output: { type: "json", value: [{ url: "u" }] } }
      ]
    }])
  })

  it("leaves out an assistant message that has nothing to send", () => {
    const prompt = promptOf(assistant({ type: "source", id: "s1" }, { type: "text", text: "" }))

    assert.deepStrictEqual(prompt, [])
  })

  it("sends text and JSON results, and failed ones as errors, in one tool message a round", () => {
    const prompt = promptOf(
      { role: "tool", content: [toolResult("c1"), toolResult("c2", { isError: true })] },
      { role: "tool", content: [toolResult("c3", { output: { type: "json", value: null } })] },
      { role: "tool", content: [toolResult("c4", { output: { type: "json", value: { a: 1 } }, isError: true })] }
    )

    const part = { type: "tool-result", toolName: "search" }
    assert.deepStrictEqual(prompt as Array<unknown>, [{
      role: "tool",
      content: [
        { ...part, toolCallId: "c1", output: { type: "text", value: "found" } },
        { ...part, toolCallId: "c2", output: { type: "error-text", value: "found" } },
        { ...part, toolCallId: "c3", output: { type: "json", value: null } },
        { ...part, toolCallId: "c4", output: { type: "error-json", value: { a: 1 } } }
      ]
    }])
  })

  it("sends arguments as JSON, and {} for what is not a JSON object", () => {
    assert.deepStrictEqual(inputOf(toolCall("{\"__proto__\":1}")), JSON.parse("{\"__proto__\":1}"))
    for (const text of ["", " ", "{\"city\": 42", "[1]", "\"text\"", "null", "7"]) {
      assert.deepStrictEqual(inputOf(toolCall(text)), {}, text)
    }
    assert.strictEqual(inputOf(toolCall("\"patch\"", { providerExecuted: true })), "patch")
    assert.deepStrictEqual(inputOf(toolCall("patch", { providerExecuted: true })), {})
  })

  it.prop("sends the arguments of a call as they are when they are a JSON object", [
    Schema.Record(Schema.String, Schema.Json)
  ], ([value]) => {
    const text = JSON.stringify(value)
    assert.deepStrictEqual(inputOf(toolCall(text)), JSON.parse(text))
  })

  it("converts a message once and gives each call a list and messages of its own", () => {
    const message = Message.userText("hi")
    const [first] = promptOf(message, { role: "tool", content: [toolResult("c1")] })
    if (first?.role !== "user") return assert.fail("not a user message")
    const [part] = first.content
    first.content.push({ type: "text", text: "added by middleware" })

    const [second] = promptOf(message)

    assert.strictEqual(second?.role === "user" ? second.content[0] : undefined, part)
    assert.deepStrictEqual(second, { role: "user", content: [{ type: "text", text: "hi" }] })
  })

  it("does not add the results of another message to a converted one", () => {
    const first: Message.Message = { role: "tool", content: [toolResult("c1")] }
    promptOf(first, { role: "tool", content: [toolResult("c2")] })

    const [message] = promptOf(first)

    assert.strictEqual(message?.content.length, 1)
  })

  it("sends the texts and files that a tool gave back, and names their URLs", () => {
    const value = [
      { type: "text", text: "Look", providerMetadata: { acme: { a: 1 } } },
      { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "base64", base64: "AAEC" } },
      { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/a.png" } }
    ] as const
    const { messages, urls } = Prompt.make([
      { role: "tool", content: [toolResult("c1", { output: { type: "content", value } })] }
    ])

    assert.deepStrictEqual(messages[0]?.content, [{
      type: "tool-result",
      toolCallId: "c1",
      toolName: "search",
      output: {
        type: "content",
        value: [
          { type: "text", text: "Look", providerOptions: { acme: { a: 1 } } },
          { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "data", data: "AAEC" } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://files.test/a.png") } }
        ]
      }
    }] as never)
    assert.deepStrictEqual(urls, [value[2]])
  })

  it("sends a call that was not allowed to run as such, with its reason if it has one", () => {
    const outputs = ["Too dear", ""].map((why) => {
      const [message] = promptOf({
        role: "tool",
        content: [toolResult("c1", { output: { type: "denied", value: why }, isError: true })]
      })
      return message?.role === "tool" && message.content[0]?.type === "tool-result"
        ? message.content[0].output
        : undefined
    })

    assert.deepStrictEqual(outputs, [{ type: "execution-denied", reason: "Too dear" }, { type: "execution-denied" }])
  })
})
