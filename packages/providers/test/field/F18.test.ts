import { assert, describe, it } from "@effect/vitest"
import { Step } from "@mandate/testing"
import { dynamicTool, jsonSchema, tool } from "ai"
import { Effect } from "effect"
import { z } from "zod"
import { AiSdkTools } from "../../src/index.ts"
import * as Tools from "../support/Tools.ts"

const inputSchema = z.object({ n: z.number() })
const file = (mediaType: string, base64 = "AQID") => ({ type: "file", mediaType, data: { type: "base64", base64 } })
const note = (what: string) => ({ type: "text", text: `[${what} was left out]` })

/** A tool as `createMCPClient(...).tools()` of `@ai-sdk/mcp` gives it: the server's result, and how it is shown. */
const mcpTool = (result: { readonly content?: ReadonlyArray<any>; readonly isError?: boolean }) => ({
  ...dynamicTool({
    description: "Looks",
    title: "Look",
    metadata: { clientName: "test" } as never,
    inputSchema: jsonSchema({ type: "object", properties: {}, additionalProperties: false }),
    execute: async () => result,
    toModelOutput: ({ output }) => {
      const { content } = output as { readonly content?: ReadonlyArray<any> }
      return content === undefined
        ? { type: "json", value: output as never }
        : {
          type: "content",
          value: content.map((part) =>
            part.type === "text"
              ? { type: "text" as const, text: part.text as string }
              : part.type === "image"
              ? { type: "image-data" as const, data: part.data, mediaType: part.mimeType }
              : { type: "text" as const, text: JSON.stringify(part) }
          )
        }
    }
  }),
  _meta: { ui: true }
})

const outputs: ReadonlyArray<readonly [what: string, output: unknown, shown: unknown]> = [
  ["text", { type: "text", value: "seen" }, "seen"],
  ["JSON", { type: "json", value: { seen: [1] } }, { seen: [1] }],
  ["JSON that is null", { type: "json", value: null }, null],
  ["words of an error", { type: "error-text", value: "not there" }, "not there"],
  ["JSON of an error", { type: "error-json", value: { code: 4 } }, { code: 4 }],
  ["a denial", { type: "execution-denied", reason: "not now" }, "not now"],
  ["texts", { type: "content", value: [{ type: "text", text: "a" }] }, [{ type: "text", text: "a" }]],
  [
    "image data",
    { type: "content", value: [{ type: "image-data", data: "AQID", mediaType: "image/png" }] },
    [file("image/png")]
  ],
  [
    "file data with a name",
    { type: "content", value: [{ type: "file-data", data: "AQID", mediaType: "text/csv", filename: "a.csv" }] },
    [{ ...file("text/csv"), filename: "a.csv" }]
  ],
  [
    "media of earlier versions",
    { type: "content", value: [{ type: "media", data: "AQID", mediaType: "image/png" }] },
    [file("image/png")]
  ],
  [
    "bytes in a file",
    {
      type: "content",
      value: [{ type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } }]
    },
    [file("image/png")]
  ],
  [
    "text in a file",
    { type: "content", value: [{ type: "file", mediaType: "text/plain", data: { type: "text", text: "x" } }] },
    [{ type: "text", text: "x" }]
  ],
  [
    "URLs",
    {
      type: "content",
      value: [
        { type: "image-url", url: "https://a.test/x.png" },
        { type: "file", mediaType: "application/pdf", data: { type: "url", url: new URL("https://a.test/x") } }
      ]
    },
    [
      { type: "file", mediaType: "image/*", data: { type: "url", url: "https://a.test/x.png" } },
      { type: "file", mediaType: "application/pdf", data: { type: "url", url: "https://a.test/x" } }
    ]
  ],
  [
    "what only a provider has",
    {
      type: "content",
      value: [
        { type: "file", mediaType: "image/png", data: { type: "reference", reference: { a: "b" } } },
        { type: "custom", providerOptions: {} },
        { type: "image-url", url: "no url" }
      ]
    },
    [note("a file that a provider keeps"), note("content of another type"), note("a file without a URL")]
  ]
]

const call = (toModelOutput: unknown, execute: () => unknown = () => ({ plain: true })) =>
  Tools.run(
    AiSdkTools.from({ look: { ...tool({ inputSchema, execute: async () => execute() }), toModelOutput } }),
    Step.call("look", { n: 1 })
  )

describe("F18 tools of the AI SDK with toModelOutput", () => {
  for (const [what, output, shown] of outputs) {
    for (const [how, give] of [["at once", () => output], ["as a promise", async () => output]] as const) {
      it.effect(`F18 ${what} given ${how} is what the model reads`, () =>
        Effect.gen(function*() {
          const { results } = yield* call(give)

          assert.deepStrictEqual<unknown>(results, [[false, shown]])
        }))
    }
  }

  it.effect("F18 it is told the call, its input and its result", () =>
    Effect.gen(function*() {
      let told: any
      yield* call((given: unknown) => {
        told = given
        return { type: "text", value: "x" }
      })

      assert.deepStrictEqual(Object.keys(told).sort(), ["input", "output", "toolCallId"])
      assert.deepStrictEqual([told.input, told.output], [{ n: 1 }, { plain: true }])
    }))

  for (
    const [what, give] of [
      ["throws", () => {
        throw new Error("SECRET")
      }],
      ["is rejected", () => Promise.reject(new Error("SECRET"))],
      ["gives nothing", () => undefined],
      ["gives a type that is not known", () => ({ type: "video", value: "x" })],
      ["gives content that is no list", () => ({ type: "content", value: "x" })],
      ["gives no content", () => ({ type: "content", value: [] })],
      ["gives no value", () => ({ type: "json" })],
      ["is no function", "x"]
    ] as const
  ) {
    it.effect(`F18 where it ${what}, the model reads the result as it is`, () =>
      Effect.gen(function*() {
        const { results } = yield* call(give)

        assert.deepStrictEqual(results, [[false, { plain: true }]])
      }))
  }

  it.effect("F18 what the tool throws is its failure as before, and nothing is asked how to show it", () =>
    Effect.gen(function*() {
      let asked = false
      const { results } = yield* call(() => asked = true, () => {
        throw new Error("SECRET")
      })

      assert.deepStrictEqual(results, [Tools.failed])
      assert.isFalse(asked)
    }))
})

describe("F18 tools of @ai-sdk/mcp", () => {
  it.effect("F18 they are taken, with texts, images and JSON", () =>
    Effect.gen(function*() {
      const image = { type: "image", data: "AQID", mimeType: "image/png" }
      const toolkit = AiSdkTools.from({
        "fs.read": mcpTool({ content: [{ type: "text", text: "read" }, image] }),
        failed: mcpTool({ content: [{ type: "text", text: "not there" }], isError: true }),
        old: mcpTool({ toolResult: 5 } as never)
      })
      const { results, tools } = yield* Tools.run(
        toolkit,
        Step.call("fs_read"),
        Step.call("failed"),
        Step.call("old")
      )

      assert.deepStrictEqual(tools.map(({ description, name }) => [name, description]), [
        ["fs_read", "Looks"],
        ["failed", "Looks"],
        ["old", "Looks"]
      ])
      assert.deepStrictEqual(results, [
        [false, [{ type: "text", text: "read" }, file("image/png")]],
        [false, [{ type: "text", text: "not there" }]],
        [false, { toolResult: 5 }]
      ])
    }))
})
