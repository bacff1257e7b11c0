import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

// Every module that a process loads for one import and what it does then, by its address. Built-in modules that
// are asked for by `process.getBuiltinModule` count.
const script = (specifier: string, use: string) => `
import { registerHooks } from "node:module"
const loaded = []
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
const getBuiltinModule = process.getBuiltinModule
process.getBuiltinModule = (id) => { loaded.push(id); return getBuiltinModule(id) }
const imported = await import(${JSON.stringify(specifier)})
${use}
process.stdout.write(JSON.stringify(loaded))
`

const loadedBy = async (specifier: string, use = ""): Promise<ReadonlyArray<string>> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=mandate-source", "--input-type=module", "--eval", script(specifier, use)],
    { cwd: new URL("..", import.meta.url), maxBuffer: 8 * 1024 * 1024 }
  )
  return (JSON.parse(stdout) as ReadonlyArray<string>).map((url) => url.split("/node_modules/").at(-1)!)
}

const core = loadedBy("@mandate/core")

const within = (modules: ReadonlyArray<string>, folder: string): ReadonlyArray<string> =>
  modules.filter((module) => module.startsWith(`effect/dist/${folder}/`)).sort()

describe("import \"@mandate/core\"", () => {
  it("loads the sources of the core", async () => {
    const modules = await core

    assert.isTrue(modules.some((module) => module.endsWith("packages/core/src/index.ts")))
    assert.include(modules, "effect/dist/Effect.js")
  })

  it("loads no package but itself and effect", async () => {
    const others = (await core).filter((module) =>
      !module.startsWith("effect/") && !module.startsWith("node:") && !module.includes("/packages/core/src/")
    )

    assert.deepStrictEqual(others, [])
  })

  it("loads nothing of SQLite", async () => {
    assert.isFalse((await core).some((module) => /sqlite/i.test(module)))
  })

  it("does not load yaml, which \"@mandate/core/postures\" does", async () => {
    const isYaml = (module: string) => /(^|\/)yaml\//.test(module)

    assert.isFalse((await core).some(isYaml))
    assert.isTrue((await loadedBy("@mandate/core/postures")).some(isYaml))
  })

  it("leaves effect/persistence to \"@mandate/core/persistence\"", async () => {
    assert.include(await loadedBy("@mandate/core/persistence"), "effect/dist/persistence/Persistence.js")
  })

  it.each(["cluster", "persistence", "rpc", "sql", "workflow"])("loads nothing of effect/%s", async (folder) => {
    assert.deepStrictEqual(within(await core, folder), [])
  })

  it("loads of effect/http only what effect/Schema loads by itself", async () => {
    const modules = within(await core, "http")

    assert.isNotEmpty(modules)
    assert.deepStrictEqual(modules, within(await loadedBy("effect/Schema"), "http"))
  })

  it("loads of effect/ai only what effect/ai/Tool loads by itself", async () => {
    assert.deepStrictEqual(within(await core, "ai"), within(await loadedBy("effect/ai/Tool"), "ai"))
  })

  it("loads neither the root module of effect nor what only tests need", async () => {
    const modules = await core

    assert.notInclude(modules, "effect/dist/index.js")
    assert.deepStrictEqual(within(modules, "testing"), [])
  })
})

const openStore = `
const { Effect, Layer } = await import("effect")
await Effect.runPromise(Effect.scoped(Layer.build(imported.MandateSqlite.layer({ filename: ":memory:" }))))
`

describe("import \"@mandate/core/sqlite\"", () => {
  it("does not load node:sqlite", async () => {
    const modules = await loadedBy("@mandate/core/sqlite")

    assert.isTrue(modules.some((module) => module.endsWith("packages/core/src/sql/sqlite.ts")))
    assert.notInclude(modules, "node:sqlite")
  })

  it("loads node:sqlite when a store opens", async () => {
    assert.include(await loadedBy("@mandate/core/sqlite", openStore), "node:sqlite")
  })
})
