/**
 * How long something has waited.
 */
import { count } from "../../support/src/Text.ts"

/** A time in milliseconds, in the largest unit that fits. */
export const age = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  if (seconds < 60) return count(seconds, "second")
  if (seconds < 3600) return count(Math.floor(seconds / 60), "minute")
  if (seconds < 86_400) return count(Math.floor(seconds / 3600), "hour")
  return count(Math.floor(seconds / 86_400), "day")
}
