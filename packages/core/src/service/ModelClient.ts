/**
 * The seam to models.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { FilePart } from "../values/ContentPart.ts"
import type { JsonSchemaObject } from "../values/JsonCodec.ts"
import type { ModelError } from "../values/ModelError.ts"
import type { ModelCall, ModelRequest } from "../values/ModelRequest.ts"
import type { ModelResponse, ModelStreamPart } from "../values/ModelResponse.ts"

/**
 * One model, as the loop calls it.
 *
 * **Details**
 *
 * Requests and responses are plain JSON that Mandate owns and stores. A client
 * does not retry, does not touch tools and does not decode answers: the loop
 * does all three. Interrupting a call aborts it at the provider.
 *
 * `call` says which agent, run, step and attempt the request belongs to. It is
 * for tests and telemetry and is never sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelClient {
  /** Name of the provider, such as `openai`. */
  readonly provider: string

  /** Id of the model at that provider. */
  readonly modelId: string

  /**
   * Whether the model gives native structured answers beside tools. Typed answers are then asked for with the request,
   * and `submit_report` is not offered. Absent: no.
   */
  readonly structuredAnswers?: boolean

  /**
   * Why the model cannot be sent a schema, of a tool's parameters or of an answer, in words that follow "the schema".
   * Nothing where it can. Asked when an agent is bound: a reason is a problem of its definition. Absent: takes all.
   */
  readonly refusesSchema?: (schema: JsonSchemaObject) => string | undefined

  /**
   * Why the model cannot be sent a file of an input, in words that follow "the model". Nothing where it can, or where
   * that is not known: its provider then decides. Asked before a run starts: a reason is an `InvalidInput` of it.
   * Absent: not known of any file.
   */
  readonly refusesFile?: (file: FilePart) => Effect.Effect<string | undefined>

  /** Asks for a whole response. */
  readonly generate: (request: ModelRequest, call: ModelCall) => Effect.Effect<ModelResponse, ModelError>

  /** Asks for a response in pieces, where the model can. */
  readonly stream?: (request: ModelRequest, call: ModelCall) => Stream.Stream<ModelStreamPart, ModelError>
}
