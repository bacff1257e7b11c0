import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Path } from "effect"
import { directory, markdown, node, write, writeAll, yaml } from "./folder.ts"
import { follow } from "./watching.ts"

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
