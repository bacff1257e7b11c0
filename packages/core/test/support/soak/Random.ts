/** Random numbers that a seed repeats. */

export interface Random {
  /** A whole number from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(values: readonly [A, ...ReadonlyArray<A>]) => A

  /** One of the values, each as often as its weight says. */
  readonly weighted: <A>(values: readonly [readonly [number, A], ...ReadonlyArray<readonly [number, A]>]) => A
  readonly shuffled: <A>(values: ReadonlyArray<A>) => ReadonlyArray<A>

  /** As many values as `min` to `max`, each made anew. */
  readonly many: <A>(min: number, max: number, make: (index: number) => A) => ReadonlyArray<A>
}

/** The numbers of a seed and, with a text, those of this text under the seed. */
export const make = (seed: number, text = ""): Random => {
  let state = mix(seed, text)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (values) => values[int(0, values.length - 1)] ?? values[0],
    weighted: (values) => {
      let left = next() * values.reduce((sum, [weight]) => sum + weight, 0)
      const found = values.find(([weight]) => (left -= weight) < 0)
      return (found ?? values[0])[1]
    },
    shuffled: (values) => {
      const left = [...values]
      return values.map(() => left.splice(int(0, left.length - 1), 1)[0] as (typeof values)[number])
    },
    many: (min, max, make) => Array.from({ length: int(min, max) }, (_, index) => make(index))
  }
}

const mix = (seed: number, text: string): number => {
  let hash = 0x811c9dc5
  for (const letter of `${seed}/${text}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  // Seeds that are neighbours share nearly all their letters, and must share nothing else.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
