import { assert, describe, it } from "@effect/vitest"
import { sourceFailures } from "../lib/sourceRules.ts"

const check = (text: string, path = "packages/core/src/run/A.ts") => sourceFailures({ path, text })

describe("sourceFailures", () => {
  it.each([
    "const a = async () => 1",
    "try { f() } catch {}",
    "throw new Error()",
    "const a = Date.now()",
    "const a = Math.random()",
    "console.log(1)",
    "const a = b as any",
    "// @ts-ignore",
    "// TODO: later",
    "import \"./B\"",
    "const a = `${Date.now()}`",
    "\n".repeat(300) + "const a = 1"
  ])("refuses %j", (text) => {
    assert.lengthOf(check(text), 1)
  })

  it("names the line", () => {
    assert.match(check("const a = 1\n\nconst b = Math.random()")[0]!, /^packages\/core\/src\/run\/A\.ts:3 /)
  })

  it("allows these words in comments and strings, and as names of members", () => {
    assert.deepStrictEqual(
      check("// try { throw }\nconst a = \"console.log\"\nEffect.try({ try: () => 1, catch: f })\nimport \"./B.ts\""),
      []
    )
  })

  it("allows async in providers", () => {
    const text = "const a = async () => 1"
    assert.deepStrictEqual(check(text, "packages/providers/src/A.ts"), [])
  })

  it("refuses a machine's path and a registry's address in any file", () => {
    // Joined here, so that this file does not break the rule itself.
    assert.lengthOf(check(`see ${["", "home", "ada", "x"].join("/")}`, "docs/a.md"), 1)
    assert.lengthOf(check(`"resolved": ${["\"https:", "", "example.org"].join("/")}`, "package-lock.json"), 1)
    assert.deepStrictEqual(check("see https://example.org/work/home/x and ./work/x", "docs/a.md"), [])
  })
})
