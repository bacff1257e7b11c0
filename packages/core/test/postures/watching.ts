import { type Posture, PostureRegistry } from "@mandate/core"
import { PostureFiles } from "@mandate/core/postures"
import {
  type Cause,
  Context,
  Effect,
  FileSystem,
  Layer,
  Logger,
  Option,
  type Path,
  Queue,
  References,
  Stream
} from "effect"
import { node } from "./folder.ts"

interface Logged {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

/** A registry that follows a directory, with its changes and what is logged of them, as they come. */
export const follow = Effect.fnUntraced(function*(
  directory: string,
  options: Omit<PostureFiles.Options, "directory"> = {},
  files: Layer.Layer<FileSystem.FileSystem | Path.Path> = node
) {
  const logs = yield* Queue.unbounded<Logged>()
  const logger = Logger.make(({ fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    Queue.offerUnsafe(logs, { level: logLevel, message: [message].flat().map(String).join(" "), annotations })
  })
  const context = yield* Layer.build(
    PostureFiles.layer({ directory, ...options }).pipe(Layer.provide(files), Layer.provide(Logger.layer([logger])))
  )
  const registry = Context.get(context, PostureRegistry.PostureRegistry)
  const changes = yield* Queue.unbounded<string>()
  yield* registry.changes.pipe(
    Stream.runForEach((change) => Queue.offer(changes, shown(change))),
    Effect.forkScoped({ startImmediately: true })
  )
  return {
    registry,
    names: Effect.map(registry.list, (postures) => postures.map(({ name }) => name)),
    change: soon(Queue.take(changes)),
    logs,
    log: soon(Queue.take(logs))
  }
})

const shown = PostureRegistry.PostureChange.match({
  Added: ({ posture }) => `+ ${steps(posture)}`,
  Changed: ({ posture, previous }) => `~ ${steps(previous)} > ${steps(posture)}`,
  Removed: ({ posture }) => `- ${steps(posture)}`
})

const steps = ({ maxSteps, name }: Posture.Posture): string => `${name} ${maxSteps}`

/** A test that waits for what never comes ends by itself, in real time. */
export const soon = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.raceFirst(
    effect,
    Effect.callback<never>((resume) => {
      const timer = setTimeout(() => resume(Effect.die("nothing came")), 10_000)
      return Effect.sync(() => clearTimeout(timer))
    })
  )

/** The real file system, whose events a test makes itself, and which counts how often a directory is read. */
export const staged = Effect.fnUntraced(function*() {
  const fs = yield* FileSystem.FileSystem
  const watches: Array<Queue.Queue<FileSystem.WatchEvent, Cause.Done>> = []
  // What happens when the names of a directory are read and its files are not yet.
  const stage = { reads: 0, closed: 0, watches, between: Effect.void as Effect.Effect<unknown> }
  const backend = FileSystem.WatchBackend.of({
    register: (_path, _stat, options) =>
      Option.some(Stream.callback<FileSystem.WatchEvent>((queue) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            watches.push(queue)
            options?.onReady?.()
          }),
          () => Effect.sync(() => stage.closed++)
        )
      ))
  })
  const counting = FileSystem.FileSystem.of({
    ...fs,
    readDirectory: (path, options) =>
      Effect.suspend(() => {
        stage.reads++
        return Effect.tap(fs.readDirectory(path, options), () => stage.between)
      })
  })
  const files = Layer.mergeAll(
    node,
    Layer.succeed(FileSystem.FileSystem, counting),
    Layer.succeed(FileSystem.WatchBackend, backend)
  )
  const event = (index = watches.length - 1) => Queue.offer(watches[index]!, { _tag: "Update", path: "a.yaml" })
  return { stage, files, event }
})

/** The same in a folder whose events a test makes itself. */
export const started = Effect.fnUntraced(
  function*(folder: string, options: Omit<PostureFiles.Options, "directory"> = {}) {
    const stage = yield* staged()
    return { ...stage, ...yield* follow(folder, options, stage.files) }
  }
)
