/**
 * Why a call of a V4 model failed, in words of our own.
 *
 * **Details**
 *
 * The AI SDK's errors hold URLs, headers, request and response bodies, and
 * their messages quote the provider. They end here: they are looked at, and
 * nothing of them but a status, a wait, codes and the host goes on. The whole
 * error is logged at level `Debug`, without secrets.
 *
 * @since 0.1.0
 */
import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  NoContentGeneratedError,
  NoSuchModelError,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import type { ModelClient } from "@mandate/core"
import { ModelError } from "@mandate/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FailureLog from "./FailureLog.ts"
import * as HttpFailure from "./HttpFailure.ts"
import type { Problem } from "./Problem.ts"
import * as Transport from "./Transport.ts"

export type { Problem } from "./Problem.ts"

/**
 * The names of a model, as its client gives them.
 *
 * @category models
 * @since 0.1.0
 */
export type Identity = Pick<ModelClient.ModelClient, "provider" | "modelId">

/**
 * Reads the names of a model. A name that is not a string is `unknown`.
 *
 * @category getters
 * @since 0.1.0
 */
export const identify = (model: { readonly provider: unknown; readonly modelId: unknown }): Identity => ({
  provider: typeof model.provider === "string" ? model.provider : "unknown",
  modelId: typeof model.modelId === "string" ? model.modelId : "unknown"
})

/**
 * Makes the error of a failed call.
 *
 * @category errors
 * @since 0.1.0
 */
export const toError = (model: Identity, problem: Problem): ModelError.ModelError =>
  new ModelError.ModelError({ ...model, ...problem })

/**
 * The problem of a model that is not of version 4, or `undefined` for one that
 * is.
 *
 * @category errors
 * @since 0.1.0
 */
export const unsupportedVersion = (version: unknown): Problem | undefined => {
  if (version === "v4") return undefined
  const has = typeof version === "string" && /^v\d{1,3}$/.test(version) ? version : "an unknown version"
  return {
    reason: "unsupported",
    detail: `the model is of ${has} of the AI SDK's model specification and v4 is needed; upgrade its provider ` +
      "package, or convert the model with wrapLanguageModel of \"ai\" 7"
  }
}

/**
 * Runs one promise of a model's client. Interruption aborts the signal at once
 * and does not wait for the promise.
 *
 * @category running
 * @since 0.1.0
 */
export const attempt = <A>(call: (signal: AbortSignal) => PromiseLike<A>): Effect.Effect<A, Problem> =>
  Effect.tryPromise({ try: (signal) => call(signal), catch: (thrown) => thrown }).pipe(
    Effect.catch((thrown) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => Effect.andThen(FailureLog.log(thrown), Effect.fail(classify(thrown, now)))
      )
    )
  )

/**
 * Says what an error of a model's client means.
 *
 * **Details**
 *
 * `now` is the time in milliseconds since 1970, for a wait that is given as a
 * date.
 *
 * @category errors
 * @since 0.1.0
 */
export const classify = (thrown: unknown, now: number): Problem => {
  if (HttpFailure.isHttpFailure(thrown)) return HttpFailure.classify(thrown, now)
  if (APICallError.isInstance(thrown)) return Transport.problemOf(thrown, thrown.url)
  const known = kinds.find((kind) => kind.errors.some((error) => error.isInstance(thrown)))
  if (known !== undefined) return known.problem
  if (HttpFailure.isUnreadable(thrown)) return HttpFailure.unreadable
  if (Transport.isAborted(thrown)) return Transport.aborted
  if (Transport.isTransport(thrown)) return Transport.problemOf(thrown)
  if (AISDKError.isInstance(thrown)) return { reason: "unknown", detail: "the client failed for a reason of its own" }
  return { reason: "unknown", detail: "the client failed unexpectedly" }
}

const kinds: ReadonlyArray<{
  readonly errors: ReadonlyArray<{ readonly isInstance: (error: unknown) => boolean }>
  readonly problem: Problem
}> = [
  { errors: [LoadAPIKeyError], problem: { reason: "authentication", detail: "the client has no API key" } },
  { errors: [LoadSettingError], problem: { reason: "invalid-request", detail: "the client lacks a setting" } },
  { errors: [NoSuchModelError], problem: { reason: "invalid-request", detail: "there is no such model" } },
  {
    errors: [UnsupportedFunctionalityError],
    problem: { reason: "unsupported", detail: "the client cannot send a part of this request" }
  },
  {
    errors: [InvalidPromptError, InvalidArgumentError],
    problem: { reason: "invalid-request", detail: "the client refused the request before sending it" }
  },
  {
    errors: [
      EmptyResponseBodyError,
      InvalidResponseDataError,
      JSONParseError,
      NoContentGeneratedError,
      TypeValidationError
    ],
    problem: HttpFailure.unreadable
  }
]
