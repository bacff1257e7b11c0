/** The generateContent format of Google. */
import { type Event, type Format, halves, type Json, parsed, tokens, type Turn } from "./Wire.ts"

const usageMetadata = {
  promptTokenCount: tokens.input,
  cachedContentTokenCount: tokens.cached,
  candidatesTokenCount: tokens.output - tokens.reasoning,
  thoughtsTokenCount: tokens.reasoning,
  totalTokenCount: tokens.input + tokens.output
}

const chunk = (parts: ReadonlyArray<Json>, finishReason?: string): Json => ({
  candidates: [{
    index: 0,
    content: { role: "model", parts },
    ...(finishReason === undefined ? {} : { finishReason })
  }],
  ...(finishReason === undefined ? {} : { usageMetadata }),
  modelVersion: "m-1",
  responseId: "resp-1"
})

const finishOf = (turn: Turn): string => turn.isCut === true ? "MAX_TOKENS" : "STOP"

const callsOf = (turn: Turn): ReadonlyArray<Json> =>
  (turn.calls ?? []).map((call) => ({
    functionCall: { id: call.id, name: call.name, args: parsed(call.arguments) },
    thoughtSignature: "signed"
  }))

const partsOf = (body: Json, key: string): ReadonlyArray<Json> =>
  body["contents"].filter((content: Json) => content["role"] === "user")
    .flatMap((content: Json) => content["parts"]).filter((part: Json) => key in part)

const statuses = {
  rate: "RESOURCE_EXHAUSTED",
  quota: "RESOURCE_EXHAUSTED",
  key: "UNAUTHENTICATED",
  request: "INVALID_ARGUMENT",
  server: "INTERNAL",
  overloaded: "UNAVAILABLE"
}

export const format: Format = {
  path: /:(generateContent|streamGenerateContent\?alt=sse)$/,
  read: (body, path) => ({
    isStream: path.includes(":streamGenerateContent"),
    tools: (body["tools"] ?? []).flatMap((tools: Json) => tools["functionDeclarations"] ?? [])
      .map((tool: Json) => tool["name"]),
    prompt: partsOf(body, "text").map((part) => part["text"]).join("\n"),
    results: partsOf(body, "functionResponse").map((part) => JSON.stringify(part["functionResponse"].response))
  }),
  whole: (turn) =>
    chunk([
      ...(turn.reasoning === undefined ? [] : [{ text: turn.reasoning, thought: true }]),
      ...(turn.text === undefined ? [] : [{ text: turn.text }]),
      ...callsOf(turn)
    ], finishOf(turn)),
  events: (turn): ReadonlyArray<Event> => [
    ...(turn.reasoning === undefined
      ? []
      : halves(turn.reasoning).map((text) => ({ data: chunk([{ text, thought: true }]) }))),
    ...(turn.text === undefined ? [] : halves(turn.text).map((text) => ({ data: chunk([{ text }]) }))),
    ...callsOf(turn).map((part) => ({ data: chunk([part]) })),
    { data: chunk([], finishOf(turn)) }
  ],
  refusal: ({ message, type }, status) => ({ error: { code: status, message, status: statuses[type] } }),
  interruption: (message) => ({ data: { error: { code: 503, message, status: "UNAVAILABLE" } } })
}
