import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Options from "../src/Options.ts"

const defaults = { folder: Options.defaultFolder, json: false, trace: undefined, concurrency: 4, help: false }

describe("Options", () => {
  it.effect("defaults to the docs of the repository", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Options.parse([]), defaults)
      assert.match(Options.defaultFolder, /[\\/]docs$/)
      assert.notInclude(Options.defaultFolder, "examples")
    }))

  it.effect("reads the folder and all options in any order", () =>
    Effect.gen(function*() {
      const expected = { folder: "notes", json: true, trace: "t.jsonl", concurrency: 64, help: false }

      const spaced = yield* Options.parse(["--json", "notes", "--trace", "t.jsonl", "--concurrency", "64"])
      const inline = yield* Options.parse(["--concurrency=64", "--trace=t.jsonl", "notes", "--json"])

      assert.deepStrictEqual(spaced, expected)
      assert.deepStrictEqual(inline, expected)
    }))

  it.effect("takes what follows -- as the folder", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Options.parse(["--", "--json"]), { ...defaults, folder: "--json" })
    }))

  it.effect("takes the last of an option given twice", () =>
    Effect.gen(function*() {
      const options = yield* Options.parse(["--concurrency", "2", "--concurrency", "3"])

      assert.strictEqual(options.concurrency, 3)
    }))

  it.effect("lets a file for the trace start with a dash when it is joined to its option", () =>
    Effect.gen(function*() {
      const options = yield* Options.parse(["--trace=-t"])

      assert.strictEqual(options.trace, "-t")
    }))

  it.effect("lets --help win over mistakes", () =>
    Effect.gen(function*() {
      assert.isTrue((yield* Options.parse(["--help"])).help)
      assert.isTrue((yield* Options.parse(["-h"])).help)
      assert.isTrue((yield* Options.parse(["--nope", "a", "b", "--help"])).help)
    }))

  const mistakes: ReadonlyArray<readonly [args: ReadonlyArray<string>, problem: string]> = [
    [["--nope"], "Unknown option --nope"],
    [["--nope=1"], "Unknown option --nope"],
    [["--no-json"], "Unknown option --no-json"],
    [["--__proto__"], "Unknown option --__proto__"],
    [["-x"], "Unknown option -x"],
    [["--json=true"], "--json takes no value"],
    [["--trace"], "--trace needs a file"],
    [["--trace="], "--trace needs a file"],
    [["--trace", "--json"], "--trace needs a file"],
    [["--concurrency"], "--concurrency needs a number"],
    [["--concurrency", "--json"], "--concurrency needs a number"],
    [["--concurrency", "-1"], "--concurrency needs a number"],
    ...["0", "65", "100", "1.5", "1e1", "0x10", "two", " 3", "007", "NaN", "Infinity"].map((value) =>
      [
        [`--concurrency=${value}`],
        `--concurrency must be a whole number from 1 to 64, got ${JSON.stringify(value)}`
      ] as const
    ),
    [["a", "b"], "Only one folder can be audited, got \"a\" and \"b\""],
    [[""], "The folder is empty"]
  ]
  for (const [args, problem] of mistakes) {
    it.effect(`refuses ${JSON.stringify(args)}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Options.parse(args))

        assert.strictEqual(error._tag, "UsageError")
        assert.strictEqual(error.problem, problem)
        assert.strictEqual(error.message, `${problem}\nRun link-audit --help for the options.`)
      }))
  }

  it("names every option in the usage and stays within 80 columns", () => {
    for (const option of ["[folder]", "--json", "--trace FILE", "--concurrency N", "--help"]) {
      assert.include(Options.usage, option)
    }
    for (const line of Options.usage.split("\n")) assert.isAtMost(line.length, 80)
  })
})
