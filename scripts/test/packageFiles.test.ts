import { assert, describe, it } from "@effect/vitest"
import { table } from "../lib/bundles.ts"
import { importsOf } from "../lib/imports.ts"
import { namedSources, sourceMapFailures, tarballFailures, undeclaredImports } from "../lib/packageFiles.ts"

const whole = [
  ...["LICENSE", "README.md", "package.json", "index.js", "index.js.map", "index.d.ts"],
  ...["effect-ai/A.js", "effect-ai/A.js.map", "effect-ai/A.d.ts"]
]

describe("tarballFailures", () => {
  it("takes modules with their maps and declarations", () => {
    assert.deepStrictEqual(tarballFailures(whole), [])
  })

  it.each([
    "index.ts",
    "src/index.ts",
    "src/A.d.ts",
    "test/A.d.ts",
    "typetest/A.test-d.ts",
    "values/A.test.d.ts",
    "dist/package.json",
    "node_modules/effect/index.d.ts",
    "tsconfig.build.json",
    ".env"
  ])("refuses %s", (path) => {
    assert.deepStrictEqual(tarballFailures([...whole, path]), [`${path} does not belong there`])
  })

  it("misses what a package needs", () => {
    assert.deepStrictEqual(
      tarballFailures(whole.filter((path) => !["LICENSE", "effect-ai/A.d.ts"].includes(path))),
      ["LICENSE is missing", "effect-ai/A.d.ts is missing beside effect-ai/A.js"]
    )
  })
})

describe("namedSources", () => {
  it("N11 gives a map whose source is named by its package and not by a path out of it", () => {
    const built = JSON.stringify({ version: 3, sources: ["../../src/run/A.ts"], sourcesContent: ["text"] })
    const named = namedSources(built, "@mandate/core", "run/A.js.map")

    assert.deepStrictEqual(JSON.parse(named), {
      version: 3,
      sources: ["@mandate/core/src/run/A.ts"],
      sourcesContent: ["text"]
    })
    assert.deepStrictEqual(sourceMapFailures(named, "@mandate/core", "run/A.js.map"), [])
    assert.lengthOf(sourceMapFailures(built, "@mandate/core", "run/A.js.map"), 1)
    assert.lengthOf(sourceMapFailures(named, "@mandate/core", "run/B.js.map"), 1)
  })
})

describe("undeclaredImports", () => {
  it("allows the package, what it depends on, its own files and what Node has", () => {
    const source = [
      "import \"./A.js\"",
      "import \"../B.js\"",
      "import \"node:crypto\"",
      "import \"@mandate/core\"",
      "import \"effect/ai/Tool\"",
      "import \"ai\"",
      "import \"@ai-sdk/openai\"",
      "import(\"effects\")"
    ].join("\n")

    assert.deepStrictEqual(
      undeclaredImports(importsOf(source), "@mandate/core", ["effect"]),
      ["ai", "@ai-sdk/openai", "effects"]
    )
  })

  it("does not trust a computed name", () => {
    assert.lengthOf(undeclaredImports(importsOf("import(name)"), "@mandate/core", []), 1)
  })
})

describe("table", () => {
  it("lines columns up and groups digits", () => {
    assert.strictEqual(
      table(["bundle", "bytes"], [["core", 1234567], ["core + testing", 12]]),
      ["bundle              bytes", "core            1 234 567", "core + testing         12"].join("\n")
    )
  })
})
