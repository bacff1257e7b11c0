import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, Message } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"

const options = {
  parameters: Schema.Struct({}),
  success: Schema.Struct({ png: Schema.Uint8ArrayFromBase64 }),
  failure: Schema.String,
  failureMode: "error"
} as const

type Shot = { readonly png: Uint8Array }

const runtime = Layer.merge(
  Mandate.layerMemory,
  Models.layer({ clerk: [Step.call("shot", {}), Step.text("seen")] })
)

/** What the model and the history see of a call of a tool with such a mapping. */
const results = (
  toModelOutput: (shot: Shot) => ReadonlyArray<Prompt.ToolModelOutputPart>,
  handler: Effect.Effect<Shot, string> = Effect.succeed({ png: new Uint8Array([0, 1, 2]) })
) =>
  Effect.gen(function*() {
    const Shot = Tool.make("shot", { ...options, toModelOutput })
    const agent = yield* AgentBuilder.make("clerk").withTools(Toolkit.make(Shot), { shot: () => handler }).build()
    const { status } = yield* agent.run("Go", { threadId: "t" })
    assert.strictEqual(status._tag, "Completed")
    const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requests
    const [settled] = yield* agent.history("t")
    assert.deepStrictEqual(Results.all(settled?.messages ?? []), Results.last(second?.request))
    const [part] = Results.parts(second?.request.messages ?? [])
    return part
  }).pipe(Effect.provide(runtime))

describe("Tool content", () => {
  it.effect("a tool shows the model texts and files in place of its result", () =>
    Effect.gen(function*() {
      const part = yield* results(({ png }) => [
        Prompt.textPart({ text: "The page", options: { acme: { cache: true }, other: null } }),
        Prompt.filePart({ mediaType: "image/png", fileName: "a.png", data: png }),
        Prompt.filePart({ mediaType: "image/png", data: "AAEC" }),
        Prompt.filePart({ mediaType: "image/png", data: "data:image/png;base64,AAEC" }),
        Prompt.filePart({ mediaType: "image/png", data: new URL("https://files.test/a.png") }),
        Prompt.filePart({ mediaType: "image/png", data: "https://files.test/b.png" })
      ])

      const base64 = { type: "base64", base64: "AAEC" } as const
      assert.deepStrictEqual(part?.output, {
        type: "content",
        value: [
          { type: "text", text: "The page", providerMetadata: { acme: { cache: true } } },
          { type: "file", mediaType: "image/png", filename: "a.png", data: base64 },
          { type: "file", mediaType: "image/png", data: base64 },
          { type: "file", mediaType: "image/png", data: base64 },
          { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/a.png" } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/b.png" } }
        ]
      })
      assert.isFalse(part?.isError)
      assert.isTrue(Schema.is(Message.ToolOutput)(part?.output))
    }))

  it.effect("a failure is shown as it is", () =>
    Effect.gen(function*() {
      const part = yield* results(() => [Prompt.textPart({ text: "never" })], Effect.fail("no screen"))

      assert.deepInclude(part, { output: { type: "text", value: "no screen" }, isError: true })
    }))

  it.effect("a mapping that throws leaves the result as it is, for the tool has run", () =>
    Effect.gen(function*() {
      const part = yield* results(() => {
        throw new Error("SECRET")
      })

      assert.strictEqual(part?.isError, false)
      assert.notInclude(JSON.stringify(part), "ToolFailed")
      assert.notInclude(JSON.stringify(part), "SECRET")
    }))
})
