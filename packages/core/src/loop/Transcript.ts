/**
 * What the records of a run add up to: its messages, its usage, its counts.
 *
 * **Details**
 *
 * Invariants, on which replay rests:
 *
 * 1. A transcript is a pure function of the run's user message, the thread's
 *    earlier messages and the run's records. It asks no model, schema or clock.
 * 2. Every tool call of every assistant message has exactly one result, in
 *    call order, in the message right after it.
 * 3. Records are added in the order of their steps.
 *
 * @since 0.1.0
 */
import { type Message, text, type ToolCallPart, toolCalls, type ToolOutput, userText } from "../values/Message.ts"
import type { ResultRecord, StepRecord, Verdict } from "../values/RunRecord.ts"
import * as SentMessage from "../values/SentMessage.ts"
import * as Usage from "../values/Usage.ts"
import * as CallLimit from "./CallLimit.ts"

/**
 * What a run has said and used so far.
 *
 * **Details**
 *
 * - `messages`: the thread's earlier messages, then the run's own from index
 *   `base` on
 * - `step`: number of the next step
 * - `own`: usage of the run itself, `children`: of the trees below it
 * - `refusals`: answers that did not decode, and other refused responses
 * - `reask`: what the model is told about the last one, where no tool result
 *   says it; it becomes a user message when the next request is made
 *
 * @category models
 * @since 0.1.0
 */
export interface Transcript {
  readonly messages: Array<Message>
  readonly base: number
  step: number
  own: Usage.Usage
  children: Usage.Usage
  refusals: number
  reask: string | undefined
}

/**
 * Verdicts on responses that count as refused and are asked for again, as often
 * as the run allows.
 *
 * @category constants
 * @since 0.1.0
 */
export const refusals: ReadonlySet<Verdict["_tag"]> = new Set(["Refused", "Cut", "TooManyCalls"])

/**
 * Starts the transcript of a run.
 *
 * **Details**
 *
 * `first` is the run's user message. `spent` is the usage of failed attempts in former drives: no record has it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (earlier: ReadonlyArray<Message>, first: Message, spent: Usage.Usage): Transcript => ({
  messages: [...earlier, first],
  base: earlier.length,
  step: 0,
  own: spent,
  children: Usage.zero,
  refusals: 0,
  reask: undefined
})

/**
 * Adds a model response: the message, and what it used.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addStep = (self: Transcript, record: StepRecord): void => {
  flushReask(self)
  // Providers refuse an assistant message without content, and reasoning that led to nothing.
  if (SentMessage.hasContent(record.response.parts)) {
    self.messages.push({ role: "assistant", content: record.response.parts })
  }
  self.own = Usage.add(self.own, record.usage)
  self.step++
  if (refusals.has(record.verdict._tag)) self.refusals++
  if (record.verdict._tag === "Refused" && record.verdict.call === undefined) self.reask = record.verdict.message
}

/**
 * Adds the results of a response's calls, if it has any. A call without a
 * result gets one that says `notRun`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addResults = (
  self: Transcript,
  record: StepRecord,
  resultOf: (index: number) => ResultRecord | undefined,
  notRun: string
): void => {
  const calls = toolCalls(record.response.parts)
  if (calls.length === 0) return
  const content = calls.map((call, index) => {
    const settled = settledBy(record, index)
    if (settled !== undefined) return part(call, settled)
    const result = resultOf(index)
    if (result === undefined) return part(call, notRunResult(notRun))
    self.own = Usage.add(self.own, oneToolCall)
    if (result.child !== undefined) addChild(self, result.child.usage)
    return part(call, result)
  })
  self.messages.push({ role: "tool", content })
}

/**
 * Adds the usage of a child's tree.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addChild = (self: Transcript, tree: Usage.Usage): void => {
  self.own = Usage.add(self.own, oneChildRun)
  self.children = Usage.add(self.children, tree)
}

/**
 * Turns what the model has to be told about its last answer into a message.
 * Called when the next request is made, so that a run that ends instead leaves
 * nothing unanswered.
 *
 * @category combinators
 * @since 0.1.0
 */
export const flushReask = (self: Transcript): void => {
  if (self.reask === undefined) return
  self.messages.push(userText(self.reask))
  self.reask = undefined
}

/**
 * Messages that the run leaves on its thread.
 *
 * @category getters
 * @since 0.1.0
 */
export const ownMessages = (self: Transcript): ReadonlyArray<Message> => self.messages.slice(self.base)

/**
 * What the run has said last; empty if nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const lastText = (self: Transcript): string => {
  const said = self.messages.slice(self.base).findLast((message) =>
    message.role === "assistant" && text(message.content).trim() !== ""
  )
  return said?.role === "assistant" ? text(said.content) : ""
}

/**
 * Usage of the run and of its tree.
 *
 * @category getters
 * @since 0.1.0
 */
export const usage = (self: Transcript): Usage.RunUsage => ({
  own: self.own,
  tree: Usage.add(self.own, self.children)
})

/**
 * Adds all records of a run at once, as far as they go.
 *
 * @category constructors
 * @since 0.1.0
 */
export const addAll = (
  self: Transcript,
  records: {
    readonly step: (step: number) => StepRecord | undefined
    readonly result: (step: number, index: number) => ResultRecord | undefined
  },
  notRun: string
): void => {
  for (let step = 0;; step++) {
    const record = records.step(step)
    if (record === undefined) return
    addStep(self, record)
    addResults(self, record, (index) => records.result(step, index), notRun)
  }
}

interface Result {
  readonly output: ToolOutput
  readonly isError: boolean
}

const oneToolCall: Usage.Usage = { ...Usage.zero, toolCalls: 1 }
const oneChildRun: Usage.Usage = { ...Usage.zero, childRuns: 1 }

const notRunResult = (why: string): Result => ({ output: { type: "text", value: `not run: ${why}` }, isError: true })

// Calls that the verdict on their message settles: they start nothing and have no record.
const settledBy = ({ verdict }: StepRecord, index: number): Result | undefined => {
  switch (verdict._tag) {
    case "Answer":
      return index === verdict.call ? accepted : reportSubmitted
    case "Refused":
      return index === verdict.call
        ? {
          output: { type: "json", value: { error: { reason: "InvalidReport", message: verdict.message } } },
          isError: true
        }
        : reportSubmitted
    case "Cut":
      return responseCut
    case "TooManyCalls":
      return notRunResult(CallLimit.problem(verdict))
    default:
      return undefined
  }
}

const accepted: Result = { output: { type: "text", value: "accepted" }, isError: false }
const reportSubmitted = notRunResult("a report was submitted beside this call")
const responseCut = notRunResult("the response was cut")

const part = (call: ToolCallPart, { isError, output }: Result) => ({
  type: "tool-result" as const,
  id: call.id,
  name: call.name,
  output,
  isError
})
