import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ModelRegistry } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect } from "effect"
import type * as McpClient from "effect/ai/McpClient"
import { McpClientError, ToolError, UnsupportedError, ValidationError } from "effect/ai/McpClientError"
import { AiSdk, McpTools } from "../../src/index.ts"
import { clients } from "../support/Clients.ts"
import * as McpDouble from "../support/McpDouble.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import * as Tools from "../support/Tools.ts"

const bytes = new Uint8Array([1, 2, 3])
const text = (text: string) => ({ type: "text", text })
const file = (mediaType: string) => ({ type: "file", mediaType, data: { type: "base64", base64: "AQID" } })

/** Of each: what a server gave, and what the model reads. */
const shown: ReadonlyArray<readonly [what: string, result: object, value: unknown]> = [
  ["text", { content: [text("a"), text("b")] }, "a\nb"],
  [
    "text and an image",
    { content: [text("done"), { type: "image", data: bytes, mimeType: "image/png" }] },
    [text("done"), file("image/png")]
  ],
  ["an image alone", { content: [{ type: "image", data: bytes, mimeType: "image/png" }] }, [file("image/png")]],
  ["audio", { content: [{ type: "audio", data: bytes, mimeType: "audio/wav" }] }, [file("audio/wav")]],
  ["the text of a resource", { content: [{ type: "resource", resource: { uri: "a:b", text: "words" } }] }, "words"],
  [
    "the bytes of a resource",
    { content: [{ type: "resource", resource: { uri: "a:b", mimeType: "application/pdf", blob: bytes } }] },
    [file("application/pdf")]
  ],
  [
    "the bytes of a resource of no type",
    { content: [{ type: "resource", resource: { uri: "a:b", blob: bytes } }] },
    [file("application/octet-stream")]
  ],
  ["a link", { content: [{ type: "resource_link", name: "a", uri: "file:///a" }] }, "Resource a: file:///a"],
  ["structured content beside its text", { content: [text("{\"n\":1}")], structuredContent: { n: 1 } }, "{\"n\":1}"],
  ["structured content alone", { content: [], structuredContent: { n: 1 } }, "{\"n\":1}"],
  ["nothing", { content: [] }, "The call succeeded. It gave no output."],
  ["blank text", { content: [text(" \n")] }, "The call succeeded. It gave no output."],
  [
    "an image whose media type is none",
    { content: [text("a"), { type: "image", data: bytes, mimeType: "png\r\nx" }] },
    "a\n[a file without a media type was left out]"
  ],
  ["a kind that is not known", { content: [{ type: "video" }] }, "[content of another type was left out]"]
]

const call = (given: Effect.Effect<any, any>) =>
  Tools.run(McpTools.from(McpDouble.make(["look"], () => given).client), Step.call("look"))

describe("F17 the result of an MCP tool", () => {
  for (const [what, result, value] of shown) {
    it.effect(`F17 ${what} is shown, and is no error`, () =>
      Effect.gen(function*() {
        const { results } = yield* call(Effect.succeed(result))

        assert.deepStrictEqual<unknown>(results, [[false, value]])
      }))
  }

  for (
    const [what, reason] of [
      ["cannot be shown", new UnsupportedError({ description: "x" })],
      ["is not valid", new ValidationError({ description: "x", cause: new Error("SECRET") })]
    ] as const
  ) {
    it.effect(`F17 a result that ${what} is a note, for the tool has run`, () =>
      Effect.gen(function*() {
        const { results } = yield* call(Effect.fail(new McpClientError({ reason })))

        assert.deepStrictEqual(results, [
          [false, "The call succeeded. Its result is of a kind that cannot be shown, and was left out."]
        ])
      }))
  }

  it.effect("F17 what a tool says that failed is its failure, in words, with notes for the rest", () =>
    Effect.gen(function*() {
      const image = { type: "image", data: bytes, mimeType: "image/png" }
      const results = [
        yield* call(Effect.succeed({ isError: true, content: [text("dry"), image] })),
        yield* call(Effect.succeed({ isError: true, content: [] })),
        yield* call(Effect.fail(new McpClientError({ reason: new ToolError({ result: { content: [] } as never }) })))
      ].flatMap(({ results }) => results)
      const error = (message: string): unknown => [true, { error: { reason: "ToolError", message } }]

      assert.deepStrictEqual<unknown>(results, [
        error("dry\n[a file of the type image/png]"),
        error("The tool failed without saying why"),
        error("The tool failed without saying why")
      ])
    }))
})

const agent = (mimeType: string) =>
  AgentBuilder.make("a").withModel("own").withToolkit(McpTools.from(
    McpDouble.make(["look"], () =>
      Effect.succeed({ content: [text("The page"), { type: "image", data: bytes, mimeType }] }))
      .client as McpClient.McpClient
  ))

/** The whole of the request that has the tool's result. */
const sent = Effect.fnUntraced(function*(client: (typeof clients)[number], mimeType: string) {
  const server = yield* ProviderServer.start(({ results }) =>
    results.length === 0
      ? { _tag: "turn", turn: { calls: [{ id: "call_1", name: "look", arguments: "{}" }] } }
      : { _tag: "turn", turn: { text: "done" } }
  )
  const { status } = yield* Effect.flatMap(agent(mimeType).build(), (agent) => agent.run("Go")).pipe(
    Effect.provide([
      Mandate.layerMemory,
      ModelRegistry.layer({ models: { own: AiSdk.make(client.model(server.url)) } })
    ])
  )
  assert.strictEqual(status._tag, "Completed")
  return JSON.stringify(server.requests.at(-1)!.body)
})

describe("F17 on the wire", () => {
  for (const client of clients) {
    const takesImages = !client.name.startsWith("OpenAI c")
    it.live(`F17 ${client.name} is sent the text, and ${takesImages ? "the image" : "a note for the image"}`, () =>
      Effect.gen(function*() {
        const body = yield* sent(client, "image/png")

        assert.include(body, "The page")
        assert.strictEqual(body.includes("AQID"), takesImages)
        assert.strictEqual(body.includes("image/png was left out"), !takesImages)
      }).pipe(Effect.scoped))
  }

  for (const client of clients.filter(({ name }) => name === "Anthropic" || name === "OpenAI responses")) {
    it.live(`F17 ${client.name} is sent a note for an image of a type that it does not take`, () =>
      Effect.gen(function*() {
        const body = yield* sent(client, "image/svg+xml")

        assert.include(body, "image/svg+xml was left out")
        assert.notInclude(body, "AQID")
      }).pipe(Effect.scoped))
  }
})
