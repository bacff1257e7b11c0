/**
 * Where a command writes.
 */
import { Context, Effect, Layer } from "effect"
import type { Writable } from "node:stream"

/** The two outputs of a command. Who reads them may leave at any time; that is no error. */
export class Output extends Context.Service<Output, {
  /** Writes a line of the result, to stdout. */
  readonly print: (line: string) => Effect.Effect<void>

  /** Writes a line of the log, to stderr. */
  readonly log: (line: string) => Effect.Effect<void>
}>()("examples/Output") {}

/** Layer that writes to the streams of the process. */
export const layer: Layer.Layer<Output> = Layer.sync(Output, () => ({
  print: writer(process.stdout),
  log: writer(process.stderr)
}))

const writer = (stream: Writable) => {
  // `| head` closes the pipe. Without a listener Node ends with a stack trace.
  stream.on("error", () => {})
  return (line: string) =>
    Effect.callback<void>((resume) => {
      stream.write(`${line}\n`, () => resume(Effect.void))
    })
}
