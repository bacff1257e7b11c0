import { assert, layer } from "@effect/vitest"
import { PostureFiles } from "@mandate/core/postures"
import { Effect, FileSystem, Path } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { directory, node, yaml } from "./folder.ts"
import { load, shown } from "./loading.ts"

layer(node)("PostureFiles.load of a directory", (it) => {
  it.effect("leaves the temporary files of editors alone", () =>
    Effect.gen(function*() {
      const broken = "name: [\n"
      const { names, problems } = yield* load({
        "a.yaml": yaml("a"),
        ".a.yaml.swp": broken,
        ".#a.yaml": broken,
        ".hidden.md": broken,
        "#a.yaml#": broken,
        "a.yaml~": broken,
        "a.yaml.bak": broken,
        "4913": broken,
        "notes.txt": broken,
        ".md": broken
      })

      assert.deepStrictEqual(names, ["a"])
      assert.deepStrictEqual(problems, [])
    }))

  it.effect("says each problem on one line, and of names that are no text as well", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a\nb.yaml": "5" })
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/c`), Buffer.of(0xff), Buffer.from(".yaml")]), yaml("c"))
      const { problems } = shown(folder, yield* PostureFiles.load(folder))

      assert.deepStrictEqual(problems, [
        "a\\u000ab.yaml:1: Expected fields with names",
        "c\ufffd.yaml: Expected a name in UTF-8"
      ])
    }))

  it.effect("follows links, reports those that point nowhere, and does not read directories inside", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const elsewhere = yield* directory({ "posture": yaml("linked") })
      const folder = yield* directory({ "a.yaml": yaml("a") })
      yield* fs.symlink(path.join(elsewhere, "posture"), path.join(folder, "linked.yaml"))
      yield* fs.symlink(path.join(elsewhere, "nothing"), path.join(folder, "nowhere.md"))
      yield* fs.symlink("loop.md", path.join(folder, "loop.md"))
      yield* fs.makeDirectory(path.join(folder, "inner.md"))
      const { names, problems, severities } = shown(folder, yield* PostureFiles.load(folder))

      assert.deepStrictEqual(names, ["a", "linked"])
      assert.deepStrictEqual(problems, [
        "inner.md: Directories inside are not read",
        "loop.md: Cannot be read: BadResource",
        "nowhere.md: This link points nowhere"
      ])
      assert.deepStrictEqual(severities, ["warning", "error", "error"])
    }))

  it.effect("does not wait for what is written to a pipe", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a") })
      execFileSync("mkfifo", [`${folder}/pipe.yaml`])

      assert.deepStrictEqual(shown(folder, yield* PostureFiles.load(folder)).problems, [
        "pipe.yaml: Expected a regular file"
      ])
    }))

  it.effect("fails when there is no such directory", () =>
    Effect.gen(function*() {
      const path = yield* Path.Path
      const folder = yield* directory({ "a.yaml": yaml("a") })
      const missing = yield* Effect.flip(PostureFiles.load(path.join(folder, "none")))
      const file = yield* Effect.flip(PostureFiles.load(path.join(folder, "a.yaml")))

      assert.instanceOf(missing, PostureFiles.PostureDirectoryError)
      assert.strictEqual(missing.reason, "Missing")
      assert.strictEqual(missing.message, `Postures cannot be read from ${folder}/none: it does not exist`)
      assert.strictEqual(file.reason, "NotADirectory")
    }))
})
