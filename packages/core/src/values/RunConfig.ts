/**
 * Options of one run.
 *
 * @since 0.1.0
 */
import type { Budget } from "./Budget.ts"
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
