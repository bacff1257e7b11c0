import { assert, describe, it } from "@effect/vitest"
import type { Message, ModelRequest } from "@mandate/core"
import { Effect } from "effect"
import { AiSdk, ModelFallback } from "../src/index.ts"
import * as Mock from "./support/Mock.ts"
import * as MockStream from "./support/MockStream.ts"
import * as Requests from "./support/Requests.ts"
import * as Ways from "./support/Ways.ts"

const search: ModelRequest.ModelTool = {
  name: "search",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer" } },
    required: ["query"]
  }
}
const request = Requests.make({ tools: [search, { ...search, name: "loose", strict: false }] })

const answered = (toolName: string, input: string) =>
  Mock.answering(Mock.result([{ type: "tool-call", toolCallId: "c1", toolName, input }]))

const argumentsOf = (parts: ReadonlyArray<Message.AssistantPart>) =>
  parts.flatMap((part) => part.type === "tool-call" ? [part.arguments] : [])

const generated = (toolName: string, input: string) =>
  Effect.map(
    Ways.whole(AiSdk.make(answered(toolName, input), { strictSchemas: "openai" }), request),
    ({ parts }) => argumentsOf(parts)
  )

const record: ModelRequest.ModelTool["inputSchema"] = { type: "object", additionalProperties: { type: "string" } }

describe("strictSchemas", () => {
  it.effect("sends tools strictly, but those that are not to be, and leaves the request as it was", () =>
    Effect.gen(function*() {
      const model = Mock.answering()
      const before = JSON.stringify(request)
      yield* Ways.whole(AiSdk.make(model, { strictSchemas: "openai" }), request)
      yield* Ways.whole(AiSdk.make(model), request)

      const [strict, plain] = model.doGenerateCalls.map(({ tools }) => tools)
      assert.deepStrictEqual(strict as unknown, [
        {
          type: "function",
          name: "search",
          strict: true,
          inputSchema: {
            type: "object",
            properties: { query: { type: "string" }, limit: { anyOf: [{ type: "integer" }, { type: "null" }] } },
            required: ["query", "limit"],
            additionalProperties: false
          }
        },
        { type: "function", name: "loose", strict: false, inputSchema: search.inputSchema }
      ])
      assert.deepStrictEqual(plain?.[0] as unknown, {
        type: "function",
        name: "search",
        inputSchema: search.inputSchema
      })
      assert.strictEqual(JSON.stringify(request), before)
    }))

  it.effect("rewrites a schema once, however many requests it is in", () =>
    Effect.gen(function*() {
      const model = Mock.answering()
      const client = AiSdk.make(model, { strictSchemas: true })
      yield* Ways.whole(client, request)
      yield* Ways.whole(client, request)

      const [first, second] = model.doGenerateCalls.map(({ tools }) => tools?.[0])
      assert.strictEqual(
        first?.type === "function" && first.inputSchema,
        second?.type === "function" && second.inputSchema
      )
    }))

  it.effect("gives arguments back in the plain form, and leaves alone what needs no change or is not JSON", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* generated("search", "{\"query\": \"x\", \"limit\": null}"), ["{\"query\":\"x\"}"])
      for (
        const kept of [
          "{ \"query\": \"x\",  \"limit\": 3 }",
          "{\"query\": null}",
          "{\"query\":\"x\",\"limit\":nu",
          "",
          "7"
        ]
      ) {
        assert.deepStrictEqual(yield* generated("search", kept), [kept])
      }
      for (const name of ["loose", "unknown"]) {
        assert.deepStrictEqual(yield* generated(name, "{\"limit\":null}"), ["{\"limit\":null}"])
      }
    }))

  it.effect("gives arguments back in the plain form when streaming, too", () =>
    Effect.gen(function*() {
      const input = "{\"query\":\"x\",\"limit\":null}"
      const { model } = MockStream.streaming([
        { type: "tool-input-start", id: "c1", toolName: "search" },
        { type: "tool-input-delta", id: "c1", delta: input },
        { type: "tool-input-end", id: "c1" },
        { type: "tool-call", toolCallId: "c1", toolName: "search", input },
        MockStream.finish()
      ])
      const { parts } = yield* Ways.streamed(AiSdk.make(model, { strictSchemas: "anthropic" }), request)

      assert.deepStrictEqual(argumentsOf(parts), ["{\"query\":\"x\"}"])
    }))

  it.effect("sends results of tools as objects to Google, and only there", () =>
    Effect.gen(function*() {
      const outputs: ReadonlyArray<readonly [isError: boolean, output: Message.ToolOutput]> = [
        [false, { type: "text", value: "noon" }],
        [false, { type: "json", value: [1] }],
        [false, { type: "json", value: { a: 1 } }],
        [true, { type: "text", value: "no clock" }]
      ]
      const call = (_: unknown, index: number) => ({ id: `c${index}`, name: "search" })
      const messages: ReadonlyArray<Message.Message> = [
        ...request.messages,
        {
          role: "assistant",
          content: outputs.map(call).map((one) => ({ type: "tool-call", arguments: "{}", ...one }))
        },
        {
          role: "tool",
          content: outputs.map(([isError, output], index) => ({
            type: "tool-result",
            ...call(output, index),
            isError,
            output
          }))
        }
      ]
      const sent = Effect.fnUntraced(function*(strictSchemas: AiSdk.Family) {
        const model = Mock.answering()
        yield* Ways.whole(AiSdk.make(model, { strictSchemas }), { ...request, messages })
        const last = model.doGenerateCalls[0]?.prompt.at(-1)
        return last?.role === "tool" ? last.content.map((part) => part.type === "tool-result" && part.output) : []
      })

      assert.deepStrictEqual(yield* sent("google"), [
        { type: "json", value: { result: "noon" } },
        { type: "json", value: { result: [1] } },
        { type: "json", value: { a: 1 } },
        { type: "error-json", value: { error: "no clock" } }
      ])
      assert.deepStrictEqual((yield* sent("openai"))[0], { type: "text", value: "noon" })
    }))

  it("refuses a schema for a list of models if it does for one of them", () => {
    const model = Mock.answering()
    const loose = AiSdk.make(model)
    const list = ModelFallback.make([loose, AiSdk.make(model, { strictSchemas: true })])

    assert.strictEqual(loose.refusesSchema, undefined)
    assert.strictEqual(list.refusesSchema?.(record), "has keys that are not named (a record)")
    assert.strictEqual(list.refusesSchema?.(search.inputSchema), undefined)
    assert.strictEqual(ModelFallback.make([loose, loose]).refusesSchema?.(record), undefined)
  })
})
