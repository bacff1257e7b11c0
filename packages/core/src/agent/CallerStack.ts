/**
 * Where code without Effect called a verb, for the stacks of the errors that
 * its promise rejects with.
 *
 * **Details**
 *
 * An error is made in a fiber, whose stack has nothing of the caller's. The
 * caller's is taken when the verb is called, and written out only if the
 * promise rejects.
 *
 * @since 0.1.0
 */

/**
 * A place in the caller's code: a stack, of which the first `skip` frames are
 * not the caller's.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallerStack {
  readonly stack?: string
  readonly skip: number
}

/**
 * Takes the stack of whoever called `below`, a function that is being executed.
 * Between the two are `skip` functions of this SDK.
 *
 * @category constructors
 * @since 0.1.0
 */
export const capture = (below: (...args: ReadonlyArray<any>) => unknown, skip = 0): CallerStack => {
  const holder: CallerStack = { skip }
  // Not every runtime can do it. There the stack of a promise is the error's own.
  if (typeof Error.captureStackTrace === "function") Error.captureStackTrace(holder, below)
  return holder
}

/**
 * Puts the caller's frames below those of an error, in place of the frames of
 * Effect's own code, which say nothing of where a program is.
 *
 * **Details**
 *
 * An error that rejects several promises, such as that of a layer that could
 * not be built, shows the last caller. What is no error, or cannot be changed,
 * is left as it is.
 *
 * @category combinators
 * @since 0.1.0
 */
export const append = (rejection: unknown, caller: CallerStack): unknown => {
  if (!(rejection instanceof Error) || typeof rejection.stack !== "string") return rejection
  const own = originals.get(rejection) ?? rejection.stack
  originals.set(rejection, own)
  const frames = framesOf(caller)
  if (frames.length > 0) {
    // A verb that fails before it waits for anything has the caller's frames already.
    const kept = own.split("\n").filter((line) => !ofEffect.test(line) && !frames.includes(line))
    Reflect.defineProperty(rejection, "stack", {
      value: [...kept, ...frames].join("\n"),
      configurable: true,
      writable: true,
      enumerable: false
    })
  }
  return rejection
}

/**
 * Gives an iterable whose errors have the frames of whoever iterates.
 *
 * @category combinators
 * @since 0.1.0
 */
export const iterable = <A>(source: AsyncIterable<A>): AsyncIterable<A> => {
  const traced: AsyncIterable<A> = {
    [Symbol.asyncIterator]() {
      const caller = capture(traced[Symbol.asyncIterator])
      const iterator = source[Symbol.asyncIterator]()
      const reject = (error: unknown) => Promise.reject(append(error, caller))
      return {
        next: () => iterator.next().catch(reject),
        return: (value) => iterator.return?.(value).catch(reject) ?? Promise.resolve({ done: true, value }),
        throw: (error) => iterator.throw?.(error).catch(reject) ?? reject(error)
      }
    }
  }
  return traced
}

// The stacks of errors before a caller was added.
const originals = new WeakMap<Error, string>()

const framesOf = ({ skip, stack = "" }: CallerStack): ReadonlyArray<string> =>
  stack.split("\n").filter((line) => isFrame.test(line)).slice(skip).filter((line) => !ofEffect.test(line))

const isFrame = /^\s+at /
const ofEffect = /^\s+at (.*[\\/]node_modules[\\/]effect[\\/]|Generator\.next \(<anonymous>\)$)/
