import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { directory, markdown, node, write, yaml } from "./folder.ts"
import { started } from "./watching.ts"

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
})
