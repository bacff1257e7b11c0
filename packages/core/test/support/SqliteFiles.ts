/** Run stores in files of their own, which go with the test. */
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The path of a file that is not there yet, in a folder that goes with the scope. */
export const path = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "mandate-sqlite-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "runs.db")
)

/** A store in a new file. */
export const layerFile = (options: Omit<SqliteRunStore.Options, "filename"> = {}) =>
  Layer.unwrap(Effect.map(path, (filename) => SqliteRunStore.layer({ filename, ...options })))
