/**
 * An agent as the loop runs it: everything looked up, compiled once at bind.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { RetrySchedule } from "../definition/AgentSpec.ts"
import type { ModelClient } from "../service/ModelClient.ts"
import type { Json } from "../values/Json.ts"
import type { Message } from "../values/Message.ts"
import type { ModelSettings, ModelTool } from "../values/ModelRequest.ts"
import type { LoopTool } from "./LoopTool.ts"

/**
 * Decodes an answer that a model wrote as JSON and encodes it again, so that
 * what is stored is what the schema makes of it. Fails with the issues.
 *
 * @category models
 * @since 0.1.0
 */
export type AnswerCheck = (json: Json) => Effect.Effect<Result.Result<Json, ReadonlyArray<string>>>

/**
 * An agent as the loop runs it.
 *
 * **Details**
 *
 * - `answer`: checks a typed answer; absent for an agent that answers in text
 * - `offered`: all tools as the model sees them, `submit_report` included
 * - `context`: the services captured at bind. A drive sees these, and of its
 *   surroundings only the clock, the tracer, the loggers and the randomness
 *
 * @category models
 * @since 0.1.0
 */
export interface CompiledAgent {
  readonly id: string
  readonly system: Message | undefined
  readonly client: ModelClient
  readonly settings: ModelSettings
  readonly tools: ReadonlyMap<string, LoopTool>
  readonly offered: ReadonlyArray<ModelTool>
  readonly answer: AnswerCheck | undefined
  readonly retry: RetrySchedule
  readonly context: Context.Context<never>
}

/**
 * Name of the tool through which a model gives a typed answer.
 *
 * @category constants
 * @since 0.1.0
 */
export const submitReport = "submit_report"
