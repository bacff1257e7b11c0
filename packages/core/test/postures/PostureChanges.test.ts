import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, PlatformError, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { directory, node, write, yaml } from "./folder.ts"
import { follow, staged, started } from "./watching.ts"

layer(node)("what becomes of postures when their files change", (it) => {
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
