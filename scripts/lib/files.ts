/**
 * The files of the repository, by path from its root.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, matchesGlob } from "node:path"

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** The repository's root folder. */
export const root = join(import.meta.dirname, "../..")

/** Reads every file that Git would track and whose path matches. Works without Git, as in an unpacked archive. */
export const filesMatching = (pattern: RegExp): ReadonlyArray<SourceFile> =>
  pathsIn("")
    .filter((path) => pattern.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

// The patterns in use are plain names and `*.suffix`; `.gitignore` stays the one place that lists them.
const ignored = [
  ".git",
  ...readFileSync(join(root, ".gitignore"), "utf8").split("\n").filter((line) => line !== "")
    .map((line) => line.replace(/\/$/, ""))
]

const pathsIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !ignored.some((pattern) => matchesGlob(name, pattern)))
    .flatMap((entry) =>
      entry.isDirectory() ? pathsIn(`${folder}${entry.name}/`) : entry.isFile() ? [folder + entry.name] : []
    )
