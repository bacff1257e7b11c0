import { assert, layer } from "@effect/vitest"
import { PostureFiles } from "@mandate/core/postures"
import { Effect, Layer, Schema } from "effect"
import { directory, node, yaml } from "../postures/folder.ts"
import { leaks, notOptions } from "../support/NotOptions.ts"

const thrower = () => {
  throw new Error("secret-of-the-iterator")
}

/** Options that both functions take, with what is not valid in them. */
const wrong: ReadonlyArray<readonly [says: string, options: object]> = [
  ["there is no option \"tool\"; the options are schemas, tools", { tool: ["a"] }],
  ["there is no option \"shemas\"", { shemas: {} }],
  ...[null, 5, true, "search", {}, Promise.resolve(["a"])].map((tools) =>
    ["tools must be an iterable of names, not ", { tools }] as const
  ),
  ...[[5], [undefined], [["a"]], new Map([["a", 1]]), { [Symbol.iterator]: thrower }].map((tools) =>
    ["tools must be an iterable of names, each a string", { tools }] as const
  ),
  ...[null, 5, [], new Map(), { fact: 5 }, { fact: String }].map((schemas) =>
    ["schemas must be a plain object of schemas by name, not ", { schemas }] as const
  )
]

/** Options of the layer alone. */
const ofLayer: ReadonlyArray<readonly [says: string, options: object]> = [
  ...[null, 0, 1, "yes"].map((watch) => ["watch must be true or false, not ", { watch }] as const),
  ...[null, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, "soon", true].flatMap((value) => [
    ["debounce must be a positive, finite duration, not ", { debounce: value }] as const,
    ["interval must be a positive, finite duration, not ", { interval: value }] as const
  ]),
  ["there is no option \"intervall\"", { intervall: "1 second" }]
]

const refused = (attempt: Effect.Effect<unknown, PostureFiles.PostureDirectoryError, any>) =>
  Effect.map(Effect.flip(attempt as Effect.Effect<unknown, PostureFiles.PostureDirectoryError>), (error) => {
    assert.deepInclude(error, { _tag: "PostureDirectoryError", reason: "InvalidOptions" })
    assert.isFalse(leaks(error.message), error.message)
    return error.message
  })

layer(node)("X09 PostureFiles", (it) => {
  const load = (path: unknown, options?: unknown) => refused(PostureFiles.load(path as never, options as never))
  const build = (options: unknown) => refused(Effect.scoped(Layer.build(PostureFiles.layer(options as never))))

  it.effect("X09 refuses options that are not valid, and names them", () =>
    Effect.gen(function*() {
      const path = yield* directory({ "a.yaml": yaml("a") })
      for (const [says, value] of notOptions) {
        assert.match(yield* load(path, value), says)
        assert.match(yield* build(value), says)
      }
      for (const [says, options] of wrong) {
        assert.include(yield* load(path, options), says)
        assert.include(yield* build({ directory: path, ...options }), says)
      }
      for (const [says, options] of ofLayer) assert.include(yield* build({ directory: path, ...options }), says)
    }))

  it.effect("X09 refuses a directory that is no path", () =>
    Effect.gen(function*() {
      for (const path of [null, 5, {}, ["postures"], new URL("file:///tmp"), true]) {
        assert.include(yield* load(path), "directory must be a string, not ")
        assert.include(yield* build({ directory: path }), "directory must be a string, not ")
      }
      for (const message of [yield* load(undefined), yield* build(undefined), yield* build({})]) {
        assert.match(message, /directory is required|must be a plain object, not undefined/)
      }
    }))

  it.effect("X09 takes any iterable of tools, once", () =>
    Effect.gen(function*() {
      const path = yield* directory({ "a.yaml": yaml("a", "tools: [search, other]") })
      const made = function*() {
        yield "search"
      }
      for (const tools of [["search"], new Set(["search"]), made()]) {
        const { problems } = yield* PostureFiles.load(path, { tools, schemas: { fact: Schema.String } })
        assert.deepStrictEqual(problems.map(({ message }) => message), ["There is no tool \"other\""])
      }
    }))
})
