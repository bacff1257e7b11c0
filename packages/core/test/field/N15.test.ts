import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  type AgentInput,
  Answer,
  FileLimits,
  ModelRegistry,
  ResultCache,
  Threads,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, References, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const bytes = new Uint8Array([0, 1, 2, 250])
const base64 = "AAEC+g=="
const picture = { mediaType: "image/png", name: "a.png", data: bytes }
const part = { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "base64", base64 } }
const input = {
  text: "What is it?",
  files: [picture, { mediaType: "application/pdf", url: "https://files.test/a.pdf" }]
}
const userMessage = {
  role: "user",
  content: [
    { type: "text", text: "What is it?" },
    part,
    { type: "file", mediaType: "application/pdf", data: { type: "url", url: "https://files.test/a.pdf" } }
  ]
}

const Pay = Waiting.gated("pay", { amount: Schema.Int })
const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })

describe.each(backings)("N15 files of an input, in $name", ({ place }) => {
  it.effect("N15 files are in every request of the run, in other processes too, and in the requests of later runs", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        clerk: Script.runs(
          [Step.call("pay", { amount: 1 }), Step.again(Step.fail("authentication"), Step.text("A gate"))],
          [Step.text("Again")]
        )
      })
      const { next } = Waiting.processesOf(yield* place, model)
      const inThread = { threadId: "t" }

      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run(input, inThread)))
      yield* Effect.flip(
        next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", [Answer.approve("0.0:approval0")])))
      )
      const last = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.recover("t")))
      const { history } = yield* next(Effect.gen(function*() {
        const agent = yield* clerk.build()
        yield* agent.run("And now?", inThread)
        return { history: yield* agent.history("t") }
      }))

      const requests = yield* model.requests
      assert.lengthOf(requests, 4)
      for (const { request } of requests) assert.deepStrictEqual(request.messages[0] as unknown, userMessage)
      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "A gate" })
      assert.deepStrictEqual(history[0]?.messages[0] as unknown, userMessage)
    }).pipe(Effect.scoped))

  it.effect("N15 files are in no event and in no error, and forgetting the thread deletes them", () =>
    Effect.gen(function*() {
      const store = yield* place
      const opened = yield* store
      yield* Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk").build()
        const seen: Array<unknown> = []
        const watched = Stream.tap(
          agent.stream(input, { threadId: "t" }),
          (event) => Effect.sync(() => seen.push(event))
        )
        const error = yield* Effect.flip(Stream.runDrain(watched))
        assert.isAbove(seen.length, 2)
        assert.notInclude(JSON.stringify([seen, error, error.message]), base64)
        const stored = yield* opened.events("t", 0)
        assert.notInclude(JSON.stringify(stored), base64)
        assert.include(JSON.stringify(yield* opened.load("t#0")), base64)
        yield* agent.forget("t")
        assert.deepStrictEqual(yield* opened.thread("t"), [])
      }).pipe(Effect.provide(Trees.runtime({ clerk: [Step.fail("authentication")] }, opened)))
    }).pipe(Effect.scoped))
})

const sized = (size: number) => ({ mediaType: "image/png", data: new Uint8Array(size) })
const url = (url: string) => ({ mediaType: "image/png", url })
const allowed = "at most 8 are allowed"
const thrower = {
  mediaType: "image/png",
  get data(): never {
    throw new Error("secret")
  }
}

const refused: ReadonlyArray<readonly [name: string, files: unknown, issue: string]> = [
  ["no array", { 0: picture }, "they are not an array of files"],
  ["nothing", null, "they are not an array of files"],
  ["too many files", [sized(1), sized(1), sized(1), sized(1)], "there are 4 files; at most 3 are allowed"],
  ["bytes over the bound of a file", [sized(9)], `file 1: it has 9 bytes; ${allowed}`],
  [
    "base64 over the bound of a file",
    [{ mediaType: "image/png", data: "AAAAAAAAAAAA" }],
    `file 1: it has 9 bytes; ${allowed}`
  ],
  [
    "a data: URL over the bound of a file",
    [url("data:image/png;base64,AAAAAAAAAAAA")],
    `file 1: it has 9 bytes; ${allowed}`
  ],
  [
    "bytes over the bound of all files",
    [sized(8), sized(8)],
    "the files up to file 2 have more than the 12 bytes allowed in all"
  ],
  [
    "a text for a file",
    ["AAEC"],
    "file 1: it must be a plain object, not a string; the fields are mediaType, name, data, url"
  ],
  [
    "a file without content",
    [{ mediaType: "image/png" }],
    "file 1: it must have either data or url"
  ],
  [
    "a file with data and a URL",
    [{ ...picture, url: "https://files.test" }],
    "file 1: it must have either data or url"
  ],
  [
    "an unknown field",
    [{ ...picture, filename: "a" }],
    "file 1: there is no field \"filename\"; the fields are mediaType, name, data, url"
  ],
  ["an empty file", [sized(0)], "file 1: it is empty"],
  ["empty base64", [{ mediaType: "image/png", data: "" }], "file 1: it is empty"],
  [
    "base64url",
    [{ mediaType: "image/png", data: "AAEC-g==" }],
    "file 1: its data is not base64 (RFC 4648, padded, without line breaks)"
  ],
  [
    "base64 without padding",
    [{ mediaType: "image/png", data: "AAEC+g" }],
    "file 1: its data is not base64 (RFC 4648, padded, without line breaks)"
  ],
  ["data that is a number", [{ mediaType: "image/png", data: 7 }], "file 1: its data must be a Uint8Array or base64"],
  [
    "a media type of one word",
    [{ ...picture, mediaType: "png" }],
    "file 1: mediaType must be a media type without parameters, such as image/png, not a string"
  ],
  [
    "a media type of any image",
    [{ ...picture, mediaType: "image/*" }],
    "file 1: mediaType must be a media type without parameters, such as image/png, not a string"
  ],
  [
    "a media type with a parameter",
    [{ ...picture, mediaType: "text/plain; charset=utf-8" }],
    "file 1: mediaType must be a media type without parameters, such as image/png, not a string"
  ],
  [
    "a name with a line break",
    [{ ...picture, name: "a\nb" }],
    "file 1: name must be 1 to 255 characters, without control characters, not a string"
  ],
  [
    "an http URL",
    [url("http://files.test/a.png")],
    "file 1: its url has the scheme \"http:\"; allowed are https: and data:"
  ],
  ["a file URL", [url("file:///etc/passwd")], "file 1: its url has the scheme \"file:\"; allowed are https: and data:"],
  [
    "a URL with a password",
    [url("https://me:secret@files.test/a.png")],
    "file 1: its url must have no user name and no password"
  ],
  ["a URL that is none", [url("a.png")], "file 1: its url must be a URL of at most 8192 characters"],
  [
    "a URL that is too long",
    [url(`https://files.test/${"a".repeat(9000)}`)],
    "file 1: its url must be a URL of at most 8192 characters"
  ],
  [
    "a data: URL of another type",
    [url("data:text/html;base64,AAEC")],
    "file 1: its data: URL must be base64, and of the file's mediaType"
  ],
  [
    "a data: URL in text",
    [url("data:image/png,AAEC")],
    "file 1: its data: URL must be base64, and of the file's mediaType"
  ],
  ["a getter that throws", [thrower], "file 1: data cannot be read"],
  [
    "an array with a hole",
    Array(1),
    "file 1: it must be a plain object, not undefined; the fields are mediaType, name, data, url"
  ]
]

describe("N15 files that are not valid", () => {
  it.effect.each(refused)(
    "N15 are refused before anything is written: %s",
    ([, files, issue]) =>
      Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk")
          .withFileLimits({ maxFiles: 3, maxFileBytes: 8, maxTotalBytes: 12 })
          .build()
        const given = { text: "Look", files } as AgentInput.AgentInput
        const errors = yield* Effect.forEach([
          agent.run(given, { threadId: "t" }),
          agent.start(given, { threadId: "t" }),
          Stream.runDrain(agent.stream(given, { threadId: "t" }))
        ], (effect) => Effect.flip(Effect.asVoid(effect)))

        for (const error of errors) {
          assert.deepStrictEqual({ ...error.reason }, { _tag: "InvalidInput", field: "files", issues: [issue] })
          assert.strictEqual(error.message, `The files are not valid: ${issue}`)
        }
        assert.deepStrictEqual(yield* Threads.list(), [])
      }).pipe(Effect.provide(Trees.runtime({})))
  )

  it.effect("N15 an unknown field of the input is refused", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").build()
      const error = yield* Effect.flip(agent.run({ text: "Look", files: [], file: picture } as AgentInput.AgentInput))

      assert.strictEqual(
        error.message,
        "The input is not valid: there is no field \"file\"; the fields are text, files (did you mean \"files\"?)"
      )
    }).pipe(Effect.provide(Trees.runtime({}))))

  it.effect("N15 a file that the model's client refuses is an InvalidInput, and the run is not started", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({})
      const refusesFile = ({ mediaType }: { readonly mediaType: string }) =>
        Effect.succeed(mediaType === "image/png" ? undefined : "does not take files of this type")
      const registry = Layer.merge(
        ScriptedModel.layerOf(model),
        ModelRegistry.layer({ default: { ...model.client, refusesFile } })
      )
      const { next } = Waiting.processesOf(yield* backings[0]!.place, model, registry)
      const error = yield* Effect.flip(
        next(Effect.flatMap(AgentBuilder.make("clerk").build(), (agent) => agent.run(input)))
      )

      assert.strictEqual(
        error.message,
        "The files are not valid: file 2 (application/pdf): the model scripted/scripted does not take files of this type"
      )
    }).pipe(Effect.scoped))

  it.effect.each(
    [
      [
        "a misspelt bound",
        { maxFile: 1 },
        "there is no bound \"maxFile\"; the bounds are maxFiles, maxFileBytes, maxTotalBytes (did you mean \"maxFiles\"?)"
      ],
      ["no bytes", { maxFileBytes: 0 }, "maxFileBytes must be a whole number from 1 to 268435456, not 0"],
      ["a number", 5, "it must be a plain object, not 5; the bounds are maxFiles, maxFileBytes, maxTotalBytes"],
      ["null", null, "it must be a plain object, not null; the bounds are maxFiles, maxFileBytes, maxTotalBytes"],
      ["half a file", { maxFiles: 0.5 }, "maxFiles must be a whole number from 0 to 1000, not 0.5"],
      ["no end", { maxTotalBytes: Infinity }, "maxTotalBytes must be a whole number from 1 to 268435456, not Infinity"]
    ] as const
  )("N15 bounds on files are checked when an agent is built: %s", ([, limits, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(AgentBuilder.make("clerk").withFileLimits(limits as never).build())

      assert.deepStrictEqual(error.problems.map((problem) => problem.message), [message])
    }).pipe(Effect.provide(Trees.runtime({}))))
})

const drawing = {
  type: "file",
  mediaType: "image/png",
  data: { type: "base64", base64: "AAAA".repeat(100_000) }
} as const

describe("N15 files that are valid", () => {
  it.effect.each(
    [
      ["bytes of a part of a buffer", {
        mediaType: "image/png",
        data: new Uint8Array([9, 0, 1, 2, 250, 9]).subarray(1, 5)
      }, base64],
      ["base64", { mediaType: "IMAGE/PNG", data: base64 }, base64],
      ["a data: URL", url(`data:image/png;base64,${base64}`), base64],
      ["a data: URL that is a URL", { mediaType: "image/png", url: new URL(`data:image/png;base64,${base64}`) }, base64]
    ] as const
  )("N15 are sent as base64 where they are given as %s", ([, file, expected]) =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").build()
      yield* agent.run({ text: " ", files: [file] })
      const model = yield* ScriptedModel.ScriptedModel
      const [recorded] = yield* model.requests

      const sent = { type: "file", mediaType: "image/png", data: { type: "base64", base64: expected } }
      assert.deepStrictEqual(recorded?.request.messages as unknown, [{ role: "user", content: [sent] }])
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({ clerk: [Step.text("Seen")] }))))

  it.effect("N15 the largest files of the defaults are taken, and a file that is changed later is sent as it was", () =>
    Effect.gen(function*() {
      const { maxFileBytes, maxTotalBytes } = FileLimits.defaults
      const files = Array.from({ length: maxTotalBytes / maxFileBytes }, () => sized(maxFileBytes))
      const agent = yield* AgentBuilder.make("clerk").build()
      const started = yield* agent.start({ text: "Look", files })
      files[0]!.data.fill(7)
      yield* started.await
      const model = yield* ScriptedModel.ScriptedModel
      const [recorded] = yield* model.requests

      const [, first] = recorded!.request.messages[0]!.content as ReadonlyArray<{ data: { base64: string } }>
      assert.isTrue(first!.data.base64.startsWith("AAAA"))
    }).pipe(Effect.provide(Trees.runtime({ clerk: [Step.text("Seen")] }))))

  it.effect("N15 the bytes of a file use no tokens of a budget where a provider does not say what a response used", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withTools(
        Toolkit.make(Tool.make("look", { success: Schema.String })),
        { look: () => Effect.succeed("seen") }
      ).build()
      const { status, usage } = yield* agent.run({ text: "Look", files: [sized(1_000_000)] }, {
        budget: { maxTokens: 2000 }
      })

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "Seen" })
      assert.isBelow(usage.own.inputTokens + usage.own.outputTokens, 1000)
    }).pipe(
      Effect.provide(
        Trees.runtime({
          clerk: [
            Step.parts([drawing, { type: "tool-call", id: "a", name: "look", arguments: "{}" }], "tool-calls"),
            Step.text("Seen")
          ].map(Step.withoutUsage)
        })
      ),
      Effect.provideService(References.MinimumLogLevel, "None")
    ))
})

describe("N15 files of a text subagent", () => {
  const scribe = TypedAgent.text("scribe", { description: "Writes" }).withCache().withFileLimits({ maxFileBytes: 8 })
  const layer = (script: Script.Scripts) => Layer.mergeAll(Trees.runtime(script), ResultCache.layerMemory())

  it.effect("N15 are sent after its description, and no result of such a run is reused", () =>
    Effect.gen(function*() {
      const bound = yield* scribe.bind()
      yield* bound.run({ description: "Look", files: [picture] })
      yield* bound.run({ description: "Look", files: [sized(2)] })
      yield* bound.run({ description: "Look" })
      yield* bound.run({ description: "Look", files: [] })
      yield* bound.run({ description: " ", files: [picture] })
      const model = yield* ScriptedModel.ScriptedModel
      const contents = (yield* model.requests).map(({ request }) => request.messages[0]?.content as unknown)

      const text = { type: "text", text: "Look" }
      const empty = { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAA=" } }
      assert.deepStrictEqual(contents, [[text, part], [text, empty], [text], [part]])
      yield* Trees.noViolations
    }).pipe(Effect.provide(layer({ scribe: Script.each([Step.text("Seen")]) }))))

  it.effect("N15 are refused by its bounds, and a typed subagent has none", () =>
    Effect.gen(function*() {
      const bound = yield* scribe.bind()
      const typed = yield* TypedAgent.make("typed", {
        description: "Types",
        input: Schema.Struct({ topic: Schema.String }),
        report: Schema.Struct({ topic: Schema.String })
      }).bind()
      const error = yield* Effect.flip(bound.run({ description: "Look", files: [sized(9)] }))
      yield* typed.run({ topic: "tides", files: [picture] } as { readonly topic: string })
      const model = yield* ScriptedModel.ScriptedModel

      assert.strictEqual(error.message, `The files are not valid: file 1: it has 9 bytes; ${allowed}`)
      assert.notInclude(JSON.stringify(yield* model.requests), base64)
    }).pipe(Effect.provide(layer({ typed: [Step.report({ topic: "tides" })] }))))
})
