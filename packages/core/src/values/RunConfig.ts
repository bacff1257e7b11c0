/**
 * Options of one run.
 *
 * @since 0.1.0
 */
import type { Budget } from "./Budget.ts"
import * as Options from "./Options.ts"
import type { TreeBudget } from "./TreeBudget.ts"

/**
 * Options of one run.
 *
 * **Details**
 *
 * - `threadId`: the thread to run on, 1 to 128 of `[a-zA-Z0-9_.:-]`. A run
 *   that is given none gets a thread of its own, which is deleted when the run
 *   settles
 * - `budget`: over the definition's, field by field
 * - `treeBudget`: what the run and everything below it may spend together.
 *   Default: no limit
 * - `childRetention`: settled child threads to keep, where that is fewer than
 *   the definition keeps
 * - `tenant`: whose thread it is, 1 to 128 of `[a-zA-Z0-9_.:-]`; threads can
 *   be listed by it. A thread stays its first run's tenant's: a run of it for
 *   another, or for none, is refused
 *
 * @category models
 * @since 0.1.0
 */
export interface RunConfig {
  readonly threadId?: string
  readonly budget?: Budget
  readonly treeBudget?: TreeBudget
  readonly childRetention?: number
  readonly tenant?: string
}

/**
 * The second argument of a verb that starts a run: options, with the context
 * `C` where the agent declares one. `undefined` is no context, and `unknown`
 * one that is not known here. `More` are further options.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Args<C, More = unknown> = unknown extends C ? [config?: WithContext & More]
  : [C] extends [undefined] ? [config?: RunConfig & More]
  : [config: RunConfig & More & { readonly context: C }]

/**
 * Options of one run of an agent that may declare a context.
 *
 * **Details**
 *
 * `context` is a value of the schema that the agent declares (`withContext`),
 * of at most {@link maxContextBytes} as JSON. An agent that declares one needs
 * it, and one that declares none takes none.
 *
 * @category models
 * @since 0.1.0
 */
export interface WithContext extends RunConfig {
  readonly context?: unknown
}

/**
 * The most bytes of UTF-8 that the canonical JSON of a context may have:
 * 64 KiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxContextBytes = 64 * 1024

/**
 * Schemas for the options of one run, by key. What a key may hold is checked
 * where the run's terms are made of it, so that an error can name the option.
 *
 * @category schemas
 * @since 0.1.0
 */
export const fields: Options.Fields<WithContext> = {
  threadId: Options.any,
  budget: Options.any,
  treeBudget: Options.any,
  childRetention: Options.any,
  tenant: Options.any,
  context: Options.any
}

/**
 * Decodes the options of one run as a caller gives them: a plain object with
 * these keys and no others.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<WithContext> = Options.make<WithContext>("option", fields)
