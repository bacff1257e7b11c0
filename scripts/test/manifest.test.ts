import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/files.ts"
import { entryPoints, type Manifest, manifestFailures, publishedManifest, publishedReadme } from "../lib/manifest.ts"

const manifest: Manifest = {
  name: "@mandate/core",
  version: "1.2.3",
  private: true,
  description: "Agents",
  license: "MIT",
  type: "module",
  sideEffects: false,
  files: ["dist"],
  scripts: { prepack: "node ../../scripts/build.ts" },
  engines: { node: "^22.16.0 || >=24.0.0" },
  exports: {
    ".": { "mandate-source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./sqlite": { "mandate-source": "./src/sql/A.ts", types: "./dist/sql/A.d.ts", default: "./dist/sql/A.js" }
  },
  devDependencies: { valibot: "1.0.0" },
  peerDependencies: { effect: "~4.1.0" }
}

describe("publishedManifest", () => {
  it("drops what only the repository needs and tells paths from dist", () => {
    assert.deepStrictEqual(publishedManifest(manifest), {
      name: "@mandate/core",
      version: "1.2.3",
      description: "Agents",
      license: "MIT",
      type: "module",
      sideEffects: false,
      engines: { node: "^22.16.0 || >=24.0.0" },
      exports: {
        ".": { types: "./index.d.ts", default: "./index.js" },
        "./sqlite": { types: "./sql/A.d.ts", default: "./sql/A.js" },
        "./types/*": { types: "./*.d.ts" },
        "./package.json": "./package.json"
      },
      files: ["**/*.js", "**/*.js.map", "**/*.d.ts"],
      peerDependencies: { effect: "~4.1.0" }
    })
  })

  it("keeps types before default, as compilers need them", () => {
    const { exports } = publishedManifest(manifest) as { readonly exports: Record<string, object> }

    assert.deepStrictEqual(Object.keys(exports["."]!), ["types", "default"])
  })
})

describe("entryPoints", () => {
  it("names what users import", () => {
    const published = publishedManifest(manifest) as unknown as Manifest

    assert.deepStrictEqual(entryPoints(published), ["@mandate/core", "@mandate/core/sqlite"])
  })
})

describe("manifestFailures", () => {
  it("takes the packages of this repository", () => {
    for (const name of ["core", "providers", "testing"]) {
      const text = readFileSync(join(root, "packages", name, "package.json"), "utf8")
      assert.deepStrictEqual(manifestFailures(JSON.parse(text)), [])
    }
  })

  it.each([
    ["private", { private: false }],
    ["build itself", { scripts: {} }],
    ["build itself", { scripts: { prepack: "node ../../scripts/verify.ts" } }],
    ["packs more or less", { files: ["dist", "src"] }],
    ["another type", { type: "commonjs" }],
    ["side effects", { sideEffects: true }],
    ["no license", { license: "" }],
    ["no description", { description: "" }],
    ["which Node", { engines: {} }],
    ["no peer effect", { peerDependencies: {} }],
    ["no entry point \".\"", { exports: {} }],
    ["names no source", { exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } } }]
  ])("refuses a package: %s", (words, change) => {
    const failures = manifestFailures({ ...manifest, ...change } as Manifest)

    assert.lengthOf(failures, 1)
    assert.include(failures[0], words)
  })

  it("refuses an entry point that is built elsewhere, or whose types come last", () => {
    const entries = [
      { "mandate-source": "./src/sql/A.ts", types: "./dist/A.d.ts", default: "./dist/A.js" },
      { "mandate-source": "./src/index.ts", default: "./dist/index.js", types: "./dist/index.d.ts" }
    ]

    for (const entry of entries) assert.lengthOf(manifestFailures({ ...manifest, exports: { ".": entry } }), 1)
  })
})

describe("publishedReadme", () => {
  it("keeps links to other sites and to its own headings, and drops those into the repository", () => {
    const text = [
      "See [the guide](../../docs/guide.md), [Effect](https://effect.website) and [below](#below).",
      "- [the layers](src/README.md)",
      "- [npm](https://npmjs.com)",
      "- plain"
    ]

    assert.strictEqual(
      publishedReadme(text.join("\n")),
      "See the guide, [Effect](https://effect.website) and [below](#below).\n- [npm](https://npmjs.com)\n- plain\n"
    )
  })
})
