/**
 * The names that the fields of a posture file have, and what a name that is
 * near one of them was meant to be.
 *
 * @since 0.1.0
 */

/**
 * Fields that a posture has under the same name.
 *
 * @category constants
 * @since 0.1.0
 */
export const asTheyAre: ReadonlyArray<string> = [
  "name",
  "description",
  "settings",
  "report",
  "maxDepth",
  "maxSteps"
]

/**
 * Fields that hold a text of several lines.
 *
 * @category constants
 * @since 0.1.0
 */
export const texts: ReadonlyArray<string> = ["description", "instructions"]

const knownFields = [...asTheyAre, "instructions", "tools", "allowedTools", "model", "budget", "ceiling", "extra"]

const limitNames: ReadonlyArray<string> = ["maxTokens", "maxToolCalls", "timeout", "timeoutSeconds"]

/**
 * Whether a field is known.
 *
 * @category getters
 * @since 0.1.0
 */
export const isKnown = (key: string): boolean => knownFields.includes(key)

/**
 * Whether a name is, or is near, one of a limit, which stands in a budget.
 *
 * @category getters
 * @since 0.1.0
 */
export const isLimit = (key: string): boolean => limitNames.some((limit) => isNear(limit, key))

/**
 * The field that a name was meant to be.
 *
 * @category getters
 * @since 0.1.0
 */
export const meant = (key: string): string | undefined => knownFields.find((field) => isNear(field, key))

const plain = (name: string): string => name.toLowerCase().replace(/[-_\s]/g, "")

// Whether two names are one but for case and dashes, or long ones but for one letter as well.
const isNear = (known: string, given: string): boolean => {
  const [a, b] = [plain(known), plain(given)]
  if (a === b) return true
  const [shorter, longer] = [Math.min(a.length, b.length), Math.max(a.length, b.length)]
  if (shorter < 5 || longer - shorter > 1) return false
  let head = 0
  while (head < shorter && a[head] === b[head]) head++
  let tail = 0
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return longer - head - tail <= 1
}
