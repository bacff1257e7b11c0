/** The messages format of Anthropic. */
import { type Event, type Format, halves, type Json, parsed, tokens, type Turn } from "./Wire.ts"

const usage = {
  input_tokens: tokens.input - tokens.cached,
  output_tokens: tokens.output,
  cache_read_input_tokens: tokens.cached,
  cache_creation_input_tokens: 0
}

const stopOf = (turn: Turn): string =>
  turn.isCut === true ? "max_tokens" : turn.calls === undefined ? "end_turn" : "tool_use"

const message = (more: Json): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m-1",
  stop_sequence: null,
  usage,
  ...more
})

const event = (type: string, more: Json): Event => ({ event: type, data: { type, ...more } })

const block = (index: number, start: Json, deltas: ReadonlyArray<Json>): ReadonlyArray<Event> => [
  event("content_block_start", { index, content_block: start }),
  ...deltas.map((delta) => event("content_block_delta", { index, delta })),
  event("content_block_stop", { index })
]

const blocks = (turn: Turn): ReadonlyArray<Event> => {
  const made: Array<readonly [start: Json, deltas: ReadonlyArray<Json>]> = []
  if (turn.reasoning !== undefined) {
    made.push([{ type: "thinking", thinking: "", signature: "" }, [
      ...halves(turn.reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "signed" }
    ]])
  }
  if (turn.text !== undefined) {
    made.push([{ type: "text", text: "" }, halves(turn.text).map((text) => ({ type: "text_delta", text }))])
  }
  for (const call of turn.calls ?? []) {
    made.push([
      { type: "tool_use", id: call.id, name: call.name, input: {} },
      halves(call.arguments).map((piece) => ({ type: "input_json_delta", partial_json: piece }))
    ])
  }
  return made.flatMap(([start, deltas], index) => block(index, start, deltas))
}

const parts = (body: Json, type: string): ReadonlyArray<Json> =>
  body["messages"].filter((message: Json) => message["role"] === "user")
    .flatMap((message: Json) => message["content"]).filter((part: Json) => part["type"] === type)

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : (content as ReadonlyArray<Json>).map((part) => part["text"] ?? "").join("")

const types = {
  rate: "rate_limit_error",
  quota: "billing_error",
  key: "authentication_error",
  request: "invalid_request_error",
  server: "api_error",
  overloaded: "overloaded_error"
}

export const format: Format = {
  path: /\/messages$/,
  read: (body) => ({
    isStream: body["stream"] === true,
    tools: (body["tools"] ?? []).map((tool: Json) => tool["name"]),
    prompt: parts(body, "text").map((part) => part["text"]).join("\n"),
    results: parts(body, "tool_result").map((part) => textOf(part["content"]))
  }),
  whole: (turn) =>
    message({
      stop_reason: stopOf(turn),
      content: [
        ...(turn.reasoning === undefined ? [] : [{ type: "thinking", thinking: turn.reasoning, signature: "signed" }]),
        ...(turn.text === undefined ? [] : [{ type: "text", text: turn.text }]),
        ...(turn.calls ?? []).map((call) => ({
          type: "tool_use",
          id: call.id,
          name: call.name,
          input: parsed(call.arguments)
        }))
      ]
    }),
  events: (turn) => [
    event("message_start", { message: message({ content: [], stop_reason: null }) }),
    ...blocks(turn),
    event("message_delta", {
      delta: { stop_reason: stopOf(turn), stop_sequence: null },
      usage: { output_tokens: tokens.output }
    }),
    event("message_stop", {})
  ],
  refusal: ({ message, type }) => ({ type: "error", error: { type: types[type], message } }),
  interruption: (message) => event("error", { error: { type: "overloaded_error", message } })
}
