import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, EffectCopy, Mandate, type ModelClient, ModelRegistry, TypedAgent } from "@mandate/core"
import type * as Copy from "effect"
import { Cause, Effect, Exit, Schema } from "effect"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "mandate-effect-"))
let second: typeof Copy

beforeAll(async () => {
  const installed = dirname(createRequire(import.meta.url).resolve("effect/package.json"))
  const copy = join(folder, "node_modules/effect")
  cpSync(installed, copy, {
    recursive: true,
    filter: (path) => !/\.(?:d\.ts|map|md)$|[\\/]effect[\\/](?:src|ai-docs)$/.test(path)
  })
  second = await import(pathToFileURL(join(copy, "dist/index.js")).href)
})
afterAll(() => rmSync(folder, { recursive: true }))

// A client that is never called: nothing here runs an agent.
const client: ModelClient.ModelClient = {
  provider: "none",
  modelId: "none",
  generate: () => Effect.die("not called")
}
const model = ModelRegistry.layer({ default: client })
const editor = AgentBuilder.make("editor")
const researcher = (schema: typeof Schema) =>
  TypedAgent.make("researcher", {
    description: "Researches one topic",
    input: schema.Struct({ topic: schema.String }),
    report: schema.Struct({ facts: schema.Array(schema.String) })
  })
const build = (agent: typeof editor) => Effect.provide(agent.build(), [Mandate.layerMemory, model])

describe("two copies of effect", () => {
  it.effect("are nothing to report where there is one", () =>
    Effect.asVoid(build(editor.withSubagents([researcher(Schema)]))))

  it("are found by what runs `build`, in a problem of its own", async () => {
    const exit = await second.Effect.runPromiseExit(build(editor.withSubagents([researcher(Schema)])))

    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.match(String(error), /two copies of effect: this program runs on another one than @mandate\/core/)
    assert.match(String(error), /npm dedupe/)
  })

  it.effect("are found in the schemas of a definition, which the problem names", () =>
    Effect.gen(function*() {
      const { problems } = yield* Effect.flip(build(editor.withSubagents([researcher(second.Schema)])))

      assert.deepStrictEqual(problems.map(({ agent, kind }) => [agent, kind]), [["editor > researcher", "TwoEffects"]])
    }))

  it.effect("are found by a package that builds on the core", () =>
    Effect.gen(function*() {
      yield* EffectCopy.ensure("models", Schema.Unknown)
      const exit = yield* Effect.exit(EffectCopy.ensure("models", second.Schema.Unknown))

      const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.match(String(defect), /Two copies of effect: models has another one than @mandate\/core/)
    }))

  it.effect("are not suspected in a schema of any kind", () =>
    Effect.forEach(kinds, (schema) => EffectCopy.ensure("models", schema)))
})

class Point extends Schema.Class<Point>("Point")({ x: Schema.Number }) {}
interface Tree {
  readonly children: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({ children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)) })

const kinds: ReadonlyArray<Schema.Top> = [
  ...[Schema.Any, Schema.Unknown, Schema.Never, Schema.Void, Schema.Null, Schema.Undefined, Schema.String],
  ...[Schema.Number, Schema.Boolean, Schema.BigInt, Schema.Symbol, Schema.ObjectKeyword, Schema.Date, Schema.Natural],
  ...[Schema.Literal("a"), Schema.Literals(["a", "b"]), Schema.Union([Schema.String, Schema.Number]), Point, Tree],
  ...[Schema.Tuple([Schema.String]), Schema.Record(Schema.String, Schema.Number), Schema.Array(Schema.String)],
  ...[Schema.TemplateLiteral(["a", Schema.String]), Schema.NumberFromString, Schema.Option(Schema.String)],
  ...[Schema.Enum({ a: "a" }), Schema.UniqueSymbol(Symbol.for("a")), Schema.suspend(() => Tree)]
]
