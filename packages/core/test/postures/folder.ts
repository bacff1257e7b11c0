import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path } from "effect"

/** The file system of this machine. */
export const node = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

export type Files = { readonly [name: string]: string | Uint8Array }

/** A directory of its own, which is gone with the scope. */
export const directory = Effect.fnUntraced(function*(files: Files = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempDirectory({ prefix: "mandate-postures-" })
  // A test may have moved it away.
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(path, { recursive: true, force: true })))
  yield* writeAll(path, files)
  return path
})

export const writeAll = Effect.fnUntraced(function*(directory: string, files: Files) {
  for (const [name, content] of Object.entries(files)) yield* write(directory, name, content)
})

/** Writes a file whole, so that a reading under way finds the old text or the new one. */
export const write = Effect.fnUntraced(function*(directory: string, name: string, content: string | Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  yield* fs.writeFile(path.join(directory, ".new"), bytes)
  yield* fs.rename(path.join(directory, ".new"), path.join(directory, name))
})

/** A file in Markdown that is a posture, its front matter lines given. */
export const markdown = (lines: ReadonlyArray<string>, body = "You do it."): string =>
  ["---", ...lines, "---", body, ""].join("\n")

/** A file in YAML that is a posture, more lines given. */
export const yaml = (name: string, ...lines: ReadonlyArray<string>): string =>
  [`name: ${name}`, "description: Does it", "instructions: You do it.", ...lines, ""].join("\n")
