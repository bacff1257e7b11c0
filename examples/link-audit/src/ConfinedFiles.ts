/**
 * File access that cannot leave one folder.
 */
import { Array, ByteSize, Effect, FileSystem, Order, Path, type PlatformError, Schema, Semaphore } from "effect"
import { Reason } from "./Reason.ts"

/** Bytes that a Markdown file may have. A larger one is not read at all. */
export const maxBytes = 5_000_000

const maxOpen = 16

/** The folder to audit cannot be opened or listed. */
export class FolderError extends Schema.TaggedError<FolderError>("link-audit/FolderError")("FolderError", {
  folder: Schema.String,
  reason: Schema.Literals(["missing", "not a folder", "unreadable"])
}) {
  override get message(): string {
    return `Cannot open the folder ${JSON.stringify(this.folder)}: ${this.reason}`
  }
}

/** A file cannot be read, or lies where nothing may be read. */
export class FileError extends Schema.TaggedError<FileError>("link-audit/FileError")("FileError", {
  path: Schema.String,
  reason: Reason
}) {
  override get message(): string {
    return `Cannot read ${JSON.stringify(this.path)}: ${this.reason}`
  }
}

/** Something that exists in the folder. `path` is relative to the folder, with `/`, as it was asked for. */
export interface Entry {
  readonly path: string
  readonly realPath: string
  readonly type: FileSystem.File.Type
  readonly size: ByteSize.ByteSize
}

/** Access to the files below one folder. */
export interface ConfinedFiles {
  /**
   * Markdown files (`.md`, `.markdown` in any case), sorted by code units.
   * `node_modules`, folders whose name starts with a dot and symbolic links
   * are skipped: what a link leads to is listed where it lies, or not ours.
   */
  readonly markdownFiles: Effect.Effect<ReadonlyArray<string>, FolderError>

  /**
   * Finds a path that is relative to the folder, or to the folder `from` in it.
   * `..` is resolved by the letters of the path, as in a URL, before symbolic links are followed.
   */
  readonly locate: (path: string, from?: string) => Effect.Effect<Entry, FileError>

  /** Names in a folder that was located. */
  readonly names: (folder: Entry) => Effect.Effect<ReadonlyArray<string>, FileError>

  /** Reads a Markdown file as strict UTF-8, without its byte order mark. */
  readonly read: (path: string) => Effect.Effect<string, FileError>
}

/** Tells a Markdown file by its name. */
export const isMarkdown = (path: string): boolean => /\.(?:md|markdown)$/i.test(path)

/** Opens a folder. A symbolic link to a folder will do; all paths are then confined to what it leads to. */
export const make = Effect.fnUntraced(function*(
  folder: string
): Effect.fn.Return<ConfinedFiles, FolderError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path

  const folderError = (error: PlatformError.PlatformError) =>
    new FolderError({ folder, reason: isMissing(error) ? "missing" : "unreadable" })
  // A process may have few files open, and an audit asks for many at once.
  const opening = (yield* Semaphore.make(maxOpen)).withPermits(1)

  const fileError = (path: string) => (error: PlatformError.PlatformError) =>
    new FileError({ path, reason: isMissing(error) ? "missing" : "unreadable" })

  const root = yield* Effect.mapError(fs.realPath(paths.resolve(folder)), folderError)
  const info = yield* Effect.mapError(fs.stat(root), folderError)
  if (info.type !== "Directory") return yield* new FolderError({ folder, reason: "not a folder" })
  yield* Effect.mapError(fs.access(root, { readable: true }), folderError)

  /** The path below the root, with `/`; none for what lies outside. */
  const relative = (absolute: string): string | undefined => {
    const path = paths.relative(root, absolute)
    const outside = path === ".." || path.startsWith(`..${paths.sep}`) || paths.isAbsolute(path)
    return outside ? undefined : path.replaceAll(paths.sep, "/")
  }

  const walk = (below: string): Effect.Effect<ReadonlyArray<string>, FolderError> =>
    fs.readDirectoryEntries(paths.join(root, below)).pipe(
      Effect.mapError(folderError),
      Effect.flatMap(Effect.forEach(({ name, type }) => {
        const path = below === "" ? name : `${below}/${name}`
        if (type === "Directory" && !isSkipped(name)) return walk(path)
        return Effect.succeed(type === "File" && isMarkdown(name) ? [path] : [])
      })),
      Effect.map((found) => found.flat())
    )

  const locate = Effect.fnUntraced(function*(given: string, from = ""): Effect.fn.Return<Entry, FileError> {
    const absolute = paths.resolve(root, from, given)
    const path = relative(absolute)
    if (path === undefined) return yield* new FileError({ path: given, reason: "outside" })
    const realPath = yield* Effect.mapError(fs.realPath(absolute), fileError(path))
    if (relative(realPath) === undefined) return yield* new FileError({ path, reason: "outside" })
    const { size, type } = yield* Effect.mapError(fs.stat(realPath), fileError(path))
    return { path, realPath, type, size }
  })

  const read = Effect.fnUntraced(function*(given: string): Effect.fn.Return<string, FileError> {
    const { path, realPath, size, type } = yield* locate(given)
    if (!isMarkdown(path)) return yield* new FileError({ path, reason: "not Markdown" })
    if (type !== "File") return yield* new FileError({ path, reason: "unreadable" })
    if (ByteSize.isGreaterThan(size, ByteSize.bytes(maxBytes))) {
      return yield* new FileError({ path, reason: "too large" })
    }
    const bytes = yield* Effect.mapError(opening(fs.readFile(realPath)), fileError(path))
    return yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => new FileError({ path, reason: "not UTF-8" })
    })
  })

  return {
    markdownFiles: Effect.map(walk(""), Array.sort(Order.String)),
    locate,
    names: ({ path, realPath }) => Effect.mapError(opening(fs.readDirectory(realPath)), fileError(path)),
    read
  }
})

const isSkipped = (name: string): boolean => name === "node_modules" || name.startsWith(".")

/** `BadResource` is a file where the path needs a folder, or a ring of symbolic links: either leads nowhere. */
const isMissing = ({ reason }: PlatformError.PlatformError): boolean =>
  reason._tag === "NotFound" || reason._tag === "BadResource"
