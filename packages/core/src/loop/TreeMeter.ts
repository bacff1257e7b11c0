/**
 * What a tree of runs has spent of its budget.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. All runs of a tree share one meter, which the drive of the run at the top
 *    makes. One process drives a whole tree, so the meter sees all of it.
 * 2. A meter starts from what the tree has stored, and counts what is not
 *    stored yet: what is found in a record is neither counted nor asked about.
 * 3. Asking and taking are one synchronous step, so runs side by side never
 *    take more than there is.
 *
 * @since 0.1.0
 */
import type { ResolvedTreeBudget } from "../values/TreeBudget.ts"
import * as Usage from "../values/Usage.ts"

/**
 * The meter of one tree.
 *
 * @category models
 * @since 0.1.0
 */
export interface TreeMeter {
  readonly budget: ResolvedTreeBudget

  /** Counts the tokens of a model call. */
  readonly addTokens: (usage: Usage.Usage) => void

  /** Whether a response has crossed the limit of tokens. */
  readonly isOutOfTokens: () => boolean

  /** Whether so many calls may start. */
  readonly hasCalls: (count: number) => boolean

  /** Counts calls that start. */
  readonly takeCalls: (count: number) => void

  /** Counts a child run that is about to start, if one may. */
  readonly takeChild: () => boolean
}

/**
 * Creates the meter of a tree that has spent this much already.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (budget: ResolvedTreeBudget, spent: Usage.Usage): TreeMeter => {
  const { maxChildRuns = Infinity, maxTokens = Infinity, maxToolCalls = Infinity } = budget
  let tokens = Usage.tokens(spent)
  let { childRuns, toolCalls } = spent
  return {
    budget,
    addTokens: (usage) => {
      tokens += Usage.tokens(usage)
    },
    isOutOfTokens: () => tokens > maxTokens,
    hasCalls: (count) => toolCalls + count <= maxToolCalls,
    takeCalls: (count) => {
      toolCalls += count
    },
    takeChild: () => {
      if (childRuns >= maxChildRuns) return false
      childRuns++
      return true
    }
  }
}
