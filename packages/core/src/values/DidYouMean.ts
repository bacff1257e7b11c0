/**
 * The name that a misspelt one was probably meant to be.
 *
 * @since 0.1.0
 */

/**
 * Finds the known name that is closest to a given one: the same in another
 * case, or at most two letters away (one, for a name of less than four). Nothing where none is close, or where the
 * name is longer than 64 characters.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (name: string, known: ReadonlyArray<string>): string | undefined => {
  if (name.length > maxLength) return undefined
  const lower = name.toLowerCase()
  const most = name.length < minLength ? 1 : maxDistance
  let best: string | undefined
  let least = most + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > most) continue
    const away = distance(lower, candidate.toLowerCase())
    if (away < least) [best, least] = [candidate, away]
  }
  return best
}

const maxLength = 64
const minLength = 4
const maxDistance = 2

// Levenshtein's distance, one row at a time.
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
