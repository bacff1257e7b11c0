/**
 * What is logged of posture files.
 */
import { Context, Effect, Layer, Logger, Queue, References } from "effect"
import { basename } from "node:path"

/** A problem of a file, as the log tells it. */
export interface Problem {
  readonly file: string
  readonly line: unknown
  readonly field: unknown
  readonly message: string
}

/** The problems that were logged. */
export class Problems extends Context.Service<Problems, Queue.Queue<Problem>>()("posture-desk/Problems") {}

/** Layer that takes log messages about a file from the log. Whatever else is logged goes to stderr. */
export const layer: Layer.Layer<Problems> = Layer.unwrap(
  Effect.map(Problems, (problems) => Logger.layer([splitting(problems)]))
).pipe(Layer.provideMerge(Layer.effect(Problems, Queue.unbounded<Problem>())))

const splitting = (problems: Queue.Queue<Problem>) => {
  const others = Logger.withConsoleError(Logger.formatLogFmt)
  return Logger.make<unknown, void>((entry) => {
    const { field, file, line } = entry.fiber.getRef(References.CurrentLogAnnotations)
    if (typeof file !== "string") return others.log(entry)
    const message = String(Array.isArray(entry.message) ? entry.message[0] : entry.message)
    Queue.offerUnsafe(problems, {
      file: basename(file),
      line,
      field,
      message: message.slice(message.indexOf(": ") + 2)
    })
  })
}
