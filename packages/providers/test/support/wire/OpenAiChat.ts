/** The chat completions format of OpenAI and its likes. */
import { type Event, type Format, halves, type Json, tokens, type Turn } from "./Wire.ts"

const usage = {
  prompt_tokens: tokens.input,
  completion_tokens: tokens.output,
  total_tokens: tokens.input + tokens.output,
  prompt_tokens_details: { cached_tokens: tokens.cached },
  completion_tokens_details: { reasoning_tokens: tokens.reasoning }
}

const finishOf = (turn: Turn): string =>
  turn.isCut === true ? "length" : turn.calls === undefined ? "stop" : "tool_calls"

const head = { id: "chatcmpl-1", created: 1_790_000_000, model: "m-1" }

const chunk = (delta: Json, finish: string | null = null, more: Json = {}): Event => ({
  data: {
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more
  }
})

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : (content as ReadonlyArray<Json>).map((part) => part["text"] ?? "").join("")

const types = {
  rate: "rate_limit_exceeded",
  quota: "insufficient_quota",
  key: "invalid_api_key",
  request: "invalid_request_error",
  server: "server_error",
  overloaded: "overloaded"
}

export const format: Format = {
  path: /\/chat\/completions$/,
  read: (body) => ({
    isStream: body["stream"] === true,
    tools: (body["tools"] ?? []).map((tool: Json) => tool["function"].name),
    prompt: body["messages"].filter((message: Json) => message["role"] === "user")
      .map((message: Json) => textOf(message["content"])).join("\n"),
    results: body["messages"].filter((message: Json) => message["role"] === "tool")
      .map((message: Json) => textOf(message["content"]))
  }),
  whole: (turn) => ({
    ...head,
    object: "chat.completion",
    choices: [{
      index: 0,
      finish_reason: finishOf(turn),
      message: {
        role: "assistant",
        content: turn.text ?? null,
        ...(turn.reasoning === undefined ? {} : { reasoning_content: turn.reasoning }),
        ...(turn.calls === undefined
          ? {}
          : {
            tool_calls: turn.calls.map((call) => ({
              id: call.id,
              type: "function",
              function: { name: call.name, arguments: call.arguments }
            }))
          })
      }
    }],
    usage
  }),
  events: (turn) => [
    ...(turn.reasoning === undefined ? [] : halves(turn.reasoning).map((piece) => chunk({ reasoning_content: piece }))),
    ...(turn.text === undefined ? [] : halves(turn.text).map((piece) => chunk({ content: piece }))),
    ...(turn.calls ?? []).flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
      ...halves(call.arguments).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
    ]),
    chunk({}, finishOf(turn), { usage }),
    { data: "[DONE]" }
  ],
  refusal: ({ message, type }) => ({ error: { message, type: types[type], code: types[type] } }),
  interruption: (message) => ({ data: { error: { message, type: "server_error", code: "server_error" } } })
}
