/**
 * Writes the events of an audit to a file, one JSON object a line.
 */
import type { RunEvent } from "@mandate/core"
import { Effect, FileSystem, type PlatformError, type Scope } from "effect"
import { Output } from "../../support/src/Output.ts"
import { UsageError } from "./Options.ts"

/** A trace that is being written. Where writing fails it says so once, and the audit goes on without a trace. */
export interface Trace {
  readonly write: (events: ReadonlyArray<RunEvent.RunEvent>) => Effect.Effect<void>
}

/** A trace that nobody asked for. */
export const none: Trace = { write: () => Effect.void }

/** Opens the file of a trace, emptied, until the scope closes. */
export const open = Effect.fnUntraced(function*(
  path: string
): Effect.fn.Return<Trace, UsageError, FileSystem.FileSystem | Output | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const output = yield* Output
  const file = yield* Effect.mapError(
    fs.open(path, { flag: "w" }),
    (error) => new UsageError({ problem: `Cannot write the trace to ${JSON.stringify(path)}: ${problemOf(error)}` })
  )
  let broken = false
  const fail = (error: PlatformError.PlatformError) => {
    broken = true
    return output.log(`The trace is not whole, since ${JSON.stringify(path)} cannot be written: ${problemOf(error)}`)
  }
  return {
    write: (events) => {
      if (broken) return Effect.void
      const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("")
      return Effect.catch(file.writeAll(new TextEncoder().encode(lines)), fail)
    }
  }
})

const problemOf = ({ reason }: PlatformError.PlatformError): string => {
  switch (reason._tag) {
    case "NotFound":
      return "its folder does not exist"
    case "PermissionDenied":
      return "permission denied"
    default:
      return "the system refuses"
  }
}
