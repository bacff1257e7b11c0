import { assert, describe, it } from "@effect/vitest"
import { snippetsIn } from "../lib/snippets.ts"

const lines = (...text: ReadonlyArray<string>) => text.join("\n")

describe("snippetsIn", () => {
  it("reads the ts fences of Markdown with their lines", () => {
    const text = lines(
      "# Title",
      "```ts",
      "const a = 1",
      "```",
      "```sh",
      "npm ci",
      "```",
      "- item",
      "",
      "  ```ts no-check",
      "  const b =",
      "    2",
      "  ```",
      "````md",
      "```ts",
      "not an example",
      "```",
      "````"
    )

    assert.deepStrictEqual(snippetsIn({ path: "a.md", text }), [
      { path: "a.md", line: 3, code: "const a = 1", checked: true },
      { path: "a.md", line: 11, code: "const b =\n  2", checked: false }
    ])
  })

  it("reads the fences of doc comments without their margin", () => {
    const text = lines(
      "/**",
      " * Adds.",
      " *",
      " * ```ts",
      " * const a = {",
      " *   b: 1",
      " * }",
      " * ```",
      " */",
      "export const c = `",
      "```ts",
      "`"
    )

    assert.deepStrictEqual(snippetsIn({ path: "a.ts", text }), [
      { path: "a.ts", line: 5, code: "const a = {\n  b: 1\n}", checked: true }
    ])
  })

  it("refuses a fence that is never closed", () => {
    assert.throws(() => snippetsIn({ path: "a.ts", text: lines("/**", " * ```ts", " */", "const a = 1") }), /a\.ts:2/)
  })
})
