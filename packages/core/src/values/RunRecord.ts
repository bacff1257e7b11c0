/**
 * The records of a run's journal.
 *
 * **Details**
 *
 * A record is plain JSON under a key that comes from its position in the run.
 * It is inserted once and never changed. Settling a run deletes its records.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { FilePart } from "./ContentPart.ts"
import { AgentId, RunId, ThreadId } from "./Ids.ts"
import { InterruptRequest } from "./Interrupt.ts"
import type { Json } from "./Json.ts"
import { ToolOutput } from "./Message.ts"
import { ModelResponse } from "./ModelResponse.ts"
import { Usage } from "./Usage.ts"

/**
 * Key of the model response of a step.
 *
 * @category constructors
 * @since 0.1.0
 */
export const stepKey = (step: number): string => `m/${step}`

/**
 * Key of the result of a tool call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resultKey = (callKey: string): string => `t/${callKey}`

/**
 * Key of the note that a model refused the request of a step for good.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refusedKey = (step: number): string => `r/${step}`

/**
 * Key of the files of the run's user message.
 *
 * @category constants
 * @since 0.1.0
 */
export const filesKey = "files"

/**
 * Key of the run's encoded context.
 *
 * @category constants
 * @since 0.1.0
 */
export const contextKey = "context"

/**
 * Schema for the record of the files of the run's user message.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FilesRecord = Schema.Array(FilePart)

/**
 * What a run was started with beside its row: the files of its user message,
 * and its encoded context. Each is a record of its journal where it is there,
 * inserted with the row.
 *
 * @category models
 * @since 0.1.0
 */
export interface StartRecords {
  readonly files?: typeof FilesRecord.Type
  readonly context?: Json
}

/**
 * Schema for what the loop made of a response, decided once before it is
 * stored.
 *
 * **Details**
 *
 * - `Answer`: an answer that decodes, encoded; `call` is the index of the
 *   `submit_report` call that gave it, absent for a text
 * - `Refused`: an answer that does not decode; `message` tells the model why,
 *   `issues` hold the paths
 * - `Calls`: tool calls to run
 * - `Cut`: the response was cut at a token limit amid its calls
 * - `TooManyCalls`: the response has `calls` tool calls, over `maxCalls`; those
 *   above the bound are not kept
 * - `Pause`: ask again with nothing added
 * - `Blocked`: the provider refused
 *
 * @category schemas
 * @since 0.1.0
 */
export const Verdict = Schema.TaggedUnion({
  Answer: { answer: Schema.Json, call: Schema.optionalKey(Schema.Natural) },
  Refused: {
    message: Schema.String,
    issues: Schema.Array(Schema.String),
    call: Schema.optionalKey(Schema.Natural)
  },
  Calls: {},
  Cut: {},
  TooManyCalls: { calls: Schema.Natural, maxCalls: Schema.Natural },
  Pause: {},
  Blocked: { guardrail: Schema.String, reason: Schema.String }
})

/**
 * What the loop made of a response.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = typeof Verdict.Type

/**
 * Schema for the record of a step: the response, what was made of it, the
 * names of the tools that were offered, the usage of all attempts, and the
 * active time of the run so far in milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const StepRecord = Schema.Struct({
  response: ModelResponse,
  verdict: Verdict,
  offered: Schema.Array(Schema.String),
  usage: Usage,
  activeMillis: Schema.Finite
})

/**
 * Record of a step.
 *
 * @category models
 * @since 0.1.0
 */
export type StepRecord = typeof StepRecord.Type

/**
 * Schema for the record of a call's result: the output as the model reads it,
 * the active time of the run so far in milliseconds, and for a task call the
 * child and the usage of its whole tree.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResultRecord = Schema.Struct({
  output: ToolOutput,
  isError: Schema.Boolean,
  activeMillis: Schema.Finite,
  child: Schema.optionalKey(Schema.Struct({
    subagent: AgentId,
    threadId: ThreadId,
    runId: RunId,
    usage: Usage
  }))
})

/**
 * Record of a call's result.
 *
 * @category models
 * @since 0.1.0
 */
export type ResultRecord = typeof ResultRecord.Type

/**
 * Schema for the record of what a call waits on: what is asked, when it was
 * asked first, in milliseconds since 1970, and the active time of the run so
 * far in milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InterruptRecord = Schema.Struct({
  request: InterruptRequest,
  askedAt: Schema.Finite,
  activeMillis: Schema.Finite
})

/**
 * Record of what a call waits on.
 *
 * @category models
 * @since 0.1.0
 */
export type InterruptRecord = typeof InterruptRecord.Type

/**
 * Schema for the record of what was decided before a call ran, of what a
 * handler's `once` gave, or of why a model refused a request for good: the
 * value, the active time of the run so far in milliseconds, and for a `once`
 * that asked questions itself their numbers. Earlier records have
 * `nextQuestion` in their place: the number of the first question after them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ValueRecord = Schema.Struct({
  value: Schema.Json,
  activeMillis: Schema.Finite,
  nextQuestion: Schema.optionalKey(Schema.Natural),
  questions: Schema.optionalKey(Schema.Array(Schema.Natural))
})

/**
 * Record of a decision, of the value of a `once`, or of a refused request.
 *
 * @category models
 * @since 0.1.0
 */
export type ValueRecord = typeof ValueRecord.Type
