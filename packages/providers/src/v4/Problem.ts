/**
 * What went wrong with a model call, without the name of the model.
 *
 * @since 0.1.0
 */
import type { ModelError, Usage } from "@mandate/core"

/**
 * What went wrong with a model call: the fields of a `ModelError` beside the
 * model's name.
 *
 * **Details**
 *
 * `detail` is written in this package and never taken from a provider. `code`,
 * `type` and `parameter` are the provider's, where they are short words;
 * `network` is a code with a host and a port.
 * `status` is a whole number, `retryAfter` a whole number of milliseconds that
 * is not negative, `usage` has counts as Finish.toUsage makes them: the error's
 * own check of them can therefore not fail.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem {
  readonly reason: ModelError.ModelErrorReason
  readonly detail?: string
  readonly status?: number
  readonly code?: string
  readonly type?: string
  readonly parameter?: string
  readonly network?: string
  readonly retryAfter?: number
  readonly usage?: Usage.ModelUsage
}
