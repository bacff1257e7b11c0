/**
 * Postures from a directory of YAML, or of Markdown with front matter.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as PostureRegistry from "../service/PostureRegistry.ts"
import * as ReportSchemas from "../service/ReportSchemas.ts"
import * as CallerOptions from "../values/Options.ts"
import type * as Posture from "../values/Posture.ts"
import * as FolderSync from "./FolderSync.ts"
import * as FolderWatch from "./FolderWatch.ts"
import type { Known } from "./PostureFile.ts"
import * as PostureFolder from "./PostureFolder.ts"
import { type FileProblem, PostureDirectoryError } from "./PostureProblem.ts"
import * as PostureSet from "./PostureSet.ts"

export { maxFileBytes } from "./PostureFolder.ts"
export { FileProblem, format, PostureDirectoryError } from "./PostureProblem.ts"

/**
 * What files are read with.
 *
 * **Details**
 *
 * - `schemas`: report schemas that files may name
 * - `tools`: names of the tools that there are. A file that allows another one
 *   is loaded, with a warning
 *
 * @category models
 * @since 0.1.0
 */
export interface LoadOptions extends PostureRegistry.Options {
  readonly tools?: Iterable<string>
}

/**
 * Where files are and how they are followed.
 *
 * **Details**
 *
 * - `watch` (true): whether changes of the files change the registry
 * - `debounce` (250 milliseconds): how long nothing may happen in the
 *   directory before it is read again
 * - `interval` (10 seconds): how often it is read again in any case, for file
 *   systems that tell nothing
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends LoadOptions {
  readonly directory: string
  readonly watch?: boolean
  readonly debounce?: Duration.Input
  readonly interval?: Duration.Input
}

/**
 * What a directory holds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Loaded {
  readonly postures: ReadonlyArray<Posture.Posture>
  readonly problems: ReadonlyArray<FileProblem>
}

/**
 * Loads the postures of a directory once, with all that is wrong with its
 * files. Nothing is logged.
 *
 * @category running
 * @since 0.1.0
 */
export const load = Effect.fn("PostureFiles.load")(function*(
  directory: string,
  options?: LoadOptions
): Effect.fn.Return<Loaded, PostureDirectoryError, FileSystem.FileSystem | Path.Path> {
  yield* taken(directory, decodeDirectory({ directory }))
  const given = yield* taken(directory, decodeLoad(options))
  const { postures, problems } = PostureSet.next(PostureSet.empty, yield* PostureFolder.read(directory), known(given))
  return { postures, problems }
})

/**
 * Layer with a registry of the postures in a directory.
 *
 * **Details**
 *
 * It fails only if the directory cannot be read at the start, or if the options
 * are not valid. Problems of files
 * are logged, once each, and do not disturb the other files: a file that is
 * wrong, or half written, keeps the posture it gave last. A file that is
 * removed removes its posture. While the directory is gone, all postures stay.
 *
 * Postures that the application puts into the registry stay too; of one name,
 * whatever came last is kept.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<
  PostureRegistry.PostureRegistry,
  PostureDirectoryError,
  FileSystem.FileSystem | Path.Path
> =>
  Layer.effect(
    PostureRegistry.PostureRegistry,
    Effect.gen(function*() {
      const given = yield* taken("", decode(options))
      const { debounce = "250 millis", directory, interval = "10 seconds", watch = true } = given
      const knowing = known(given)
      const registry = PostureRegistry.make(knowing.schemas)
      const sync = FolderSync.make(registry, directory, knowing)
      if (!watch) return yield* Effect.as(sync.refresh, registry)

      const events = yield* Queue.sliding<void>(1)
      const folder = yield* FolderWatch.make(directory, () => Queue.offerUnsafe(events, undefined))
      yield* sync.refresh
      yield* Stream.fromQueue(events).pipe(
        Stream.debounce(debounce),
        Stream.merge(Stream.drop(Stream.tick(interval), 1)),
        Stream.runForEach(() => Effect.andThen(folder.renew, sync.again)),
        Effect.forkScoped
      )
      return registry
    })
  )

const taken = <A>(
  directory: unknown,
  decoded: Result.Result<A, CallerOptions.Issues>
): Effect.Effect<A, PostureDirectoryError> =>
  Effect.mapError(Effect.fromResult(decoded), (issues) =>
    new PostureDirectoryError({
      directory: typeof directory === "string" ? directory : "",
      reason: "InvalidOptions",
      issues
    }))

const loadFields: CallerOptions.Fields<LoadOptions> = {
  schemas: ReportSchemas.option,
  tools: CallerOptions.checked<Iterable<string>>(
    "an iterable of names",
    (tools) => Predicate.isIterable(tools) && typeof tools !== "string"
  )
}

// What is iterated is iterated once: it may be a generator.
const decodeNames = <A extends LoadOptions>(options: A): Result.Result<A, CallerOptions.Issues> => {
  if (options.tools === undefined) return Result.succeed(options)
  const names = Result.getOrElse(Result.try((): ReadonlyArray<unknown> => [...options.tools ?? []]), () => [undefined])
  return names.every((name) => typeof name === "string")
    ? Result.succeed({ ...options, tools: names })
    : Result.fail(["tools must be an iterable of names, each a string"])
}

const decodeDirectory = CallerOptions.make<{ readonly directory: string }>("argument", {
  directory: CallerOptions.text
}, ["directory"])

const decodeKeysOfLoad = CallerOptions.make<LoadOptions>("option", loadFields)
const decodeLoad = (options: unknown) => Result.flatMap(decodeKeysOfLoad(options), decodeNames)

const decodeKeys = CallerOptions.make<Options>("option", {
  ...loadFields,
  directory: CallerOptions.text,
  watch: CallerOptions.flag,
  debounce: CallerOptions.duration,
  interval: CallerOptions.duration
}, ["directory"])
const decode = (options: unknown) => Result.flatMap(decodeKeys(options), decodeNames)

const known = ({ schemas, tools }: LoadOptions): Known => ({
  schemas: ReportSchemas.make(schemas),
  tools: tools === undefined ? undefined : new Set(tools)
})
