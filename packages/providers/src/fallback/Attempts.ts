/**
 * What the models of a list came to: their usage, and the one error of them
 * all.
 *
 * @since 0.1.0
 */
import { type ModelClient, ModelError, type ModelResponse, Usage } from "@mandate/core"

/**
 * What a response and the finish of a stream have in common.
 *
 * @category models
 * @since 0.1.0
 */
export type Ending = Pick<ModelResponse.ModelResponse, "usage" | "providerMetadata">

/**
 * Adds what failed attempts used to a response, and says which model gave it.
 *
 * **Details**
 *
 * Without failed attempts the response stays as it is. Otherwise
 * `providerMetadata.mandate.answeredBy` is `<provider>/<modelId>`. A total that
 * the response does not report stays absent, so that it is still estimated;
 * what the failed attempts add to it is then lost.
 *
 * @category combinators
 * @since 0.1.0
 */
export const answered = <A extends Ending>(
  ending: A,
  model: ModelClient.ModelClient,
  failed: ReadonlyArray<ModelError.ModelError>
): A =>
  failed.length === 0 ? ending : {
    ...ending,
    usage: addTo(ending.usage, failed),
    providerMetadata: { ...ending.providerMetadata, mandate: { answeredBy: nameOf(model) } }
  }

/**
 * The error of a list whose models all failed: those before, in the order of
 * the list, and the last one.
 *
 * **Details**
 *
 * It is the error that a retry can mend soonest, or the first one if none can
 * be mended. Its usage is that of all attempts, its detail names the others.
 *
 * @category errors
 * @since 0.1.0
 */
export const failure = (
  before: ReadonlyArray<ModelError.ModelError>,
  last: ModelError.ModelError
): ModelError.ModelError => {
  const failed = [...before, last]
  const chosen = failed.reduce((best, error) => isSooner(error, best) ? error : best)
  const others = failed.filter((error) => error !== chosen)
  if (others.length === 0) return chosen
  const too = `failed too: ${others.map((error) => `${nameOf(error)} (${error.reason})`).join(", ")}`
  const usage = sum(failed.map((error) => error.usage))
  return new ModelError.ModelError({
    reason: chosen.reason,
    provider: chosen.provider,
    modelId: chosen.modelId,
    detail: chosen.detail === undefined ? too : `${chosen.detail}; ${too}`,
    ...(chosen.status === undefined ? {} : { status: chosen.status }),
    ...(chosen.code === undefined ? {} : { code: chosen.code }),
    ...(chosen.type === undefined ? {} : { type: chosen.type }),
    ...(chosen.parameter === undefined ? {} : { parameter: chosen.parameter }),
    ...(chosen.network === undefined ? {} : { network: chosen.network }),
    ...(chosen.retryAfter === undefined ? {} : { retryAfter: chosen.retryAfter }),
    ...(usage === undefined ? {} : { usage })
  })
}

/**
 * Name of a model in texts: its provider and its id.
 *
 * @category getters
 * @since 0.1.0
 */
export const nameOf = ({ modelId, provider }: Pick<ModelClient.ModelClient, "modelId" | "provider">): string =>
  `${provider}/${modelId}`

const isSooner = (error: ModelError.ModelError, best: ModelError.ModelError): boolean =>
  error.isRetryable && (!best.isRetryable || (error.retryAfter ?? 0) < (best.retryAfter ?? 0))

const addTo = (usage: Usage.ModelUsage, failed: ReadonlyArray<ModelError.ModelError>): Usage.ModelUsage => {
  const spent = sum(failed.map((error) => error.usage))
  if (spent === undefined) return usage
  const both = Usage.addReported(usage, spent)
  return {
    inputTokens: keepUnknownTotal(usage.inputTokens, both.inputTokens),
    outputTokens: keepUnknownTotal(usage.outputTokens, both.outputTokens)
  }
}

const keepUnknownTotal = <A extends { readonly total?: number }>(own: A, { total: _, ...both }: A): A =>
  (own.total === undefined ? both : { total: _, ...both }) as A

const sum = (usages: ReadonlyArray<Usage.ModelUsage | undefined>): Usage.ModelUsage | undefined =>
  usages.filter((usage) => usage !== undefined).reduce<Usage.ModelUsage | undefined>(
    (total, usage) => total === undefined ? usage : Usage.addReported(total, usage),
    undefined
  )
