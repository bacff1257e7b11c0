/**
 * What a contract of model clients runs against.
 *
 * @since 0.1.0
 */
import type { Json, Message, ModelClient, ModelError, ModelResponse } from "@mandate/core"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * What the model behind a client does when it is called once: gives a
 * response, fails for a reason, or never answers.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn =
  | { readonly _tag: "Respond"; readonly response: ModelResponse.ModelResponse }
  | { readonly _tag: "Fail"; readonly reason: ModelError.ModelErrorReason }
  | { readonly _tag: "Hang" }

/**
 * A piece of the conversation that reached the model, in Mandate's words.
 *
 * **Details**
 *
 * `arguments` and `output` are JSON values, not text. `providerMetadata` is
 * absent where there is none.
 *
 * @category models
 * @since 0.1.0
 */
export type SentPart =
  & { readonly providerMetadata?: Message.ProviderMetadata }
  & (
    | { readonly type: "text"; readonly role: "system" | "user" | "assistant"; readonly text: string }
    | { readonly type: "reasoning"; readonly text: string }
    | { readonly type: "call"; readonly id: string; readonly name: string; readonly arguments: Json.Json }
    | {
      readonly type: "result"
      readonly id: string
      readonly name: string
      readonly output: Json.Json
      readonly isError: boolean
    }
  )

/**
 * A request that reached the model: the names of the tools, and the
 * conversation in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sent {
  readonly tools: ReadonlyArray<string>
  readonly parts: ReadonlyArray<SentPart>
}

/**
 * A client whose model does what it was told.
 *
 * **Details**
 *
 * - `sent`: the requests that have reached the model
 * - `interrupted`: how many calls the model has seen given up
 *
 * @category models
 * @since 0.1.0
 */
export interface Instance {
  readonly client: ModelClient.ModelClient
  readonly sent: Effect.Effect<ReadonlyArray<Sent>>
  readonly interrupted: Effect.Effect<number>
}

/**
 * A kind of client, and how to make one.
 *
 * **Details**
 *
 * - `make`: makes a client whose model takes one turn for each call, in order.
 *   A failure is to hold {@link secret} wherever its provider would put texts
 *   of its own: bodies, URLs, headers, messages
 * - `failures`: the reasons that the model can be made to fail for. Default:
 *   none
 * - `streams`: whether the client streams. Default: `true`
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly make: (turns: ReadonlyArray<Turn>) => Effect.Effect<Instance, never, Scope.Scope>
  readonly failures?: ReadonlyArray<ModelError.ModelErrorReason>
  readonly streams?: boolean
}

/**
 * A text that may be in no error.
 *
 * @category constants
 * @since 0.1.0
 */
export const secret = "CONTRACT-SECRET-91c2"
