/** What the fake server answers, by the model that a request names. */

/** A text that is in every body the server sends in a failure, and must not be in any error. */
export const bodyMarker = "BODY-MARKER-7f3a"

export type Reply =
  | "nothing"
  | "reset"
  | {
    readonly status: number
    readonly headers?: { readonly [name: string]: string }
    readonly body: unknown
  }

/** The reply to a request. A request that holds the result of a tool gets a text. */
export const reply = (body: { readonly [key: string]: any }): Reply => {
  const model = String(body["model"])
  const hasResult = body["messages"].some((message: { readonly role: string }) => message.role === "tool")
  if (hasResult) return completion(model, { role: "assistant", content: "It is 7 degrees." }, "stop")
  return replies[model]?.(model) ?? failure(404, "unknown scenario")
}

const completion = (model: string, message: unknown, finish: string, usage: unknown = tokens): Reply => ({
  status: 200,
  body: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_790_000_000,
    model,
    choices: [{ index: 0, message, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage })
  }
})

const tokens = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 2 }
}

const calls = (...made: ReadonlyArray<readonly [name: string, args: string]>) => (model: string): Reply =>
  completion(
    model,
    {
      role: "assistant",
      content: null,
      tool_calls: made.map(([name, args], index) => ({
        id: `call_${index + 1}`,
        type: "function",
        function: { name, arguments: args }
      }))
    },
    "tool_calls"
  )

const failure = (
  status: number,
  message: string,
  more: { readonly code?: string; readonly headers?: { readonly [name: string]: string } } = {}
): Reply => ({
  status,
  headers: { "x-request-id": bodyMarker, ...more.headers },
  body: {
    error: {
      message: `${message} ${bodyMarker}`,
      type: "error",
      ...(more.code === undefined ? {} : { code: more.code })
    }
  }
})

const replies: { readonly [model: string]: (model: string) => Reply } = {
  text: (model) =>
    completion(model, { role: "assistant", content: "Hello there", reasoning_content: "They greet." }, "stop"),
  "no-usage": (model) => completion(model, { role: "assistant", content: "Hello" }, "stop", null),
  length: (model) => completion(model, { role: "assistant", content: "Hel" }, "length"),
  filtered: (model) => completion(model, { role: "assistant", content: "" }, "content_filter"),
  tool: calls(["get_weather", "{ \"city\": \"Oslo\" }"], ["get_weather", "{\"city\":\"Rome\"}"]),
  "bad-arguments": calls(["get_weather", "{\"city\": 42"]),
  undeclared: calls(["launch", "{}"]),
  "429": () => failure(429, "slow down", { code: "rate_limit_exceeded", headers: { "retry-after": "7" } }),
  quota: () => failure(429, "You exceeded your current quota", { code: "insufficient_quota" }),
  "401": () => failure(401, "Incorrect API key provided: sk-secret"),
  "403": () => failure(403, "not allowed"),
  "400": () => failure(400, "Unknown parameter"),
  "413": () => failure(413, "too large"),
  context: () => failure(400, "too long", { code: "context_length_exceeded" }),
  "context-text": () => failure(400, "This model's maximum context length is 8192 tokens."),
  "filter-error": () => failure(400, "refused", { code: "content_filter" }),
  "409": () => failure(409, "conflict"),
  "500": () => failure(500, "server error"),
  "503": () => failure(503, "try later", { headers: { "retry-after-ms": "1500" } }),
  "529": () => failure(529, "overloaded"),
  html: () => ({ status: 502, body: `<html>${bodyMarker}</html>` }),
  malformed: () => ({ status: 200, body: `{ "id": "${bodyMarker}", "choices": [` }),
  "wrong-shape": () => ({ status: 200, body: { hello: bodyMarker } }),
  "no-choices": () => ({ status: 200, body: { id: bodyMarker, created: 1, model: "m", choices: [] } }),
  reset: () => "reset",
  hang: () => "nothing"
}
