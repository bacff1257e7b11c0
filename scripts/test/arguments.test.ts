import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "../lib/files.ts"

const scripts = ["bench/run.ts", "bench/flat.ts", "crash.ts", "soak.ts"]

const run = (script: string, ...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, ["--conditions=mandate-source", join(root, "scripts", script), ...args], {
    encoding: "utf8"
  })

describe("the command lines of the scripts", () => {
  it.each(scripts)("%s prints its usage when asked", (script) => {
    const { status, stderr, stdout } = run(script, "--help")

    assert.match(stdout, /^usage: npm run [a-z:]+ -- .+\n$/)
    assert.deepStrictEqual([status, stderr], [0, ""])
  })

  it.each(scripts)("%s says in a sentence what it does not take", (script) => {
    const { status, stderr, stdout } = run(script, "--sed", "1")

    assert.match(stderr, /^Unknown option '--sed'\nusage: npm run [a-z:]+ -- .+\n$/)
    assert.deepStrictEqual([status, stdout], [2, ""])
  })

  it.each(
    [
      ["bench/run.ts", "--runs", "x", "--runs takes a whole number, 1 or more, not \"x\""],
      ["bench/flat.ts", "--runs", "5", "--runs takes two multiples of 50, the smaller first, not \"5\""],
      ["crash.ts", "--write", "1+", "--write takes a whole number, 1 or more, not \"\""],
      ["crash.ts", "--within", "0", "--within takes a whole number, 1 or more, not \"0\""],
      ["soak.ts", "--seed", "", "--seed takes a whole number, 0 or more, not \"\""]
    ] as const
  )("%s says what %s takes instead of \"%s\"", (script, option, value, problem) => {
    const { status, stderr } = run(script, option, value)

    assert.strictEqual(stderr.split("\n")[0], problem)
    assert.strictEqual(status, 2)
  })
})
