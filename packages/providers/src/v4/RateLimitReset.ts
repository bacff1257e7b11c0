/**
 * When the limits of a provider are reset, from the headers that say so beside
 * `retry-after`.
 *
 * @since 0.1.0
 */

/**
 * Reads how many milliseconds remain until the limits that a request met are
 * reset: the longest of them. `undefined` where no header says so.
 *
 * **Details**
 *
 * Read are `ratelimit-reset`, `x-ratelimit-reset`, the `x-ratelimit-reset-…`
 * of OpenAI and its likes, and the `anthropic-ratelimit-…-reset` of Anthropic.
 * A limit of which something remains, by its header of that name, is not the
 * one that was met. A value is a duration with units (`6m0s`, `20ms`), seconds,
 * seconds or milliseconds since 1970 where the number is too large for a wait,
 * or a date as ISO 8601. Header names are in lower case; `now` is in
 * milliseconds since 1970.
 *
 * @category getters
 * @since 0.1.0
 */
export const fromHeaders = (headers: ReadonlyMap<string, string>, now: number): number | undefined => {
  let longest: number | undefined
  for (const [name, value] of headers) {
    const remaining = remainingOf(name)
    if (remaining === undefined || Number(headers.get(remaining) ?? "0") > 0) continue
    const wait = read(value, now)
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait)
  }
  return longest
}

// The header beside a reset that says how much remains of the limit.
const remainingOf = (name: string): string | undefined => {
  if (/^(x-)?ratelimit-reset(-[a-z-]{1,32})?$/.test(name)) return name.replace("reset", "remaining")
  return /^anthropic-ratelimit-[a-z-]{1,32}-reset$/.test(name) ? name.replace(/reset$/, "remaining") : undefined
}

const read = (value: string, now: number): number | undefined => {
  if (/^\d{1,20}(\.\d{1,9})?$/.test(value)) return clamp(fromNumber(Number(value), now))
  if (/^\d{4}-\d\d-\d\dT/.test(value)) {
    return Number.isNaN(Date.parse(value))
      ? undefined
      : clamp(Date.parse(value) - now)
  }
  return fromUnits(value)
}

// A number of seconds of more than 30 years is a time since 1970, in seconds or in milliseconds.
const fromNumber = (count: number, now: number): number => {
  if (count < 1e9) return count * 1_000
  return count < 1e11 ? count * 1_000 - now : count - now
}

const fromUnits = (value: string): number | undefined => {
  if (!/^(\d{1,15}(\.\d{1,9})?(ms|[dhms]))+$/.test(value) || value.length > 64) return undefined
  let millis = 0
  for (const [, count, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
    millis += Number(count) * (units.get(unit ?? "") ?? 0)
  }
  return clamp(millis)
}

const units: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000]
])

const clamp = (millis: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(millis)))
