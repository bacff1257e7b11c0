/**
 * What a failed model call says, in the words that `ModelError` and `RunError`
 * share.
 *
 * @since 0.1.0
 */
import * as ErrorToken from "./ErrorToken.ts"
import * as RetryAfter from "./RetryAfter.ts"

/**
 * What is known of a failed model call. `retryAfter` is in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelFailureFacts {
  readonly reason: string
  readonly provider: string
  readonly modelId: string
  readonly status?: number
  readonly code?: string
  readonly type?: string
  readonly parameter?: string
  readonly network?: string
  readonly detail?: string
  readonly retryAfter?: number
}

/**
 * Says which model failed, how, and how long its provider asks to wait.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (facts: ModelFailureFacts): string => {
  const { detail, modelId, provider, reason, retryAfter, status } = facts
  const { code, network, parameter, type } = tokens(facts)
  const known = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(code === undefined ? [] : [`code ${code}`]),
    ...(type === undefined || type === code ? [] : [`type ${type}`]),
    ...(parameter === undefined ? [] : [`parameter ${parameter}`]),
    ...(network === undefined ? [] : [network])
  ]
  const shown = known.length === 0 ? "" : ` (${known.join(", ")})`
  const wait = retryAfter === undefined ? "" : `; the provider asks to wait ${RetryAfter.describe(retryAfter)}`
  return `The model ${provider}/${modelId} failed, ${reason}${shown}${detail === undefined ? "" : `: ${detail}`}${wait}`
}

/**
 * The words of the provider and of the network among some facts, without those
 * that are not codes or names. These may be stored.
 *
 * @category getters
 * @since 0.1.0
 */
export const tokens = (
  facts: Pick<ModelFailureFacts, "code" | "type" | "parameter" | "network">
): Pick<ModelFailureFacts, "code" | "type" | "parameter" | "network"> => {
  const code = ErrorToken.code(facts.code)
  const type = ErrorToken.code(facts.type)
  const parameter = ErrorToken.parameter(facts.parameter)
  const network = ErrorToken.network(facts.network)
  return {
    ...(code === undefined ? {} : { code }),
    ...(type === undefined ? {} : { type }),
    ...(parameter === undefined ? {} : { parameter }),
    ...(network === undefined ? {} : { network })
  }
}

/**
 * Says what to do about a run whose model failed.
 *
 * @category formatting
 * @since 0.1.0
 */
export const advice = (reason: string, threadId: string, retryAfter: number | undefined): string => {
  const recover = `recover the thread "${threadId}"`
  if (retryAfter !== undefined) return `Recover the thread "${threadId}" after that time, or cancel its run`
  switch (reason) {
    case "authentication":
      return `Check the API key and what it may do, then ${recover}`
    case "quota-exceeded":
      return `Check the quota and the billing of the account, then ${recover}`
    case "context-too-long":
      return `Use a model with a larger context and ${recover}, or cancel its run`
    case "content-filtered":
    case "invalid-request":
    case "unsupported":
      return `Change the agent or its model and ${recover}, or cancel its run`
    default:
      return `Recover the thread "${threadId}" to try again, or cancel its run`
  }
}
