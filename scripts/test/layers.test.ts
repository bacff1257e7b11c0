import { assert, describe, it } from "@effect/vitest"
import { layerFailures } from "../lib/layerRules.ts"

const check = (files: Readonly<Record<string, string>>) =>
  layerFailures(Object.entries(files).map(([path, text]) => ({ path: `packages/${path}`, text })))

describe("layerFailures", () => {
  it("allows the own folder, lower folders, single Effect modules and an index over all layers", () => {
    assert.deepStrictEqual(
      check({
        "core/src/values/Ids.ts": "import * as Schema from \"effect/Schema\"",
        "core/src/loop/Loop.ts": "import * as Ids from \"../values/Ids.ts\"\nimport \"./Step.ts\"",
        "core/src/loop/Step.ts": "import type * as Tool from \"effect/ai/Tool\"",
        "core/src/index.ts": "export * as Loop from \"./loop/Loop.ts\"",
        "core/src/sql/Store.ts": "import \"../index.ts\"\nimport \"effect/sql/SqlClient\"",
        "testing/src/Script.ts": "import { Ids } from \"@mandate/core\""
      }),
      []
    )
  })

  it("refuses an import of a higher layer, a type-only one too", () => {
    assert.deepStrictEqual(
      check({ "core/src/values/Ids.ts": "\nimport type * as Loop from \"../loop/Loop.ts\"" }),
      ["packages/core/src/values/Ids.ts:2 imports packages/core/src/loop/Loop.ts, which is in a higher layer"]
    )
  })

  it("refuses an entry point in the main part, in the index too", () => {
    const failures = check({ "core/src/index.ts": "export * from \"./sql/Store.ts\"" })
    assert.match(failures.join(), /an entry point/)
  })

  it("finds a circle, a type-only one too", () => {
    const circle = "packages/core/src/loop/A.ts -> packages/core/src/loop/B.ts -> packages/core/src/loop/A.ts"
    for (const word of ["import", "import type", "export"]) {
      assert.deepStrictEqual(
        check({
          "core/src/loop/A.ts": "import \"./B.ts\"",
          "core/src/loop/B.ts": `import "./C.ts"\n${word} * as A from "./A.ts"`,
          "core/src/loop/C.ts": ""
        }),
        [`import circle: ${circle}`]
      )
    }
  })

  it.each([
    ["core", "ai"],
    ["core", "@ai-sdk/provider"],
    ["core", "@mandate/testing"],
    ["core", "@mandate/core"],
    ["core", "effect"],
    ["core", "effect/ai"],
    ["core", "effect/sql/SqlClient"],
    ["core", "effect/http/client/HttpClient"],
    ["core", "../../../testing/src/Script.ts"],
    ["testing", "@mandate/providers"],
    ["testing", "@mandate/core/src/index.ts"],
    ["providers", "../../core/src/index.ts"],
    ["providers", "effect"]
  ])("refuses in %s an import of %s", (name, specifier) => {
    const folder = name === "core" ? "core/src/run" : `${name}/src`
    assert.lengthOf(check({ [`${folder}/A.ts`]: `import "${specifier}"` }), 1)
  })

  it("refuses a computed import and a file outside of every layer", () => {
    assert.lengthOf(check({ "core/src/run/A.ts": "import(name)" }), 1)
    assert.match(check({ "core/src/helpers/A.ts": "" }).join(), /is in no layer/)
  })
})
