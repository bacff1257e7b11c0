/**
 * Holds what a model's client gives to what responses and failures are: what
 * is recorded has to be read again, or the run and its thread are lost.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ModelClient } from "../service/ModelClient.ts"
import * as Json from "../values/Json.ts"
import { ModelError, type ModelErrorReason } from "../values/ModelError.ts"
import { ModelResponse } from "../values/ModelResponse.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import type { ModelUsage } from "../values/Usage.ts"
import * as PlainResponse from "./PlainResponse.ts"
import * as ResponseBounds from "./ResponseBounds.ts"

type Named = Pick<ModelClient, "provider" | "modelId">

/**
 * The response that a client gave, as it will be read again, its texts well
 * formed. Fails where it is none, quoting nothing of it, and where it is not
 * whole.
 *
 * @category constructors
 * @since 0.1.0
 */
export const whole = (client: Named, given: unknown): Result.Result<ModelResponse, ModelError> =>
  Result.flatMap(
    Result.mapError(check(given), (problem) => failure(client, "invalid-response", problem)),
    (response) => {
      switch (response.finishReason) {
        case "error":
          return Result.fail(cutOff(client, "overloaded", response.usage))
        case "interrupted":
          return Result.fail(cutOff(client, "network", response.usage))
        default:
          return Result.succeed(response)
      }
    }
  )

/**
 * The failure of a response that ended before it was whole.
 *
 * @category constructors
 * @since 0.1.0
 */
export const cutOff = (client: Named, reason: ModelErrorReason, usage?: ModelUsage): ModelError =>
  failure(client, reason, "the response ended before it was whole", usage)

/**
 * What a client failed with. One without types may fail with anything, and
 * nothing of that is to be stored.
 *
 * @category constructors
 * @since 0.1.0
 */
export const error = (client: Named, given: unknown): ModelError =>
  Result.getOrElse(Result.try(() => given instanceof ModelError), () => false)
    ? given as ModelError
    : failure(client, "unknown", "the client failed with what is no model error")

/**
 * The failure of a response that is over its bounds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const overBounds = (client: Named, problem: string): ModelError => failure(client, "invalid-response", problem)

/**
 * The failure of a response that cannot be read: its own code throws, or it
 * contradicts itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unreadable = (client: Named): ModelError => failure(client, "invalid-response", noResponse)

const check = (given: unknown): Result.Result<ModelResponse, string> => {
  const plain = Result.getOrElse(Result.try(() => PlainResponse.read(given)), () => undefined)
  return plain !== undefined ? Result.succeed(plain) : Result.flatMap(
    Result.try({ try: () => ResponseBounds.problem(given), catch: () => noResponse }),
    (problem) => problem === undefined ? decoded(given) : Result.fail(problem)
  )
}

// Read once, into JSON: the objects are the client's own, and reading them again may give or throw anything.
const decoded = (given: unknown): Result.Result<ModelResponse, string> =>
  Result.flatMap(
    Result.try({ try: () => JSON.parse(Json.stringify(given).text) as unknown, catch: () => noResponse }),
    (json) =>
      isResponse(json) ? Result.succeed(json) : Result.mapError(decode(json), (error) => {
        const [first] = SchemaIssues.lines(error, (key) => ownKeys.has(key))
        return first === undefined ? noResponse : `${noResponse}: ${first}`
      })
  )

const noResponse = "the client returned an invalid response"

// Other keys may be a model's, and are not shown.
const ownKeys = new Set(
  ["parts", "type", "id", "name", "arguments", "text", "finishReason", "usage", "inputTokens", "outputTokens", "total"]
)

const isResponse = Schema.is(ModelResponse)
const decode = Schema.decodeUnknownResult(ModelResponse)

const failure = (
  { modelId, provider }: Named,
  reason: ModelErrorReason,
  detail: string,
  usage?: ModelUsage
): ModelError => new ModelError({ reason, provider, modelId, detail, ...(usage === undefined ? {} : { usage }) })
