/**
 * Holds what a model's client gives to what a response is: what is recorded
 * has to be read again, or the run and its thread are lost.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ModelResponse } from "../values/ModelResponse.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"

/**
 * Takes a response as it is, or as it will be read again. Fails with what is
 * wrong with it, quoting nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const check = (given: unknown): Result.Result<ModelResponse, string> =>
  isResponse(given) ? Result.succeed(given) : Result.flatMap(
    Result.try({ try: () => JSON.parse(JSON.stringify(given)) as unknown, catch: () => noResponse }),
    (json) =>
      Result.mapError(decode(json), (error) => {
        const [first] = SchemaIssues.lines(error, (key) => ownKeys.has(key))
        return first === undefined ? noResponse : `${noResponse}: ${first}`
      })
  )

const noResponse = "the client gave what is no response"

// Other keys may be a model's, and are not shown.
const ownKeys = new Set(
  ["parts", "type", "id", "name", "arguments", "text", "finishReason", "usage", "inputTokens", "outputTokens", "total"]
)

const isResponse = Schema.is(ModelResponse)
const decode = Schema.decodeUnknownResult(ModelResponse)
