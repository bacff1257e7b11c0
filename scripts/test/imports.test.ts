import { assert, describe, it } from "@effect/vitest"
import { importsOf } from "../lib/imports.ts"

const specifiers = (source: string) => importsOf(source).map(({ specifier }) => specifier)

describe("importsOf", () => {
  it("reads every form of import", () => {
    const source = [
      "import * as A from \"./a.ts\"",
      "import type B, { type C } from './b.ts'",
      "import \"./side.ts\"",
      "import {",
      "  d as e",
      "} from \"./d.ts\"",
      "export * as F from \"./f.ts\"",
      "export type { G } from \"./g.ts\"",
      "export { local }",
      "import{h}from\"./h.ts\"",
      "const i = await import(\"./i.ts\")",
      "type J = typeof import(\"./j.ts\")",
      "const k = require(`./k.ts`)"
    ].join("\n")

    assert.deepStrictEqual(
      specifiers(source),
      ["a", "b", "side", "d", "f", "g", "h", "i", "j", "k"].map((name) => `./${name}.ts`)
    )
    assert.strictEqual(importsOf(source)[3]?.line, 6)
  })

  it("does not read comments, strings, templates and regular expressions", () => {
    const source = [
      "// import \"./a.ts\"",
      "/* export * from \"./b.ts\" */",
      "const c = 'import \"./c.ts\"'",
      "const d = `import \"./d.ts\" ${x.map(() => `${{ import: 1 }.import}`)} import(\"./d.ts\")`",
      "const e = /[/\"] import \"./",
      "/.test(x) / 2",
      "const f = a / b; const g = \"/\"",
      "import \"./real.ts\"",
      "const exported = { from: \"./h.ts\" }",
      "export const from = \"./i.ts\"",
      "import.meta.resolve(\"./j.ts\")"
    ].join("\n")

    assert.deepStrictEqual(specifiers(source), ["./real.ts"])
  })

  it("reads code inside a template", () => {
    assert.deepStrictEqual(specifiers("`${await import(\"./a.ts\")} import(\"./b.ts\")`"), ["./a.ts"])
  })

  it("marks a computed name", () => {
    assert.deepStrictEqual(specifiers("import(name)\nimport(`./${name}.ts`)"), [undefined, undefined])
  })
})
