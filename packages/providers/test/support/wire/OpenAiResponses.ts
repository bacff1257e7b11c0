/** The responses format of OpenAI. */
import * as OpenAiChat from "./OpenAiChat.ts"
import { type Event, type Format, halves, type Json, tokens, type Turn } from "./Wire.ts"

const usage = {
  input_tokens: tokens.input,
  input_tokens_details: { cached_tokens: tokens.cached },
  output_tokens: tokens.output,
  output_tokens_details: { reasoning_tokens: tokens.reasoning },
  total_tokens: tokens.input + tokens.output
}

const itemsOf = (turn: Turn): ReadonlyArray<Json> => [
  ...(turn.reasoning === undefined
    ? []
    : [{
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: turn.reasoning }],
      encrypted_content: "sealed"
    }]),
  ...(turn.text === undefined
    ? []
    : [{
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: turn.text, annotations: [] }]
    }]),
  ...(turn.calls ?? []).map((call, index) => ({
    type: "function_call",
    id: `fc_${index}`,
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
    status: "completed"
  }))
]

const response = (turn: Turn): Json => ({
  id: "resp_1",
  object: "response",
  created_at: 1_790_000_000,
  status: turn.isCut === true ? "incomplete" : "completed",
  model: "m-1",
  output: itemsOf(turn),
  usage,
  error: null,
  incomplete_details: turn.isCut === true ? { reason: "max_output_tokens" } : null,
  service_tier: "default"
})

const event = (type: string, more: Json): Event => ({ event: type, data: { type, ...more } })

const itemEvents = (item: Json, index: number): ReadonlyArray<Event> => {
  const at = { item_id: item["id"], output_index: index }
  const added = (begun: Json) => event("response.output_item.added", { output_index: index, item: begun })
  const done = event("response.output_item.done", { output_index: index, item })
  switch (item["type"]) {
    case "reasoning":
      return [
        added({ ...item, summary: [], encrypted_content: null }),
        event("response.reasoning_summary_part.added", { ...at, summary_index: 0 }),
        ...halves(item["summary"][0].text).map((delta) =>
          event("response.reasoning_summary_text.delta", { ...at, summary_index: 0, delta })
        ),
        event("response.reasoning_summary_part.done", { ...at, summary_index: 0 }),
        done
      ]
    case "message":
      return [
        added({ ...item, content: [], status: "in_progress" }),
        ...halves(item["content"][0].text).map((delta) =>
          event("response.output_text.delta", { ...at, content_index: 0, delta })
        ),
        done
      ]
    default:
      return [
        added({ ...item, arguments: "", status: "in_progress" }),
        ...halves(item["arguments"]).map((delta) => event("response.function_call_arguments.delta", { ...at, delta })),
        done
      ]
  }
}

const results = (body: Json): ReadonlyArray<Json> =>
  body["input"].filter((item: Json) => item["type"] === "function_call_output")

export const format: Format = {
  path: /\/responses$/,
  read: (body) => ({
    isStream: body["stream"] === true,
    tools: (body["tools"] ?? []).map((tool: Json) => tool["name"]),
    prompt: body["input"].filter((item: Json) => item["role"] === "user")
      .flatMap((item: Json) => item["content"]).map((part: Json) => part["text"] ?? "").join("\n"),
    results: results(body).map((item) => item["output"])
  }),
  whole: response,
  events: (turn) => [
    event("response.created", { response: { ...response(turn), status: "in_progress", output: [] } }),
    ...itemsOf(turn).flatMap(itemEvents),
    event(turn.isCut === true ? "response.incomplete" : "response.completed", { response: response(turn) })
  ],
  refusal: OpenAiChat.format.refusal,
  interruption: (message) => event("error", { code: "server_error", message, param: null, sequence_number: 9 })
}
