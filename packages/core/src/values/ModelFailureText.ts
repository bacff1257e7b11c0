/**
 * What a failed model call says, in the words that `ModelError` and `RunError`
 * share.
 *
 * @since 0.1.0
 */
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
  readonly detail?: string
  readonly retryAfter?: number
}

/**
 * Says which model failed, how, and how long its provider asks to wait.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = ({ detail, modelId, provider, reason, retryAfter, status }: ModelFailureFacts): string => {
  const http = status === undefined ? "" : ` (HTTP ${status})`
  const wait = retryAfter === undefined ? "" : `; the provider asks to wait ${RetryAfter.describe(retryAfter)}`
  return `The model ${provider}/${modelId} failed, ${reason}${http}${detail === undefined ? "" : `: ${detail}`}${wait}`
}
