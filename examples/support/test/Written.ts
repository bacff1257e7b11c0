/** A text that is written in pieces, and can be waited for. */
import { Deferred, Effect } from "effect"

export interface Written {
  readonly text: () => string
  readonly append: (piece: string) => void
  /** Waits until the text contains another. */
  readonly includes: (wanted: string) => Effect.Effect<void>
}

/** Nothing, to be appended to. */
export const make = (): Written => {
  const waiting = new Map<string, Deferred.Deferred<void>>()
  let text = ""
  return {
    text: () => text,
    append: (piece) => {
      text += piece
      for (const [wanted, seen] of waiting) if (text.includes(wanted)) Deferred.doneUnsafe(seen, Effect.void)
    },
    includes: (wanted) =>
      Effect.suspend(() => {
        if (text.includes(wanted)) return Effect.void
        const seen = waiting.get(wanted) ?? Deferred.makeUnsafe<void>()
        waiting.set(wanted, seen)
        return Deferred.await(seen)
      })
  }
}
