/**
 * Writes the events of an audit to a file, one JSON object a line.
 */
import type { RunEvent } from "@mandate/core"
import { Effect, FileSystem, type PlatformError, type Scope } from "effect"

/** A trace that is being written. */
export interface Trace {
  readonly write: (events: ReadonlyArray<RunEvent.RunEvent>) => Effect.Effect<void, PlatformError.PlatformError>
}

/** Opens the file of a trace, emptied, until the scope closes. */
export const open = (
  path: string
): Effect.Effect<Trace, PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(path, { flag: "w" })
    return {
      write: (events) =>
        file.writeAll(new TextEncoder().encode(events.map((event) => `${JSON.stringify(event)}\n`).join("")))
    }
  })

/** A trace that nobody asked for. */
export const none: Trace = { write: () => Effect.void }
