/**
 * What the loop makes of a model's response.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Json from "../values/Json.ts"
import { text, type ToolCallPart, toolCalls } from "../values/Message.ts"
import type { ModelResponse } from "../values/ModelResponse.ts"
import type { Verdict } from "../values/RunRecord.ts"
import { type AnswerCheck, submitReport } from "./Drive.ts"

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
 * no answer, and reasoning is never read. `answer` checks typed answers; an
 * agent without it answers in text.
 *
 * @category getters
 * @since 0.1.0
 */
export const decide = (response: ModelResponse, answer: AnswerCheck | undefined): Effect.Effect<Verdict> => {
  if (response.finishReason === "content-filter") {
    return Effect.succeed({ _tag: "Blocked", guardrail: "provider", reason: "content-filter" })
  }
  const calls = toolCalls(response.parts)
  if (response.finishReason === "length") return Effect.succeed(calls.length > 0 ? { _tag: "Cut" } : cutText)
  if (calls.length > 0) {
    const index = answer === undefined ? -1 : calls.findIndex((call) => call.name === submitReport)
    return index < 0 ? Effect.succeed({ _tag: "Calls" }) : reportOf(calls[index] as ToolCallPart, index, answer!)
  }
  if (response.finishReason === "pause") return Effect.succeed({ _tag: "Pause" })
  const words = text(response.parts)
  if (answer === undefined) {
    return Effect.succeed(words.trim() === "" ? blankText : { _tag: "Answer", answer: words })
  }
  return response.finishReason === "other" ? Effect.succeed(noReport) : typedText(words, answer)
}

const reportOf = (call: ToolCallPart, index: number, answer: AnswerCheck): Effect.Effect<Verdict> =>
  Result.match(Json.parse(call.arguments, maxModelJsonBytes), {
    onFailure: (problem) => Effect.succeed<Verdict>({ ...refused([`the report: ${problem}`]), call: index }),
    onSuccess: (json) =>
      Effect.map(answer(json), (checked): Verdict =>
        Result.isSuccess(checked)
          ? { _tag: "Answer", answer: checked.success, call: index }
          : { ...refused(checked.failure), call: index })
  })

const typedText = (words: string, answer: AnswerCheck): Effect.Effect<Verdict> =>
  Result.match(Json.parse(unfenced(words.trim()), maxModelJsonBytes), {
    onFailure: () => Effect.succeed(noReport),
    onSuccess: (json) =>
      Effect.map(
        answer(json),
        (checked): Verdict =>
          Result.isSuccess(checked) ? { _tag: "Answer", answer: checked.success } : refused(checked.failure)
      )
  })

// Exactly one code fence around everything; JSON with anything else around it is refused.
const unfenced = (words: string): string => {
  const fence = /^```[a-zA-Z0-9]*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/.exec(words)
  const body = fence?.[1]
  return body === undefined || body.includes("```") ? words : body
}

const refused = (issues: ReadonlyArray<string>) => ({
  _tag: "Refused" as const,
  message: `The report was not valid. Correct it and submit the whole report again with the tool ${submitReport}.\n${
    issues.map((issue) => `- ${issue}`).join("\n")
  }`,
  issues
})

const noReport: Verdict = {
  _tag: "Refused",
  message: `There was no report. Submit it with the tool ${submitReport}.`,
  issues: ["no report was submitted"]
}

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
