/**
 * Options of the verbs that act on a thread.
 *
 * @since 0.1.0
 */
import * as Options from "./Options.ts"

/**
 * Options of `recover`.
 *
 * **Details**
 *
 * - `force` (`false`): take the run over at once from a process that still
 *   holds it, instead of waiting for one lease time
 *
 * @category models
 * @since 0.1.0
 */
export interface RecoverOptions {
  readonly force?: boolean
}

/**
 * Options of `cancel`.
 *
 * **Details**
 *
 * - `child`: the thread id of the one child to cancel. Default: the whole run
 *
 * @category models
 * @since 0.1.0
 */
export interface CancelOptions {
  readonly child?: string
}

/**
 * Decodes the options of `recover`.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeRecover: Options.Decode<RecoverOptions> = Options.make<RecoverOptions>("option", {
  force: Options.flag
})

/**
 * Decodes the options of `cancel`. The child is checked like every thread id.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeCancel: Options.Decode<CancelOptions> = Options.make<CancelOptions>("option", {
  child: Options.any
})
