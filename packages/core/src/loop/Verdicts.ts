/**
 * What the loop makes of a model's response.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ExactNumbers from "../values/ExactNumbers.ts"
import * as Json from "../values/Json.ts"
import { text, type ToolCallPart, toolCalls } from "../values/Message.ts"
import type { ModelResponse } from "../values/ModelResponse.ts"
import type { Verdict } from "../values/RunRecord.ts"
import { submitReport, type TypedAnswer } from "./Drive.ts"

/**
 * The largest answer, and the largest arguments of a tool call, that are
 * parsed: 8 MiB of UTF-8.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxModelJsonBytes = 8 * 1024 * 1024

/**
 * Decides what a response is: an answer, calls to run, something to ask for
 * again, or a refusal.
 *
 * **Details**
 *
 * Only the stop reason tells a refusal, never the words. Text beside calls is
 * no answer, and reasoning is never read. `answer` is how the agent answers; an
 * agent without it answers in text. A native answer is a text: a call of
 * `submit_report` is then a call like any other. `refusal` is what is made of a
 * response whose calls are more than may be, unless it was blocked or cut.
 *
 * @category getters
 * @since 0.1.0
 */
export const decide = (
  response: ModelResponse,
  answer: TypedAnswer | undefined,
  refusal: Verdict | undefined
): Effect.Effect<Verdict> => {
  if (response.finishReason === "content-filter") {
    return Effect.succeed({ _tag: "Blocked", guardrail: "provider", reason: "content-filter" })
  }
  const calls = toolCalls(response.parts)
  if (response.finishReason === "length") return Effect.succeed(calls.length > 0 ? { _tag: "Cut" } : cutText)
  if (refusal !== undefined) return Effect.succeed(refusal)
  if (calls.length > 0) {
    const index = answer === undefined || answer.native !== undefined
      ? -1
      : calls.findIndex((call) => call.name === submitReport)
    return index < 0 ? Effect.succeed({ _tag: "Calls" }) : reportOf(calls[index] as ToolCallPart, index, answer!)
  }
  if (response.finishReason === "pause") return Effect.succeed({ _tag: "Pause" })
  const words = text(response.parts)
  if (answer === undefined) {
    return Effect.succeed(words.trim() === "" ? blankText : { _tag: "Answer", answer: words })
  }
  return response.finishReason === "other" ? Effect.succeed(noReport(answer)) : typedText(words, answer)
}

const reportOf = (call: ToolCallPart, index: number, answer: TypedAnswer): Effect.Effect<Verdict> =>
  Result.match(Json.parse(call.arguments, maxModelJsonBytes), {
    onFailure: (problem) => Effect.succeed<Verdict>({ ...refused(answer, [`the report: ${problem}`]), call: index }),
    onSuccess: (json) =>
      Effect.map(checked(call.arguments, json, answer), (verdict): Verdict => ({ ...verdict, call: index }))
  })

const typedText = (words: string, answer: TypedAnswer): Effect.Effect<Verdict> => {
  const text = unfenced(words.trim())
  return Result.match(Json.parse(text, maxModelJsonBytes), {
    onFailure: () => Effect.succeed(noReport(answer)),
    onSuccess: (json) => checked(text, json, answer)
  })
}

const checked = (
  text: string,
  json: Json.Json,
  answer: TypedAnswer
): Effect.Effect<Extract<Verdict, { readonly _tag: "Answer" | "Refused" }>> =>
  Effect.map(answer.check(json), (result) => {
    if (Result.isFailure(result)) return refused(answer, result.failure)
    // The check names the path of what it finds. A text can be inexact where the value does not show it.
    const inexact = ExactNumbers.inText(text, json, () => false)
    return inexact === undefined ? { _tag: "Answer", answer: result.success } : refused(answer, [inexact])
  })

// Exactly one code fence around everything; JSON with anything else around it is refused.
const unfenced = (words: string): string => /^```[a-zA-Z0-9]*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/.exec(words)?.[1] ?? words

const refused = ({ native }: TypedAnswer, issues: ReadonlyArray<string>) => ({
  _tag: "Refused" as const,
  message: `The report was not valid. ${
    native === undefined
      ? `Correct it and submit the whole report again with the tool ${submitReport}.`
      : "Correct it and give the whole report again, as JSON alone."
  }\n${issues.map((issue) => `- ${issue}`).join("\n")}`,
  issues
})

const noReport = ({ native }: TypedAnswer): Verdict => ({
  _tag: "Refused",
  message: native === undefined
    ? `There was no report. Submit it with the tool ${submitReport}.`
    : "There was no report. Give it as JSON alone.",
  issues: ["no report was submitted"]
})

const blankText: Verdict = {
  _tag: "Refused",
  message: "The answer was empty. Give your answer as text.",
  issues: ["the answer was empty"]
}

const cutText: Verdict = {
  _tag: "Refused",
  message: "The answer was cut at the token limit. Give a shorter one.",
  issues: ["the answer was cut at its token limit"]
}
