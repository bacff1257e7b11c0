/**
 * Runs functions that know promises and abort signals, not Effect.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/**
 * Calls a function and waits for what it gives: a value, a promise, or an
 * async iterable, whose last element is the result. What it throws is a
 * defect.
 *
 * **Details**
 *
 * Every element of an iterable is given to `progress`, the last one too.
 * Interruption aborts the signal at once, asks an iterable to end, and waits
 * for neither. `undefined` becomes `null`.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <R>(
  call: (signal: AbortSignal) => unknown,
  progress: (value: unknown) => Effect.Effect<void, never, R>
): Effect.Effect<unknown, never, R> =>
  Effect.suspend(() => {
    const controller = new AbortController()
    let iterator: AsyncIterator<unknown> | undefined
    const outcome = Effect.flatMap(begin(() => call(controller.signal)), ({ given }) => {
      if (!isAsyncIterable(given)) return attempt(() => given as PromiseLike<unknown>)
      iterator = given[Symbol.asyncIterator]()
      return drain(iterator, progress)
    })
    return Effect.onInterrupt(outcome, () =>
      Effect.sync(() => {
        controller.abort()
        leave(iterator)
      })).pipe(Effect.map((value) => json(value)))
  })

// A promise that fails while nobody looks at it would end the process.
const begin = (call: () => unknown): Effect.Effect<{ readonly given: unknown }> =>
  Effect.sync(() => {
    const given = call()
    if (Predicate.isPromiseLike(given)) given.then(undefined, () => {})
    return { given }
  })

const attempt = <A>(promise: () => PromiseLike<A>): Effect.Effect<A> =>
  Effect.orDie(Effect.tryPromise({ try: async () => await promise(), catch: (thrown) => thrown }))

const drain = Effect.fnUntraced(function*<R>(
  iterator: AsyncIterator<unknown>,
  progress: (value: unknown) => Effect.Effect<void, never, R>
): Effect.fn.Return<unknown, never, R> {
  let last: unknown
  while (true) {
    const next = yield* attempt(() => iterator.next())
    if (next.done === true) return last
    last = next.value
    yield* progress(json(last))
  }
})

const leave = (iterator: AsyncIterator<unknown> | undefined): void => {
  const left = async () => await iterator?.return?.()
  left().catch(() => {})
}

const isAsyncIterable = (given: unknown): given is AsyncIterable<unknown> =>
  Predicate.isObjectOrArray(given) && Symbol.asyncIterator in given

// A key without a value is no key in JSON. Everything else that is not JSON is the result's own fault.
const json = (value: unknown, above: ReadonlyArray<unknown> = []): unknown => {
  if (value === undefined) return above.length === 0 ? null : undefined
  if (above.length > maxDepth || above.includes(value)) return value
  if (Array.isArray(value)) return value.map((item) => json(item, [...above, value]))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, json(item, [...above, value])])
  )
}

const isPlain = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

const maxDepth = 256
