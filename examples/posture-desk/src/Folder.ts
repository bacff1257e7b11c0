/**
 * A copy of the folder of postures, to be edited.
 */
import { Effect } from "effect"
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder of this example. */
export const original: string = fileURLToPath(new URL("../postures", import.meta.url))

/** Copies a folder of postures into a new one, which goes with the scope unless it is to be kept. */
export const copy = (postures: string, keep: boolean) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "posture-desk-"))
      cpSync(postures, folder, { recursive: true })
      return folder
    }),
    (folder) => keep ? Effect.void : Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/**
 * Writes a file in one step: it is written beside, under a name that is not
 * read, and renamed. Nobody ever reads half of it.
 */
export const write = (folder: string, name: string, text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    const draft = join(folder, `.${name}.new`)
    writeFileSync(draft, text)
    renameSync(draft, join(folder, name))
  })

/** Replaces a text in a file, as an editor does. */
export const edit = (folder: string, name: string, from: string, to: string): Effect.Effect<void> =>
  Effect.suspend(() => write(folder, name, readFileSync(join(folder, name), "utf8").replace(from, to)))
