import { assert, layer } from "@effect/vitest"
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
  Path,
  PlatformError,
  Queue,
  References,
  Stream
} from "effect"
import { TestClock } from "effect/testing"
import { directory, markdown, node, write, writeAll, yaml } from "./folder.ts"

interface Logged {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

// A registry that follows a directory, with its changes and what is logged of them, as they come.
const follow = Effect.fnUntraced(function*(
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

// A test that waits for what never comes ends by itself, in real time.
const soon = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.raceFirst(
    effect,
    Effect.callback<never>((resume) => {
      const timer = setTimeout(() => resume(Effect.die("nothing came")), 10_000)
      return Effect.sync(() => clearTimeout(timer))
    })
  )

// The real file system, whose events a test makes itself, and which counts how often a directory is read.
const staged = Effect.fnUntraced(function*() {
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

const started = Effect.fnUntraced(function*(folder: string, options: Omit<PostureFiles.Options, "directory"> = {}) {
  const stage = yield* staged()
  return { ...stage, ...yield* follow(folder, options, stage.files) }
})

layer(node)("PostureFiles.layer on the clock", (it) => {
  it.effect("reads again once, 250 ms after the last of many events", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1") })
      const { change, event, stage } = yield* started(folder)
      yield* write(folder, "a.yaml", yaml("a", "maxSteps: 2"))
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* change, "~ a 1 > a 2")
      const before = stage.reads

      yield* write(folder, "a.yaml", yaml("a", "maxSteps: 3"))
      yield* event()
      for (let n = 0; n < 20; n++) {
        yield* TestClock.adjust("249 millis")
        yield* event()
      }
      assert.strictEqual(stage.reads, before)
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "~ a 2 > a 3")
      assert.strictEqual(stage.reads, before + 1)
    }))

  it.effect("finds what happened between its start and the first event", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a") })
      const { change, names } = yield* started(folder)
      assert.deepStrictEqual(yield* names, ["a"])
      yield* write(folder, "b.yaml", yaml("b"))

      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "+ b 32")
    }))

  it.effect("reads again every 10 seconds where no event comes, however many come", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1") })
      const { change, event, stage } = yield* started(folder, { debounce: "1 minute" })
      yield* write(folder, "a.yaml", yaml("a", "maxSteps: 2"))
      yield* TestClock.adjust("9999 millis")
      yield* event()
      assert.strictEqual(stage.reads, 1)
      yield* TestClock.adjust("1 millis")

      assert.strictEqual(yield* change, "~ a 1 > a 2")
      yield* write(folder, "a.yaml", yaml("a", "maxSteps: 3"))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* change, "~ a 2 > a 3")
    }))

  it.effect("keeps the last good posture of a file until it is valid again, and logs each problem once", () =>
    Effect.gen(function*() {
      const folder = yield* directory({
        "a.md": markdown(["description: Does it", "maxSteps: 1"]),
        "b.yaml": yaml("b")
      })
      const { change, event, log, names, registry } = yield* started(folder)
      const again = Effect.andThen(event(), TestClock.adjust("250 millis"))
      const whole = markdown(["description: Does it", "maxSteps: 2"])

      yield* write(folder, "a.md", whole.slice(0, 30))
      yield* again
      assert.deepStrictEqual(yield* log, {
        level: "Error",
        message: `${folder}/a.md:1: Expected a second line of ---`,
        annotations: { file: `${folder}/a.md`, line: 1 }
      })
      assert.deepStrictEqual(yield* names, ["a", "b"])
      assert.strictEqual((yield* registry.get("a")).maxSteps, 1)
      // Each of these reads the same problem again.
      yield* again
      yield* write(folder, "b.yaml", yaml("b", "maxSteps: 2"))
      yield* again
      assert.strictEqual(yield* change, "~ b 32 > b 2")
      yield* write(folder, "a.md", whole.replace("2", "0"))
      yield* again
      assert.deepStrictEqual((yield* log).annotations, { file: `${folder}/a.md`, line: 3, field: "maxSteps" })
      yield* write(folder, "a.md", whole)
      yield* again

      assert.strictEqual(yield* change, "~ a 1 > a 2")
    }))

  it.effect("keeps all postures while the directory is gone, says so once, and watches the one that comes back", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1"), "b.yaml": yaml("b") })
      const { change, event, log, names, stage } = yield* started(folder)
      yield* fs.remove(folder, { recursive: true })
      yield* event()
      yield* TestClock.adjust("250 millis")

      const gone = yield* log
      assert.strictEqual(gone.level, "Error")
      assert.strictEqual(gone.message, `Postures cannot be read from ${folder}: it does not exist`)
      assert.deepStrictEqual(yield* names, ["a", "b"])
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("10 seconds")
      yield* fs.rename(yield* directory({ "a.yaml": yaml("a", "maxSteps: 2") }), folder)
      yield* TestClock.adjust("10 seconds")

      assert.strictEqual(yield* change, "~ a 1 > a 2")
      assert.strictEqual(yield* change, "- b 32")
      assert.strictEqual((yield* log).message, `Postures can be read again from ${folder}`)
      yield* write(folder, "c.yaml", yaml("c"))
      assert.lengthOf(stage.watches, 2)
      yield* event(1)
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* change, "+ c 32")
    }))

  it.effect("keeps all postures where the directory goes while it is read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a"), "b.yaml": yaml("b") })
      const { event, log, names, stage } = yield* started(folder)
      yield* write(folder, "c.yaml", yaml("c"))
      stage.between = Effect.orDie(fs.remove(folder, { recursive: true, force: true }))
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual((yield* log).message, `Postures cannot be read from ${folder}: it does not exist`)
      assert.deepStrictEqual(yield* names, ["a", "b"])
    }))

  it.effect("reads the directory that took the place of another one while that was read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1"), "b.yaml": yaml("b") })
      const other = yield* directory({ "b.yaml": yaml("b"), "a.md": markdown(["description: Does it", "maxSteps: 2"]) })
      const { change, event, names, stage } = yield* started(folder)
      yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(`${folder}-old`, { recursive: true })))
      yield* write(folder, "c.yaml", yaml("c"))
      stage.between = Effect.orDie(Effect.suspend(() => {
        stage.between = Effect.void
        return Effect.andThen(fs.rename(folder, `${folder}-old`), fs.rename(other, folder))
      }))
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "~ a 1 > a 2")
      assert.deepStrictEqual(yield* names, ["a", "b"])
    }))

  it.effect("keeps the posture of a file that is renamed while the directory is read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a"), "b.yaml": yaml("b") })
      const { change, event, names, stage } = yield* started(folder)
      yield* write(folder, "d.yaml", yaml("d"))
      // It is listed by its old name, and by then has another one.
      stage.between = Effect.orDie(Effect.suspend(() => {
        stage.between = Effect.void
        return fs.rename(`${folder}/b.yaml`, `${folder}/c.yaml`)
      }))
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "+ d 32")
      assert.deepStrictEqual(yield* names, ["a", "b", "d"])
    }))

  it.effect("takes what it found where files come and go as fast as it reads", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a"), "b0.yaml": yaml("b") })
      const { change, event, names, stage } = yield* started(folder)
      yield* write(folder, "d.yaml", yaml("d"))
      let renames = 0
      stage.between = Effect.orDie(
        Effect.suspend(() => fs.rename(`${folder}/b${renames}.yaml`, `${folder}/b${++renames}.yaml`))
      )
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "+ d 32")
      assert.deepStrictEqual(yield* names, ["a", "d"])
      assert.strictEqual(renames, 4)
    }))

  it.effect("removes the posture of a file that became a directory", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a"), "b.yaml": yaml("b") })
      const { change, event, names } = yield* started(folder)
      yield* fs.remove(`${folder}/a.yaml`)
      yield* fs.makeDirectory(`${folder}/a.yaml`)
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "- a 32")
      assert.deepStrictEqual(yield* names, ["b"])
    }))

  it.effect("watches a directory that took the place of another one between two readings", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a") })
      const { change, event, stage } = yield* started(folder)
      yield* fs.remove(folder, { recursive: true })
      yield* fs.makeDirectory(folder)
      yield* write(folder, "b.yaml", yaml("b"))
      yield* event(0)
      yield* TestClock.adjust("250 millis")

      assert.deepStrictEqual([yield* change, yield* change], ["+ b 32", "- a 32"])
      assert.lengthOf(stage.watches, 2)
      yield* write(folder, "c.yaml", yaml("c"))
      yield* event()
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* change, "+ c 32")
      assert.lengthOf(stage.watches, 2)
    }))

  it.effect("gives a name to the next file that has it when the first is gone", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("same", "maxSteps: 1"), "b.yaml": yaml("same", "maxSteps: 2") })
      const { change, event, log } = yield* started(folder)
      assert.include((yield* log).message, `The name "same" is taken by ${folder}/a.yaml, which is kept`)
      yield* fs.remove(`${folder}/a.yaml`)
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "~ same 1 > same 2")
    }))

  it.effect("leaves alone what the application put into the registry", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a"), "b.yaml": yaml("b"), "c.yaml": yaml("c") })
      const { change, event, names, registry } = yield* started(folder)
      yield* registry.put({ name: "own", description: "d", instructions: "i" })
      yield* registry.put({ ...yield* registry.get("a"), maxSteps: 5 })
      assert.strictEqual(yield* change, "+ own 32")
      assert.strictEqual(yield* change, "~ a 32 > a 5")
      yield* fs.remove(`${folder}/a.yaml`)
      yield* fs.remove(`${folder}/b.yaml`)
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "- b 32")
      assert.deepStrictEqual(yield* names, ["a", "c", "own"])
    }))

  it.effect("leaves alone what the application put in the place of a posture whose file stays as it is", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a"), "b.yaml": yaml("b") })
      const { change, event, registry } = yield* started(folder)
      yield* registry.put({ ...yield* registry.get("a"), maxSteps: 5 })
      assert.strictEqual(yield* change, "~ a 32 > a 5")
      yield* write(folder, "b.yaml", yaml("b", "maxSteps: 2"))
      yield* event()
      yield* TestClock.adjust("250 millis")

      assert.strictEqual(yield* change, "~ b 32 > b 2")
      assert.strictEqual((yield* registry.get("a")).maxSteps, 5)
      yield* write(folder, "a.yaml", yaml("a", "maxSteps: 3"))
      yield* event()
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* change, "~ a 5 > a 3")
    }))

  it.effect("reads at intervals where the directory cannot be watched, and says so once", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1") })
      let tries = 0
      const failure = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "watch" })
      const backend = FileSystem.WatchBackend.of({
        register: () => {
          tries++
          return Option.some(Stream.fail(failure))
        }
      })
      const files = Layer.merge(node, Layer.succeed(FileSystem.WatchBackend, backend))
      const { change, log, logs } = yield* follow(folder, {}, files)
      const again = Effect.fnUntraced(function*(before: number) {
        yield* write(folder, "a.yaml", yaml("a", `maxSteps: ${before + 1}`))
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* change, `~ a ${before} > a ${before + 1}`)
      })

      assert.include(yield* log, { level: "Warn", message: "Postures are not watched, only read at intervals" })
      yield* again(1)
      yield* again(2)
      assert.isAtLeast(tries, 3)
      assert.strictEqual(yield* Queue.size(logs), 0)
    }))

  it.effect("stops watching with its scope", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a") })
      const { files, stage } = yield* staged()
      yield* Effect.scoped(follow(folder, {}, files))

      assert.strictEqual(stage.closed, 1)
      const before = stage.reads
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(stage.reads, before)
    }))
})

// Here the operating system says what happened; reading at intervals would come too late.
const watched = (folder: string) => follow(folder, { debounce: "20 millis", interval: "1 hour" })

layer(node, { excludeTestServices: true })("PostureFiles.layer on a real directory", (it) => {
  it.effect("follows files that are added, changed, replaced by a rename, renamed and removed", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1") })
      const { change, names } = yield* watched(folder)

      yield* write(folder, "b.md", markdown(["description: Does it"]))
      assert.strictEqual(yield* change, "+ b 32")
      yield* fs.writeFileString(`${folder}/a.yaml`, yaml("a", "maxSteps: 2"))
      assert.strictEqual(yield* change, "~ a 1 > a 2")
      yield* write(folder, "a.yaml", yaml("a", "maxSteps: 3"))
      assert.strictEqual(yield* change, "~ a 2 > a 3")
      yield* fs.rename(`${folder}/a.yaml`, `${folder}/other.yaml`)
      yield* fs.rename(`${folder}/b.md`, `${folder}/c.md`)
      assert.deepStrictEqual([yield* change, yield* change].sort(), ["+ c 32", "- b 32"])
      yield* fs.remove(`${folder}/other.yaml`)
      assert.strictEqual(yield* change, "- a 3")
      assert.deepStrictEqual(yield* names, ["c"])
    }))

  it.effect("follows a directory of links that are all turned at once", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* directory()
      for (const version of ["1", "2"]) {
        yield* fs.makeDirectory(path.join(folder, `..v${version}`))
        yield* writeAll(path.join(folder, `..v${version}`), { "a.yaml": yaml("a", `maxSteps: ${version}`) })
      }
      yield* fs.symlink("..v1", path.join(folder, "..data"))
      yield* fs.symlink(path.join("..data", "a.yaml"), path.join(folder, "a.yaml"))
      const { change, registry } = yield* watched(folder)
      assert.strictEqual((yield* registry.get("a")).maxSteps, 1)

      yield* fs.symlink("..v2", path.join(folder, "..next"))
      yield* fs.rename(path.join(folder, "..next"), path.join(folder, "..data"))

      assert.strictEqual(yield* change, "~ a 1 > a 2")
    }))

  it.effect("follows a directory that is replaced by another one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* directory({ "a.yaml": yaml("a", "maxSteps: 1") })
      const { change, log } = yield* follow(folder, { debounce: "20 millis", interval: "200 millis" })

      yield* fs.rename(folder, `${folder}-old`)
      yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(`${folder}-old`, { recursive: true })))
      assert.include((yield* log).message, "it does not exist")
      yield* fs.rename(yield* directory({ "a.yaml": yaml("a", "maxSteps: 2") }), folder)
      assert.strictEqual(yield* change, "~ a 1 > a 2")
    }))
})
