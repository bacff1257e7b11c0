import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Folder from "../src/Folder.ts"
import * as Options from "../src/Options.ts"
import * as Cli from "./support/Cli.ts"

const timeout = 60_000

const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

describe.concurrent("the command", () => {
  it.live(
    "walks through all acts, each claim after what it is about, and removes its folder",
    () =>
      Effect.gen(function*() {
        const folder = yield* Cli.newFolder
        const { exitCode, stderr, stdout } = yield* Cli.run(folder)

        assert.deepStrictEqual([exitCode, stderr], [0, ""])
        assert.lengthOf(linesOf(stdout).filter((line) => line.startsWith("# ")), 11)
        assert.lengthOf(linesOf(stdout).filter((line) => line.startsWith("- ")), 17)
        assert.include(stdout, "cache_hit \"High water comes twice a day, about fifty minutes later each day.\"")
        assert.include(stdout, "partial \"So far: two notes to read.\"")
        assert.include(
          stdout,
          "refused, RecursionLimit: The posture \"chief\" would run at depth 4; the runtime allows 3"
        )
        assert.include(stdout, "file broken.md, line 4, field budget.maxTokens")
        assert.deepStrictEqual(readdirSync(folder), [])
      }),
    timeout
  )

  it.live("prints its results alone, a line of JSON for each", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* Cli.here(["--json"])

      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      const results = linesOf(stdout).map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        results.map(({ _tag, act, refused, status }) => [act, status ?? refused?._tag ?? _tag]),
        [
          ["first", "success"],
          ["hit", "cache_hit"],
          ["edit", "Change"],
          ["miss", "success"],
          ["partial", "partial"],
          ["same", "cache_hit"],
          ["retry", "success"],
          ["ceiling", "InvalidRequest"],
          ["recursion", "success"],
          ["depth", "RecursionLimit"],
          ["problem", "Problem"],
          ["again", "cache_hit"]
        ]
      )
      const sessions = results.flatMap(({ subSessionId }) => subSessionId === undefined ? [] : [subSessionId])
      assert.lengthOf(new Set(sessions), sessions.length)
    }), timeout)

  it.live("ends with 1 and the claim when something does not hold", () =>
    Effect.gen(function*() {
      const folder = yield* Cli.newFolder
      cpSync(Folder.original, folder, { recursive: true })
      const file = join(folder, "researcher.yaml")
      writeFileSync(file, readFileSync(file, "utf8").replace("maxTokens: 100,", "maxTokens: 500,"))
      const { exitCode, stderr, stdout } = yield* Cli.here([], folder)

      assert.strictEqual(exitCode, 1)
      assert.match(stderr, /^posture-desk: This does not hold: The second answer went over the limit\. .*\n$/)
      assert.lengthOf(linesOf(stderr), 1)
      assert.notInclude(stdout, "went over the limit")
    }), timeout)

  it.live("ends with 1 and a line when a posture is not there", () =>
    Effect.gen(function*() {
      const { exitCode, stderr } = yield* Cli.here([], yield* Cli.newFolder)

      assert.deepStrictEqual(
        [exitCode, stderr],
        [1, "posture-desk: There is no posture \"reader\"; postures: none\n"]
      )
    }), timeout)

  it.live("keeps its folder when it is to", () =>
    Effect.gen(function*() {
      const folder = yield* Cli.newFolder
      const { exitCode, stderr } = yield* Cli.run(folder, "--keep", "--json")

      const [kept, ...rest] = readdirSync(folder)
      assert.deepStrictEqual([exitCode, rest], [0, []])
      assert.strictEqual(stderr, `The folder is kept: ${join(folder, kept!)}\n`)
      assert.deepStrictEqual(readdirSync(join(folder, kept!)).sort(), [
        "broken.md",
        "chief.md",
        "reader.md",
        "researcher.yaml"
      ])
      assert.include(readFileSync(join(folder, kept!, "reader.md"), "utf8"), "in one word")
    }), timeout)

  it.live("ends with 130 on Ctrl-C and removes its folder, whatever it is at", () =>
    Effect.gen(function*() {
      for (const [text, delay] of [["# A posture is a file", "30000"], ["# An operator edits", "200"]] as const) {
        const folder = yield* Cli.newFolder
        const running = yield* Cli.start(folder, "--delay", delay)
        yield* running.wrote(text)
        const [copy] = readdirSync(folder)

        // npm passes a Ctrl-C on that the command has got already.
        running.process.kill("SIGINT")
        running.process.kill("SIGINT")

        const { exitCode, stderr } = yield* running.ended
        assert.match(copy ?? "", /^posture-desk-/)
        assert.deepStrictEqual([exitCode, stderr, readdirSync(folder)], [130, "", []])
      }
    }), timeout)

  it.live("explains itself", () =>
    Effect.gen(function*() {
      const help = yield* Cli.here(["--what", "--help", "x"])
      const wrong: ReadonlyArray<readonly [string, string]> = [
        ["--what", "Unknown option --what"],
        ["--__proto__", "Unknown option --__proto__"],
        ["-x", "Unknown option -x"],
        ["walk", "Nothing can be given but options, got \"walk\""],
        ["--json=yes", "--json takes no value"],
        ["--keep=", "--keep takes no value"],
        ["--delay", "--delay needs a number"],
        ["--delay --json", "--delay needs a number"],
        ["--delay 1e9", "--delay must be a whole number from 0 to 60000"],
        ["--delay=-1", "--delay must be a whole number from 0 to 60000"]
      ]
      const refused = yield* Effect.forEach(wrong, ([line]) => Cli.here(line.split(" ")))

      assert.deepStrictEqual(help, { exitCode: 0, stdout: `${Options.usage}\n`, stderr: "" })
      refused.forEach(({ exitCode, stderr, stdout }, index) => {
        assert.deepStrictEqual([exitCode, stdout], [2, ""])
        assert.isTrue(stderr.startsWith(`posture-desk: ${wrong[index]![1]}`), stderr)
        assert.lengthOf(linesOf(stderr), 1)
      })
    }), timeout)
})
