/**
 * One drive of one run, as the parts of the loop see it.
 *
 * @since 0.1.0
 */
import type { Mandate } from "../service/Mandate.ts"
import type { ActiveRun } from "./ActiveRun.ts"
import type { CompiledAgent } from "./CompiledAgent.ts"
import type { Journal } from "./Journal.ts"

/**
 * One drive of one run.
 *
 * **Details**
 *
 * - `streaming`: models are asked in pieces where they can
 * - `now`: time in milliseconds, on the drive's clock
 * - `activeMillis`: active time of the run so far, former drives included
 *
 * @category models
 * @since 0.1.0
 */
export interface Drive {
  readonly run: ActiveRun
  readonly agent: CompiledAgent
  readonly runtime: Mandate["Service"]
  readonly journal: Journal
  readonly streaming: boolean
  readonly now: () => number
  readonly activeMillis: () => number
}
