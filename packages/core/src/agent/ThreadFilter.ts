/**
 * Which threads to list.
 *
 * @since 0.1.0
 */
import * as Options from "../values/Options.ts"
import { RunState } from "../values/RunOutcome.ts"

/**
 * Which threads to list. All fields narrow; absent ones do not.
 *
 * **Details**
 *
 * - `states`: those whose last run is in one of these states
 * - `agentId`: those whose last run is of this agent
 * - `tenant`: those of this tenant
 * - `stoppedBefore`: those whose last run is suspended, failed or settled, since
 *   before that time in milliseconds of the Unix epoch
 * - `after`: those whose id is greater, by code units: the last of the page
 *   before
 * - `limit` (100): how many at most, up to 1000
 *
 * @category models
 * @since 0.1.0
 */
export interface ThreadFilter {
  readonly states?: ReadonlyArray<RunState>
  readonly agentId?: string
  readonly tenant?: string
  readonly stoppedBefore?: number
  readonly after?: string
  readonly limit?: number
}

const maxLimit = 1000

// What narrows nothing where it should would list the threads of other tenants.
const narrowing = {
  agentId: Options.text,
  tenant: Options.text,
  stoppedBefore: Options.checked<number>(
    "a number of milliseconds",
    (value) => typeof value === "number" && !Number.isNaN(value)
  ),
  after: Options.text,
  limit: Options.countWithin({ most: maxLimit })
}

/**
 * Decodes a filter.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<ThreadFilter> = Options.make<ThreadFilter>("filter", {
  states: Options.list(Options.oneOf(RunState.literals)),
  ...narrowing
})

/**
 * Decodes a filter that takes no states.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeStateless: Options.Decode<Omit<ThreadFilter, "states">> = Options.make<Omit<ThreadFilter, "states">>(
  "filter",
  narrowing
)
