import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type ModelClient, ModelRegistry } from "@mandate/core"
import { ScriptedModel } from "@mandate/testing"
import { Effect, Stream } from "effect"
import { LanguageModel, type Prompt, type Response } from "effect/ai"
import { AiSdk, EffectAi, ModelFallback } from "../../src/index.ts"
import { type Client, clients } from "../support/Clients.ts"
import * as ProviderServer from "../support/ProviderServer.ts"

const image = { mediaType: "image/png", name: "a.png", data: new Uint8Array([0, 1, 2]) }
const pdf = { mediaType: "application/pdf", name: "a.pdf", data: "AAEC" }
const imageUrl = { mediaType: "image/png", url: "https://files.test/a.png" }
const pdfUrl = { mediaType: "application/pdf", url: new URL("https://files.test/a.pdf") }
type File = typeof image | typeof pdf | typeof imageUrl | typeof pdfUrl

const pdfData = "data:application/pdf;base64,AAEC"
const chat = {
  image: { type: "image_url", image_url: { url: "data:image/png;base64,AAEC" } },
  pdf: { type: "file", file: { filename: "a.pdf", file_data: pdfData } }
}

/** How each provider is sent a file after the text; nothing where its client cannot. */
const sent: { readonly [client: string]: { readonly [file in "image" | "pdf" | "imageUrl" | "pdfUrl"]?: object } } = {
  "OpenAI responses": {
    image: { type: "input_image", image_url: "data:image/png;base64,AAEC" },
    pdf: { type: "input_file", filename: "a.pdf", file_data: pdfData },
    imageUrl: { type: "input_image", image_url: "https://files.test/a.png" },
    pdfUrl: { type: "input_file", file_url: "https://files.test/a.pdf" }
  },
  "OpenAI chat": { ...chat, imageUrl: { type: "image_url", image_url: { url: "https://files.test/a.png" } } },
  Anthropic: {
    image: { type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" } },
    pdf: {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "AAEC" },
      title: "a.pdf"
    },
    imageUrl: { type: "image", source: { type: "url", url: "https://files.test/a.png" } },
    pdfUrl: { type: "document", source: { type: "url", url: "https://files.test/a.pdf" } }
  },
  Google: {
    image: { inlineData: { mimeType: "image/png", data: "AAEC" } },
    pdf: { inlineData: { mimeType: "application/pdf", data: "AAEC" } },
    imageUrl: { fileData: { mimeType: "image/png", fileUri: "https://files.test/a.png" } },
    pdfUrl: { fileData: { mimeType: "application/pdf", fileUri: "https://files.test/a.pdf" } }
  },
  "OpenAI compatible": chat
}

const look = (file: File, client: ModelClient.ModelClient) =>
  Effect.flatMap(AgentBuilder.make("clerk").build(), (agent) =>
    Effect.gen(function*() {
      yield* Stream.runDrain(agent.stream({ text: "Look", files: [file] }, { threadId: "t" }))
      yield* agent.run("And now?", { threadId: "t" })
    })).pipe(Effect.provide([Mandate.layerMemory, ModelRegistry.layer({ default: client })]))

const finish: Response.FinishPartEncoded = {
  type: "finish",
  reason: "stop",
  usage: { inputTokens: {}, outputTokens: {} }
}

const serve = ProviderServer.start(() => ({ _tag: "turn", turn: { text: "Seen" } }))

const cases = clients.flatMap((client) =>
  ([["image", image], ["pdf", pdf], ["imageUrl", imageUrl], ["pdfUrl", pdfUrl]] as const).map(
    ([name, file]) => [client.name, name, client, file] as const
  )
)

interface SentMessage {
  readonly content?: ReadonlyArray<object>
  readonly parts?: ReadonlyArray<object>
}

describe("N15 files of an input, on the wire", () => {
  it.live.each(cases)("N15 %s: the file %s is sent in the request of its run and of the next, or refused at once", (
    [, name, client, file]
  ) =>
    Effect.gen(function*() {
      const server = yield* serve
      const expected = sent[client.name]?.[name]
      const run = look(file, AiSdk.make(client.model(server.url)))
      if (expected === undefined) {
        const error = yield* Effect.flip(run)
        assert.include(error.message, `The files are not valid: file 1 (${file.mediaType}): the model `)
        assert.include(error.message, "does not fetch files of this type from this URL; give the file as data")
        assert.lengthOf(server.requests, 0)
        return
      }
      yield* run

      assert.lengthOf(server.requests, 2)
      for (const { body } of server.requests) {
        const [first] = (body["messages"] ?? body["input"] ?? body["contents"]) as ReadonlyArray<SentMessage>
        assert.deepStrictEqual((first?.content ?? first?.parts)?.slice(1), [expected])
      }
    }).pipe(Effect.scoped))

  it.live.each(clients.map((client) => [client.name, client] as const))(
    "N15 %s: a file of a media type that the model is not said to take is refused before a request",
    ([, client]) =>
      Effect.gen(function*() {
        const server = yield* serve
        const error = yield* Effect.flip(refusing(client, server.url))

        assert.match(
          error.message,
          /^The files are not valid: file 1 \(application\/pdf\): the model .* takes no files /
        )
        assert.include(error.message, "of this type, but image/*, Text/Plain")
        assert.lengthOf(server.requests, 0)
      }).pipe(Effect.scoped)
  )

  const refusing = (client: Client, url: string) =>
    look(pdf, AiSdk.make(client.model(url), { mediaTypes: ["image/*", "Text/Plain"] }))

  it.effect("N15 an effect/ai model is sent them as parts of the prompt, and refuses by its media types", () =>
    Effect.gen(function*() {
      const prompts: Array<Prompt.Prompt> = []
      const model = yield* LanguageModel.make({
        generateText: ({ prompt }) =>
          Effect.sync(() => {
            prompts.push(prompt)
            return [{ type: "text", text: "Seen" }, finish]
          }),
        streamText: ({ prompt }) => {
          prompts.push(prompt)
          return Stream.make(
            { type: "text-start", id: "0" } as const,
            { type: "text-delta", id: "0", delta: "Seen" } as const,
            { type: "text-end", id: "0" } as const,
            finish
          )
        }
      })
      const make = (options: EffectAi.Options) =>
        Effect.provideService(EffectAi.make(options), LanguageModel.LanguageModel, model)
      yield* look(image, yield* make({ mediaTypes: ["image/png"] }))
      const error = yield* Effect.flip(look(pdf, yield* make({ mediaTypes: ["image/png"] })))

      assert.lengthOf(prompts, 2)
      for (const { content: [first] } of prompts) {
        const part = first?.role === "user" ? first.content[1] : undefined
        assert.deepInclude({ ...part }, { type: "file", mediaType: "image/png", fileName: "a.png", data: "AAEC" })
      }
      assert.include(error.message, "takes no files of this type, but image/png")
    }))

  it.effect("N15 a list of models refuses what one of them refuses", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({})
      const picky = { ...client, refusesFile: () => Effect.succeed("is picky") }
      const error = yield* Effect.flip(look(image, ModelFallback.make([client, picky])))

      assert.strictEqual(
        error.message,
        "The files are not valid: file 1 (image/png): the model scripted/scripted is picky"
      )
    }).pipe(Effect.scoped))
})
