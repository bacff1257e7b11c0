/**
 * Brings a registry up to the files of a directory.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { PostureRegistry } from "../service/PostureRegistry.ts"
import * as Posture from "../values/Posture.ts"
import type { Known } from "./PostureFile.ts"
import * as PostureFolder from "./PostureFolder.ts"
import { type FileProblem, format, type PostureDirectoryError } from "./PostureProblem.ts"
import * as PostureSet from "./PostureSet.ts"

/**
 * A registry and the directory it follows.
 *
 * @category models
 * @since 0.1.0
 */
export interface FolderSync {
  /** Reads the directory and applies what changed. Problems are logged when they are new. */
  readonly refresh: Effect.Effect<void, PostureDirectoryError, FileSystem.FileSystem | Path.Path>

  /** The same, where a directory that cannot be read is logged once and changes nothing. */
  readonly again: Effect.Effect<void, never, FileSystem.FileSystem | Path.Path>
}

/**
 * Creates the link between a registry and a directory. What the application
 * put into the registry itself is left alone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (registry: PostureRegistry["Service"], directory: string, known: Known): FolderSync => {
  let set = PostureSet.empty
  let applied: ReadonlyMap<string, string> = new Map()
  let lost: string | undefined

  const apply = Effect.fnUntraced(function*(postures: ReadonlyArray<Posture.Posture>) {
    const before = applied
    applied = new Map(postures.map((posture) => [posture.name, Posture.version(posture)]))
    for (const posture of postures) {
      if (before.get(posture.name) === applied.get(posture.name)) continue
      // It was checked with the same schemas as the file was read.
      yield* Effect.orDie(registry.put(posture))
      yield* Effect.logDebug(`Posture "${posture.name}" is at version ${applied.get(posture.name)}`)
    }
    const current = new Map((yield* registry.list).map((posture) => [posture.name, Posture.version(posture)]))
    for (const [name, version] of before) {
      if (applied.has(name) || current.get(name) !== version) continue
      yield* registry.remove(name)
      yield* Effect.logDebug(`Posture "${name}" is removed`)
    }
  })

  const refresh = Effect.flatMap(
    PostureFolder.read(directory),
    (texts) =>
      Effect.uninterruptible(Effect.gen(function*() {
        const old = new Set(set.problems.map(format))
        set = PostureSet.next(set, texts, known)
        yield* apply(set.postures)
        yield* Effect.forEach(set.problems.filter((problem) => !old.has(format(problem))), log, { discard: true })
      }))
  )

  return {
    refresh,
    again: Effect.matchEffect(refresh, {
      onSuccess: () => {
        const isBack = lost !== undefined
        lost = undefined
        return isBack ? Effect.logInfo(`Postures can be read again from ${directory}`) : Effect.void
      },
      onFailure: ({ message }) => {
        const isNew = lost !== message
        lost = message
        return isNew ? Effect.annotateLogs(Effect.logError(message), { directory }) : Effect.void
      }
    })
  }
}

const log = (problem: FileProblem): Effect.Effect<void> => {
  const { field, file, line, severity } = problem
  const said = severity === "error" ? Effect.logError(format(problem)) : Effect.logWarning(format(problem))
  return Effect.annotateLogs(said, {
    file,
    ...(line === undefined ? {} : { line }),
    ...(field === "" ? {} : { field })
  })
}
