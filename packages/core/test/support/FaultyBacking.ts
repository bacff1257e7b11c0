/** A storage whose next operations can be made to fail, hang or give anything, and what was logged meanwhile. */
import type { CachedResult, ResultCache } from "@mandate/core"
import { Cause, Effect, Logger } from "effect"

export interface FaultyBacking extends ResultCache.CacheBacking {
  readonly entries: Map<string, unknown>

  /** What every operation does first. */
  fault: Effect.Effect<void, unknown>
}

export const make = (): FaultyBacking => {
  const entries = new Map<string, unknown>()
  const after = <A>(result: () => A) => Effect.andThen(Effect.suspend(() => backing.fault), Effect.sync(result))
  const backing: FaultyBacking = {
    entries,
    fault: Effect.void,
    read: (key) => after(() => entries.get(key)),
    write: (key, entry: CachedResult.CachedResult) => after(() => entries.set(key, entry)),
    remove: (key) => after(() => entries.delete(key)),
    clear: after(() => entries.clear())
  }
  return backing
}

/** A logger that writes to a list, a line each. */
export const logging = (lines: Array<string>) =>
  Logger.layer([
    Logger.make(({ cause, message }) => {
      lines.push([String(message), ...(cause.reasons.length === 0 ? [] : [Cause.pretty(cause)])].join(" | "))
    })
  ])
