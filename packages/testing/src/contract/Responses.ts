/**
 * Properties of what a client makes of a model's responses.
 *
 * @since 0.1.0
 */
import type { Json, Message, ModelError, ModelResponse, Usage } from "@mandate/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Asking from "./Asking.ts"
import type { Subject } from "./Subject.ts"
import { type ContractViolation, same } from "./Violation.ts"

/**
 * A property before it has a name for each way to ask.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rule {
  readonly name: string
  readonly check: (
    subject: Subject,
    way: Asking.Way
  ) => Effect.Effect<void, ContractViolation | ModelError.ModelError, Scope.Scope>
}

/**
 * A response with the given parts, and whatever differs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const response = (
  parts: ReadonlyArray<Message.AssistantPart>,
  more: Partial<ModelResponse.ModelResponse> = {}
): ModelResponse.ModelResponse => ({
  parts,
  finishReason: parts.some((part) => part.type === "tool-call") ? "tool-calls" : "stop",
  usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
  ...more
})

/**
 * A call with JSON arguments.
 *
 * @category constructors
 * @since 0.1.0
 */
export const call = (id: string, name: string, args: Json.Json): Message.ToolCallPart => ({
  type: "tool-call",
  id,
  name,
  arguments: JSON.stringify(args)
})

const text = (text: string): Message.TextPart => ({ type: "text", text })

const gives = (name: string, given: ModelResponse.ModelResponse): Rule => ({
  name,
  check: Effect.fnUntraced(function*(subject, way) {
    const { client } = yield* subject.make([{ _tag: "Respond", response: given }])
    const got = yield* way.ask(client, Asking.request())
    yield* same("the response", read(got), read(given))
  })
})

// What the model wrote as arguments may be written anew, as long as it is the same JSON. A response may say more.
const read = ({ finishReason, parts, usage }: ModelResponse.ModelResponse) => ({
  parts: parts.map((part) => part.type === "tool-call" ? { ...part, arguments: argumentsOf(part.arguments) } : part),
  finishReason,
  usage
})

const argumentsOf = (text: string): Json.Json => /^\s*\{.*\}\s*$/s.test(text) ? JSON.parse(text) as Json.Json : text

const usages: ReadonlyArray<readonly [name: string, usage: Usage.ModelUsage]> = [
  ["every count", {
    inputTokens: { total: 20, cacheRead: 7, cacheWrite: 3 },
    outputTokens: { total: 9, reasoning: 4 }
  }],
  ["counts of nothing", { inputTokens: { total: 0 }, outputTokens: { total: 0 } }],
  ["no count that is not reported", { inputTokens: {}, outputTokens: {} }]
]

const finishReasons = ["stop", "tool-calls", "length", "content-filter", "pause", "other"] as const

/**
 * The properties of responses.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  gives("gives text as it is", response([text(" Sn\u00f6 \u2603 \ud83d\ude00\n  \"quoted\" \u0000")])),
  gives(
    "gives reasoning before the text",
    response([{ type: "reasoning", text: "They ask." }, text("Seven degrees.")])
  ),
  gives(
    "gives a call with its id, name and arguments",
    response([call("call_1", "get_weather", { city: "Oslo", days: [1, 2.5, null], deep: { "": "\u00e5" } })])
  ),
  gives(
    "gives parallel calls in order, with the text between",
    response([
      text("Both."),
      call("call_1", "get_weather", { city: "Oslo" }),
      call("call_2", "get_weather", { city: "Rome" }),
      call("call_3", "get_weather", { city: "Oslo" })
    ])
  ),
  gives("gives a call of a tool that was not offered", response([call("call_1", "launch", { now: true })])),
  gives(
    "gives arguments that are not JSON as the text they are",
    response([{ type: "tool-call", id: "call_1", name: "get_weather", arguments: "{\"city\": 42" }])
  ),
  gives(
    "gives the metadata of parts",
    response([
      { type: "reasoning", text: "Hm.", providerMetadata: { acme: { signature: "s-1" } } },
      { ...call("call_1", "get_weather", { city: "Oslo" }), providerMetadata: { acme: { item: "i-1" } } }
    ])
  ),
  ...usages.map(([name, usage]) => gives(`gives ${name} of the usage`, response([text("ok")], { usage }))),
  ...finishReasons.map((finishReason) =>
    gives(`gives the finish reason ${finishReason}`, response([text("ok")], { finishReason }))
  )
]
