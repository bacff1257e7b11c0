/**
 * Reads the files of a directory, within bounds.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type Found, PostureDirectoryError } from "./PostureProblem.ts"

/**
 * The largest file that is read, in bytes.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxFileBytes = 131_072

/**
 * A file as it was found: its path, its name, and its text or why there is
 * none.
 *
 * @category models
 * @since 0.1.0
 */
export interface PostureText {
  readonly file: string
  readonly name: string
  readonly text: Result.Result<string, Found>
}

/**
 * Reads every posture file of a directory, in the order of their names.
 *
 * **Details**
 *
 * These are the files that end in `.yaml`, `.yml` or `.md` and do not start
 * with a dot, so that the temporary files of editors are left alone. Links are
 * followed. Directories inside are not read, which is reported.
 *
 * @category running
 * @since 0.1.0
 */
export const read = (directory: string) =>
  readWhole(directory).pipe(
    Effect.repeat({ until: (found) => found?.includes("Gone") === false, times: 3 }),
    Effect.filterOrFail(
      (found) => found !== undefined,
      () => new PostureDirectoryError({ directory, reason: "Unreadable" })
    ),
    // Where files come and go all the time, those that are gone by now are not there.
    Effect.map((found) => found.filter((entry) => entry !== "Gone"))
  )

/**
 * Tells a directory from another one at the same path.
 *
 * @category getters
 * @since 0.1.0
 */
export const identity = Effect.fnUntraced(function*(directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { birthtime, dev, ino, type } = yield* Effect.mapError(fs.stat(directory), unreadable(directory))
  if (type !== "Directory") return yield* new PostureDirectoryError({ directory, reason: "NotADirectory" })
  // File systems give the number of a directory that is gone to the next one.
  return [dev, Option.getOrElse(ino, () => ""), Option.match(birthtime, { onNone: () => "", onSome: Number })].join(":")
})

// Nothing if the directory is another one at the end: the files of one that went away would be files that were removed.
const readWhole = Effect.fnUntraced(function*(directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const before = yield* identity(directory)
  const names = yield* Effect.mapError(fs.readDirectory(directory), unreadable(directory))
  const found = yield* Effect.forEach(
    names.filter((name) => !name.startsWith(".")).sort(),
    (name) => readEntry(fs, path.join(directory, name), name),
    { concurrency: 8 }
  )
  return (yield* identity(directory)) === before ? found.filter((entry) => entry !== undefined) : undefined
})

const isPostureFile = (name: string): boolean => /.\.(?:ya?ml|md)$/i.test(name)

const unreadable = (directory: string) => (cause: PlatformError) =>
  new PostureDirectoryError({ directory, reason: isMissing(cause) ? "Missing" : "Unreadable", cause })

const isMissing = (error: PlatformError): boolean => error.reason._tag === "NotFound"

// What is gone by the time it is looked at may be there under another name.
const readEntry = (
  fs: FileSystem.FileSystem,
  file: string,
  name: string
): Effect.Effect<PostureText | "Gone" | undefined> => {
  const entry = (text: Result.Result<string, Found>): PostureText => ({ file, name, text })
  const problem = (message: string, severity: Found["severity"] = "error") =>
    entry(Result.fail({ severity, field: "", message }))
  return fs.stat(file).pipe(
    Effect.flatMap(({ type }) => {
      if (type === "Directory") return Effect.succeed(problem("Directories inside are not read", "warning"))
      if (!isPostureFile(name)) return Effect.succeed(undefined)
      // Reading a pipe could wait forever.
      return type === "File"
        ? Effect.map(readText(fs, file), entry)
        : Effect.succeed(problem("Expected a regular file"))
    }),
    Effect.catch((error) => {
      if (!isMissing(error)) {
        return Effect.succeed(isPostureFile(name) ? problem(`Cannot be read: ${error.reason._tag}`) : undefined)
      }
      if (!isPostureFile(name)) return Effect.succeed(undefined)
      return Effect.match(fs.readLink(file), {
        onSuccess: () => problem("This link points nowhere"),
        // A name that is listed and not found was not decoded whole.
        onFailure: () => name.includes("\ufffd") ? problem("Expected a name in UTF-8") : "Gone" as const
      })
    })
  )
}

const readText = (
  fs: FileSystem.FileSystem,
  file: string
): Effect.Effect<Result.Result<string, Found>, PlatformError> =>
  // However large it is, or grows meanwhile.
  Effect.map(Stream.runCollect(fs.stream(file, { bytesToRead: maxFileBytes + 1 })), (chunks) => {
    const bytes = Buffer.concat(chunks)
    if (bytes.length > maxFileBytes) {
      return Result.fail({ field: "", message: `Expected at most ${maxFileBytes} bytes` })
    }
    return Result.try({
      try: () => utf8.decode(bytes),
      catch: () => ({ field: "", message: "Expected text in UTF-8" })
    })
  })

// Takes a byte order mark away, and refuses what is no UTF-8.
const utf8 = new TextDecoder("utf-8", { fatal: true })
