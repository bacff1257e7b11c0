import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { root } from "../lib/files.ts"

const example = join(root, "docs/examples/readme.ts")

/** The code of the fences of a language in the README, in order. */
const fences = (language: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, "README.md"), "utf8")
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm")
  return [...text.matchAll(fence)].map(([, code = ""]) => code)
}

describe("README.md", () => {
  it("shows the example as it is in its file", () => {
    assert.deepStrictEqual(fences("ts"), [readFileSync(example, "utf8")])
  })

  it("shows what the example prints", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=mandate-source", example])

    assert.deepStrictEqual(fences("text"), [stdout])
  })
})
