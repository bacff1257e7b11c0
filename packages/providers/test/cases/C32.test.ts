import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type RunResult, TypedAgent } from "@mandate/core"
import { Effect, Layer, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdk } from "../../src/index.ts"
import * as StrictModel from "../support/StrictModel.ts"

interface Tree {
  readonly name: string
  readonly mark?: "oak" | "fir"
  readonly below?: Tree
  readonly kids: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  name: Schema.String,
  mark: Schema.optionalKey(Schema.Literals(["oak", "fir"])),
  below: Schema.optionalKey(Schema.suspend((): Schema.Codec<Tree> => Tree)),
  kids: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
}).annotate({ identifier: "Tree" })

const Nested = Schema.Struct({
  where: Schema.Union([
    Schema.Struct({ port: Schema.String, berth: Schema.optionalKey(Schema.Int) }),
    Schema.Struct({ port: Schema.String, berth: Schema.NullOr(Schema.Int), pilot: Schema.String }),
    Schema.Struct({ at: Schema.Struct({ x: Schema.Number, y: Schema.Number, z: Schema.optionalKey(Schema.Number) }) })
  ]),
  tree: Tree
})

interface Output {
  readonly title: string
  readonly schema: Schema.Codec<any, any>
  readonly values: ReadonlyArray<any>
  readonly isRecursive?: true
}

const outputs: ReadonlyArray<Output> = [
  {
    title: "a union of two structs",
    schema: Schema.Union([
      Schema.Struct({ found: Schema.String, page: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))) }),
      Schema.Struct({ reason: Schema.String, note: Schema.NullOr(Schema.String) })
    ]),
    values: [{ found: "a map" }, { found: "a map", page: 7 }, { reason: "no map", note: null }, {
      reason: "x",
      note: "y"
    }]
  },
  {
    title: "a union of exactly one of two structs",
    schema: Schema.Union([
      Schema.Struct({ found: Schema.String }),
      Schema.Struct({ reason: Schema.String, code: Schema.optionalKey(Schema.Int) })
    ], { mode: "oneOf" }),
    values: [{ found: "a map" }, { reason: "no map" }]
  },
  {
    title: "an array of structs",
    schema: Schema.Array(Schema.Struct({ port: Schema.String, berth: Schema.optionalKey(Schema.Int) })),
    values: [[], [{ port: "Bergen" }, { port: "Oslo", berth: 3 }]]
  },
  { title: "a plain number", schema: Schema.Number, values: [0, -1.5] },
  { title: "a plain string", schema: Schema.String, values: ["", "null"] },
  {
    title: "a struct with a nested union and a recursive field",
    schema: Nested,
    isRecursive: true,
    values: [
      { where: { port: "Oslo" }, tree: { name: "root", kids: [] } },
      { where: { port: "Oslo", berth: 3 }, tree: { name: "root", mark: "oak", kids: [{ name: "leaf", kids: [] }] } },
      {
        where: { port: "Oslo", berth: null, pilot: "Ada" },
        tree: { name: "root", below: { name: "b", kids: [], below: { name: "c", mark: "fir", kids: [] } }, kids: [] }
      },
      { where: { at: { x: 1, y: 2 } }, tree: { name: "root", kids: [] } }
    ]
  }
]

const Clock = Tool.make("clock", { parameters: Schema.Struct({}), success: Schema.String })

const family = (schema: Schema.Codec<any, any>) => {
  const scout = TypedAgent.make("scout", { description: "Looks", input: schema, report: schema })
  const lead = AgentBuilder.make("lead").withSubagents([scout]).withTools(Toolkit.make(Clock), {
    clock: () => Effect.succeed("noon")
  })
  return { scout, lead }
}

const isWrapped = (value: unknown) => typeof value !== "object" || Array.isArray(value)

/** Both agents: the lead asks the clock and its scout; the scout reports what it was given to look for. */
const script =
  (schema: Schema.Codec<any, any>, value: any, native: boolean) =>
  (tools: ReadonlyArray<string>, results: number): StrictModel.Turn => {
    const wraps = isWrapped(value) || "oneOf" in schema || isUnion(schema)
    const json = wraps ? { value } : value
    if (tools.includes("task_scout")) {
      return results === 0 ? { calls: [["clock", {}], ["task_scout", json]] } : { text: "done" }
    }
    return native ? { answer: json } : { calls: [["submit_report", json]] }
  }

const isUnion = (schema: Schema.Codec<any, any>) => schema.ast._tag === "Union"

const layers = (model: StrictModel.StrictModel, options: AiSdk.Options) =>
  Layer.merge(Mandate.layerMemory, AiSdk.layer(model.model, options))

const providers = [
  ["openai.responses", true],
  ["anthropic.messages", true],
  ["google.generative-ai", true],
  ["local.chat", "openai"]
] as const

describe("C32 Unions, arrays and optional fields that strict providers refuse", () => {
  for (const [provider, strictSchemas] of providers) {
    const isRefused = ({ isRecursive }: Output) => isRecursive === true && /anthropic|google/.test(provider)
    for (const output of outputs.filter((one) => !isRefused(one))) {
      for (const [index, value] of output.values.entries()) {
        for (const native of [false, true]) {
          const title = `C32 ${provider}${native ? ", natively," : ""} accepts ${output.title}, value ${index}`
          it.effect(`${title}, and both agents see it plain`, () => {
            const model = StrictModel.make(provider, script(output.schema, value, native))
            return Effect.gen(function*() {
              const { lead, scout } = family(output.schema)
              const agent = yield* lead.build()
              const run: RunResult.RunResult<string> = yield* agent.run("Go", { threadId: "t" })
              const bound = yield* scout.bind()
              const outcome = yield* bound.run(value)

              assert.deepStrictEqual({ ...run.status }, { _tag: "Completed", answer: "done" })
              assert.deepStrictEqual(outcome._tag === "Reported" && outcome.report, value)
              assert.deepStrictEqual(model.violations, [])
              const [{ messages }] = yield* agent.history("t") as unknown as Effect.Effect<[{ messages: any }]>
              const results = messages.at(-2).content.map((part: any) => part.output)
              assert.deepStrictEqual(results, [
                { type: "text", value: "noon" },
                { type: "json", value: { report: value } }
              ])
              const inputs = model.requests.flatMap(({ prompt }) =>
                prompt.flatMap((message) => message.role === "user" ? message.content : [])
              )
              const shown = inputs.flatMap((part) => part.type === "text" ? [part.text] : [])
              assert.include(shown, `Task for scout:\n${canonical(value)}`)
            }).pipe(Effect.provide(layers(model, { strictSchemas, structuredAnswers: native })))
          })
        }
      }

      it.effect(`C32 ${provider} streams ${output.title}`, () => {
        const value = output.values.at(0)
        const model = StrictModel.make(provider, script(output.schema, value, false))
        return Effect.gen(function*() {
          const bound = yield* family(output.schema).scout.bind()
          const last = (yield* Stream.runCollect(bound.stream(value))).at(-1)

          assert.deepStrictEqual(model.violations, [])
          assert.deepStrictEqual(last?._tag === "RunFinished" && (last.result as any).report, value)
        }).pipe(Effect.provide(layers(model, { strictSchemas })))
      })
    }
  }

  const refused: ReadonlyArray<readonly [provider: string, schema: Schema.Codec<any, any>, reason: RegExp]> = [
    ["anthropic.messages", Nested, /refers to itself/],
    ["google.generative-ai", Nested, /refers to itself/],
    ["openai.chat", Schema.Struct({ counts: Schema.Record(Schema.String, Schema.Int) }), /record.*"counts"/],
    ["openai.chat", Schema.Struct({ at: Schema.Tuple([Schema.Int, Schema.Int]) }), /tuple at "at"/],
    ["openai.chat", Schema.Struct({ any: Schema.Json }), /takes anything at "any"/],
    ["anthropic.messages", Schema.Struct({ "à la carte": Schema.Int }), /key that is not taken/]
  ]
  for (const [provider, schema, reason] of refused) {
    it.effect(`C32 build refuses for ${provider} what it cannot be told (${reason.source}), and names the subagent`, () => {
      const model = StrictModel.make(provider, () => ({ text: "never asked" }))
      return Effect.gen(function*() {
        const error = yield* Effect.flip(family(schema).lead.build())

        assert.deepStrictEqual(error.problems.map(({ agent, kind }) => [agent, kind]), [
          ["lead > scout", "UnsupportedSchema"],
          ["lead", "UnsupportedSchema"]
        ])
        const [report, input] = error.problems.map(({ message }) => message)
        assert.match(report!, /^the schema of the report /)
        assert.match(input!, /^the schema of the input of the subagent "scout" /)
        assert.match(report!, reason)
        assert.match(input!, reason)
        assert.lengthOf(model.requests, 0)
      }).pipe(Effect.provide(layers(model, { strictSchemas: true })))
    })
  }

  it.effect("C32 a tool is refused by its name, and one that is not to be strict is sent as it is", () => {
    const parameters = Schema.Struct({ counts: Schema.Record(Schema.String, Schema.Int) })
    const Count = Tool.make("count", { parameters, success: Schema.String })
    const agentOf = (tool: typeof Count) =>
      AgentBuilder.make("lead").withTools(Toolkit.make(tool), { count: () => Effect.succeed("counted") })
    const model = StrictModel.make("openai.chat", () => ({ text: "done" }))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(agentOf(Count).build())
      const loose = yield* agentOf(Count.annotate(Tool.Strict, false)).build()
      yield* Effect.exit(loose.run("Go"))

      assert.deepStrictEqual(error.problems.map(({ message }) => message.slice(0, 44)), [
        "the schema of the parameters of the tool \"co"
      ])
      const [tool] = model.requests[0]!.tools!
      assert.deepStrictEqual(tool?.type === "function" && tool.strict, false)
      assert.include(JSON.stringify(tool), "\"additionalProperties\":{")
    }).pipe(Effect.provide(layers(model, { strictSchemas: true })))
  })
})

const canonical = (value: any): string =>
  typeof value !== "object" || value === null
    ? JSON.stringify(value)
    : Array.isArray(value)
    ? `[${value.map(canonical).join(",")}]`
    : `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`
