import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, Options } from "@mandate/core"
import { AiSdk, AiSdkTools, EffectAi, McpTools, ModelFallback, StandardTools } from "@mandate/providers"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { LanguageModel } from "effect/ai"
import { z } from "zod"
import { leaks, notOptions, notPlain } from "../../../core/test/support/NotOptions.ts"

const input = z.object({ n: z.number() })
const standard = { look: { input, execute: () => 1 } }
const aiSdk = { look: { inputSchema: input, execute: () => 1 } }
const server = {
  listTools: () => Effect.succeed([{ name: "look", inputSchema: { type: "object" } }]),
  callTool: () => Effect.never
}

type From = (tools: any, options?: any) => Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>

const toolkits: ReadonlyArray<readonly [name: string, from: From, tools: unknown]> = [
  ["StandardTools.from", StandardTools.from as From, standard],
  ["AiSdkTools.from", AiSdkTools.from as From, aiSdk],
  ["McpTools.from", McpTools.from as never as From, server]
]

const refusal = (toolkit: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) =>
  Effect.map(Effect.flip(toolkit), ({ _tag, message }) => {
    assert.strictEqual(_tag, "ToolkitError")
    assert.isFalse(leaks(message), message)
    return message
  })

const thrower = () => {
  throw new Error("secret-of-the-function")
}

describe("X06 The options of tools", () => {
  it.effect.each(toolkits)(
    "X06 of %s are refused as a whole, and name what is allowed",
    ([, from, tools]) =>
      Effect.gen(function*() {
        for (const [says, value] of notOptions) assert.match(yield* refusal(from(tools, value)), says)
        const message = yield* refusal(from(tools, { prefx: "a_" }))
        assert.include(
          message,
          "there is no option \"prefx\"; the options are include, prefix, rename (did you mean \"prefix\"?)"
        )
      })
  )

  it.effect.each(toolkits)("X06 of %s are refused key by key", ([, from, tools]) =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [says: string, options: unknown]> = [
        ...[null, 5, true, "look", {}, [5], new Set(["look"])].map((include) =>
          ["include must be a list of names, or a function, not ", { include }] as const
        ),
        ...[null, 5, true, [], {}, () => "a_"].map((prefix) => ["prefix must be a string, not ", { prefix }] as const),
        ...[null, 5, true, "see", ["see"], { look: 5 }, { look: null }, new Map([["look", "see"]])].map((rename) =>
          ["rename must be a plain object of names, or a function, not ", { rename }] as const
        ),
        ["include threw for the tool \"look\"", { include: thrower }],
        ["include did not give true or false for the tool \"look\"", { include: async () => false }],
        ["include did not give true or false for the tool \"look\"", { include: () => undefined }],
        ["rename threw for the tool \"look\"", { rename: thrower }],
        ["rename did not give a string or undefined for the tool \"look\"", { rename: () => 5n }],
        ["rename did not give a string or undefined for the tool \"look\"", { rename: async () => "see" }],
        ["cannot be read", Object.defineProperty({}, "prefix", { get: thrower, enumerable: true })]
      ]
      for (const [says, options] of wrong) assert.include(yield* refusal(from(tools, options)), says)
    }))
})

describe("X06 The tools", () => {
  it.effect("X06 of StandardTools.from and AiSdkTools.from are a plain object of objects", () =>
    Effect.gen(function*() {
      for (const from of [StandardTools.from as From, AiSdkTools.from as From]) {
        for (const [given, value] of notPlain) {
          assert.include(yield* refusal(from(value)), `tools must be a plain object, not ${given}`)
        }
        assert.include(yield* refusal(from(undefined)), "tools is required")
        for (const tool of [null, undefined, 5, "secret", () => 1]) {
          assert.include(yield* refusal(from({ look: tool })), "the tool \"look\" must be an object")
        }
        const getter = Object.defineProperty({}, "look", { get: thrower, enumerable: true })
        assert.include(yield* refusal(from(getter)), "the tools cannot be read")
        const unreadable = Object.defineProperty({ input }, "execute", { get: thrower, enumerable: true })
        assert.include(yield* refusal(from({ look: unreadable })), "cannot be read")
      }
    }))

  it.effect("X06 of StandardTools.from have exact keys, so that an approval that is misspelt is none that is missing", () =>
    Effect.gen(function*() {
      const { look } = standard
      for (
        const [says, tool] of [
          ["there is no setting \"needsAproval\"", { ...look, needsAproval: true }],
          ["there is no setting \"inputSchema\"", { ...look, inputSchema: input }],
          ["needsApproval must be true, false or a function, not a string", { ...look, needsApproval: "yes" }],
          ["needsApproval must be true, false or a function, not null", { ...look, needsApproval: null }],
          ["strict must be true or false, not a string", { ...look, strict: "yes" }],
          ["description must be a string, not 5", { ...look, description: 5 }],
          ["execute must be a function, not null", { ...look, execute: null }],
          ["execute is required", { input }],
          ["input is required", { execute: () => 1 }]
        ] as const
      ) {
        const message = yield* refusal((StandardTools.from as From)({ look: tool }))
        assert.include(message, "the tool \"look\" is not valid: ")
        assert.include(message, says)
      }
    }))

  it.effect("X06 of McpTools.from come from a client", () =>
    Effect.gen(function*() {
      for (const [, value] of [...notOptions, ["", undefined] as const, ["", {}] as const]) {
        for (const source of [value, Effect.succeed(value)]) {
          assert.include(yield* refusal((McpTools.from as never as From)(source)), "must be an McpClient")
        }
      }
    }))
})

const invalid = (make: () => unknown, says: RegExp | string) => {
  try {
    make()
  } catch (error) {
    assert.instanceOf(error, Options.InvalidOptions)
    const { message } = error as Error
    assert.isFalse(leaks(message), message)
    return typeof says === "string" ? assert.include(message, says) : assert.match(message, says)
  }
  assert.fail(`it took what is not valid: ${String(says)}`)
}

const model = { specificationVersion: "v4", provider: "p", modelId: "m", doGenerate: () => ({}) }
const client = AiSdk.make(model as never)

describe("X06 ModelFallback.make", () => {
  it("X06 throws for options that are not valid, for one model too", () => {
    for (const models of [[client], [client, client]] as const) {
      for (const [says, value] of notOptions) invalid(() => ModelFallback.make(models as never, value as never), says)
      for (const retries of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, true, 1n]) {
        invalid(
          () => ModelFallback.make(models as never, { retries } as never),
          "retries must be a whole number that is not negative"
        )
      }
      for (const reasons of [null, "network", {}, new Set(["network"])]) {
        invalid(() => ModelFallback.make(models as never, { reasons } as never), "reasons must be a list")
      }
      invalid(
        () => ModelFallback.make(models as never, { reasons: ["netwrok"] } as never),
        "reasons[0] must be one of "
      )
    }
    assert.strictEqual(ModelFallback.make([client], { retries: 0, reasons: [] }), client)
  })

  it("X06 throws for what is no list of model clients", () => {
    for (
      const models of [
        undefined,
        null,
        5,
        "m",
        {},
        [],
        [undefined],
        [null],
        [model],
        [client, model],
        client
      ]
    ) {
      invalid(
        () => ModelFallback.make(models as never),
        /models (must be a list of at least one ModelClient|is required)/
      )
    }
  })
})

describe("X06 The options of effect/ai models", () => {
  const languageModel = Layer.succeed(LanguageModel.LanguageModel, {} as never)

  const wrong: ReadonlyArray<readonly [says: RegExp, options: unknown]> = [
    ...notOptions,
    [/provider must be a string, not 5/, { provider: 5 }],
    [/modelId must be a string, not null/, { modelId: null }],
    [/mediaTypes must be a list, not a string/, { mediaTypes: "image/*" }],
    [/mediaTypes\[0\] must be a string, not 5/, { mediaTypes: [5] }],
    [/configure must be a function, not an object/, { configure: {} }]
  ]

  it.effect("X06 that are not valid are a defect of EffectAi.make", () =>
    Effect.gen(function*() {
      for (const [says, options] of wrong) {
        const exit = yield* Effect.exit(EffectAi.make(options as never))
        invalid(() => {
          if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
        }, says)
      }
    }).pipe(Effect.provide(languageModel)))

  it.effect("X06 that are not valid are a problem of every definition with EffectAi.layer, and so is no layer", () =>
    Effect.gen(function*() {
      const layers = [
        ...wrong.map(([says, options]) => [says, () => EffectAi.layer(languageModel, options as never)] as const),
        ...[null, 5, {}, client].map((given) =>
          [/model must be a layer of LanguageModel/, () => EffectAi.layer(given as never)] as const
        ),
        [/model is required/, () => EffectAi.layer(undefined as never)] as const
      ]
      for (const [says, layer] of layers) {
        const error = yield* Effect.flip(AgentBuilder.make("clerk").build()).pipe(
          Effect.provide(Layer.merge(Mandate.layerMemory, layer() as ReturnType<typeof AiSdk.layer>))
        )
        assert.strictEqual(error.problems[0].kind, "UnknownModel")
        assert.include(error.message, "The options of EffectAi.layer are not valid: ")
        assert.match(error.message, says)
      }
    }))
})

describe("X06 AiSdkTools.toAiSdkTool", () => {
  const json = { id: "clerk", description: "Helps", inputSchema: { type: "object" } }
  const toTool = (options: unknown) => AiSdkTools.toAiSdkTool({ json } as never, options as never)

  it("X06 throws for options that are not valid, so that a misspelt budget is not a missing one", () => {
    for (const [says, value] of notOptions) invalid(() => toTool(value), says)
    invalid(
      () => toTool({ rnu: { budget: { maxTokens: 1 } } }),
      "there is no option \"rnu\"; the options are run, context"
    )
    invalid(() => toTool({ context: {} }), "context must be a Context of Effect, not an object")
  })

  it("X06 takes no options, and those that are valid", () => {
    for (const options of [undefined, {}, { run: { budget: { maxTokens: 1 } } }, { context: Context.empty() }]) {
      assert.strictEqual(toTool(options).description, "Helps")
    }
  })
})
