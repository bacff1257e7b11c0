import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  Answer,
  AtMostOnce,
  Json,
  MaxResultBytes,
  MemoryRunStore,
  type Message,
  type RunStore,
  ToolContext,
  type ToolLimits
} from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema, Stream } from "effect"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as JsonSize from "../../src/values/JsonSize.ts"
import { type Backing, backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

type Handler = () => Effect.Effect<unknown, unknown, ToolContext.ToolContext>

const kilobytes = (count: number) => "x".repeat(count * 1024)
const image = (bytes: number) => Prompt.filePart({ mediaType: "image/png", data: new Uint8Array(bytes) })

const Any = Tool.make("get", { success: Schema.Unknown, failure: Schema.Unknown, failureMode: "error" })
const Shown = (parts: ReadonlyArray<Prompt.ToolModelOutputPart>) =>
  Tool.make("get", { success: Schema.String, failure: Schema.Unknown, toModelOutput: () => parts })

/** What the model reads of a call of a tool, and whether the tool ran. */
const call = Effect.fnUntraced(function*(options: {
  readonly handler: Handler
  readonly limits?: ToolLimits.ToolLimits
  readonly tool?: Tool.Any
  readonly place?: Backing["place"]
  readonly step?: Step.Step
}) {
  const { handler, limits = {}, place, step = Step.call("get"), tool = Any } = options
  let ran = 0
  const clerk = AgentBuilder.make("clerk").withToolLimits(limits).withTools(Toolkit.make(tool as typeof Any), {
    get: () =>
      Effect.suspend(() => {
        ran++
        return handler() as Effect.Effect<unknown>
      })
  })
  const { model, next } = yield* Waiting.processes(place === undefined ? MemoryRunStore.make() : yield* place, {
    clerk: [step, Step.text("done")]
  })
  const result = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
  const [run] = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.history("t")))
  const [part] = Results.parts((yield* model.requestsOf("clerk")).at(-1)?.request.messages ?? [])
  assert.strictEqual(result.status._tag, "Completed")
  assert.deepStrictEqual<unknown>(Results.parts(run?.messages ?? []), [part])
  return { part: part!, ran }
})

const messageOf = ({ output }: Message.ToolResultPart): string =>
  (output.value as { readonly error: { readonly message: string } }).error.message
const reasonOf = (part: Message.ToolResultPart) => Results.reason({ ...part, value: part.output.value as Json.Json })

const ok = (value: unknown): Handler => () => Effect.succeed(value)
const bad = (error: unknown): Handler => () => Effect.fail(error)

const large: ReadonlyArray<{ what: string; bytes: number; failed?: boolean; handler: Handler; tool?: Tool.Any }> = [
  { what: "a text of 3 MB", bytes: 3_000_000, handler: ok("x".repeat(3_000_000)) },
  { what: "a text one byte over", bytes: 262_145, handler: ok("x".repeat(262_145)) },
  { what: "a text that is long in UTF-8 alone", bytes: 262_146, handler: ok("\u20ac".repeat(87_382)) },
  { what: "an object", bytes: 307_211, handler: ok({ text: kilobytes(300) }) },
  { what: "a list of two million numbers", bytes: 4_000_001, handler: ok(Array.from({ length: 2_000_000 }, () => 1)) },
  { what: "a text of 50 MB", bytes: 50_000_000, handler: ok("x".repeat(50_000_000)) },
  { what: "a declared failure", bytes: 307_200, failed: true, handler: bad(kilobytes(300)) },
  {
    what: "a failure with more than a message",
    bytes: 307_242,
    failed: true,
    handler: bad({ code: 1, why: kilobytes(300), more: [1, 2, 3, 4] })
  },
  {
    what: "content with an image",
    bytes: 262_191,
    handler: ok("shot"),
    tool: Shown([image(196_560)])
  },
  {
    what: "content of text",
    bytes: 307_230,
    handler: ok("shot"),
    tool: Shown([Prompt.makePart("text", { text: kilobytes(300) })])
  }
]

describe("F08 A tool result over its bound", () => {
  it.effect.each(backings.flatMap((backing) => large.map((each) => ({ backing, ...each }))))(
    "F08 is an error that says the size, the bound, and that the tool ran: $what ($backing.name)",
    ({ backing, bytes, failed, handler, tool }) =>
      Effect.gen(function*() {
        const { part, ran } = yield* call({ handler, place: backing.place, ...(tool === undefined ? {} : { tool }) })

        assert.strictEqual(ran, 1)
        assert.strictEqual(part.isError, true)
        assert.strictEqual(reasonOf(part), "ResultTooLarge")
        const size = Number(/has (\d+) bytes/.exec(messageOf(part))?.[1])
        assert.isAtLeast(size, 262_145)
        if (tool === undefined && !failed) assert.strictEqual(size, bytes)
        assert.include(messageOf(part), "over the bound of 262144 bytes")
        assert.include(messageOf(part), failed === true ? "The tool failed" : "The tool ran and did not fail")
      })
  )

  it.effect("F08 is cut where it is the message of an error, which keeps its reason", () =>
    Effect.gen(function*() {
      const message = "\u0001".repeat(400_000)
      const { part } = yield* call({ handler: bad({ error: { reason: "ToolError", message } }) })

      assert.strictEqual(reasonOf(part), "ToolError")
      assert.isAtMost(JsonSize.of(part.output.value as Json.Json), 262_144)
    }))

  it.effect("F08 is cut where it says what is wrong with arguments", () =>
    Effect.gen(function*() {
      const tool = Tool.make("get", { parameters: Schema.Record(Schema.String, Schema.Int), success: Schema.Unknown })
      const args = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key${index}`, "no"]))
      const { part, ran } = yield* call({ handler: ok(1), tool, step: Step.call("get", args) })

      assert.strictEqual(ran, 0)
      assert.strictEqual(reasonOf(part), "InvalidArguments")
      assert.isAtMost(JsonSize.of(part.output.value as Json.Json), 262_144)
    }))

  it.effect("F08 is held exactly at its bound, in bytes of UTF-8 and of canonical JSON", () =>
    Effect.gen(function*() {
      for (const [value, bytes] of [["\u20acab", 5], [["\u20ac", 1], 9], [{ b: 1, a: "\n" }, 16], [null, 4]] as const) {
        const fits = yield* call({ handler: ok(value), limits: { maxToolResultBytes: bytes } })
        const over = yield* call({ handler: ok(value), limits: { maxToolResultBytes: bytes - 1 } })

        assert.deepStrictEqual<unknown>([fits.part.isError, fits.part.output.value], [false, value])
        assert.strictEqual(reasonOf(over.part), "ResultTooLarge")
      }
    }))

  it.effect("F08 is what the agent says for a tool, then what the tool says, then what the agent says for all", () =>
    Effect.gen(function*() {
      const own = Any.annotate(MaxResultBytes, 20)
      const sizes = [
        [{ maxToolResultBytes: 10 }, Any, 10],
        [{ maxToolResultBytes: 10 }, own, 20],
        [{ maxToolResultBytes: 30 }, own, 20],
        [{ maxToolResultBytes: 10, toolResultBytes: { get: 30 } }, own, 30],
        [{ toolResultBytes: { get: 5 } }, Any, 5]
      ] as const
      for (const [limits, tool, bytes] of sizes) {
        const fits = yield* call({ handler: ok("x".repeat(bytes)), limits, tool })
        const over = yield* call({ handler: ok("x".repeat(bytes + 1)), limits, tool })

        assert.deepStrictEqual([fits.part.isError, over.part.isError], [false, true])
      }
    }))

  it.effect.each(backings)(
    "F08 is the one of the run's start, also after a deploy with another ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const Pay = Waiting.gated("get", {})
        const clerk = (bytes: number) =>
          AgentBuilder.make("clerk").withToolLimits({ maxToolResultBytes: bytes }).withTools(Toolkit.make(Pay), {
            get: () => Effect.succeed("x".repeat(50))
          })
        const { model, next } = yield* Waiting.processes(yield* place, {
          clerk: [Step.call("get", {}), Step.text("done")]
        })
        yield* next(Effect.flatMap(clerk(10).build(), (agent) => agent.run("Go", { threadId: "t" })))
        yield* next(Effect.flatMap(clerk(100).build(), (agent) => agent.resume("t", [Answer.approve("0.0:approval0")])))
        const [part] = Results.parts((yield* model.requestsOf("clerk")).at(-1)!.request.messages)

        assert.strictEqual(reasonOf(part!), "ResultTooLarge")
      })
  )

  it.effect("F08 is none in a run that was started before there were such bounds", () =>
    Effect.gen(function*() {
      const store = MemoryRunStore.make()
      const before: RunStore.RunStore["Service"] = {
        ...store,
        open: (row, ...more) => {
          const { maxCallsPerResponse, maxConcurrentTools, maxToolResultBytes, ...limits } = JSON.parse(row.limits)
          assert.deepStrictEqual([maxCallsPerResponse, maxConcurrentTools, maxToolResultBytes], [128, 16, 262_144])
          return store.open({ ...row, limits: JSON.stringify(limits) }, ...more)
        }
      }
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Waiting.gated("get", {})), {
        get: () => Effect.succeed(kilobytes(300))
      })
      const { model, next } = yield* Waiting.processes(before, { clerk: [Step.call("get", {}), Step.text("done")] })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", [Answer.approve("0.0:approval0")])))
      const [part] = Results.parts((yield* model.requestsOf("clerk")).at(-1)!.request.messages)

      assert.strictEqual(part?.isError, false)
    }))

  it.effect("F08 is not shown as progress either", () =>
    Effect.gen(function*() {
      const clerk = AgentBuilder.make("clerk").withToolLimits({ maxToolResultBytes: 100 }).withTools(
        Toolkit.make(Any),
        {
          get: () => Effect.as(Effect.forEach(["small", "x".repeat(200), "last"], ToolContext.emit), "x".repeat(200))
        }
      )
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), { clerk: [Step.call("get"), Step.text("done")] })
      const events = yield* next(Effect.flatMap(clerk.build(), (agent) => Stream.runCollect(agent.stream("Go"))))

      assert.deepStrictEqual(
        [...events].flatMap((event) => event._tag === "ToolProgress" ? [event.value] : []),
        ["small", "last"]
      )
      assert.deepStrictEqual(
        [...events].flatMap((event) =>
          event._tag === "ToolFinished" ? [[event.isError, JSON.stringify(event.output).length < 300]] : []
        ),
        [[true, true]]
      )
    }))

  it.effect("F08 is refused as what a person gives in place of a result", () =>
    Effect.gen(function*() {
      const Send = Tool.make("send", { success: Schema.String }).annotate(AtMostOnce, true)
      const clerk = AgentBuilder.make("clerk").withToolLimits({ maxToolResultBytes: 10 }).withTools(
        Toolkit.make(Send),
        {
          send: () => Effect.never
        }
      )
      const { die, next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [Step.call("send"), Step.text("done")]
      })
      const build = clerk.build()
      yield* die(Effect.flatMap(build, (agent) =>
        Effect.andThen(
          Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true }),
          Effect.yieldNow
        )))
      yield* next(Effect.flatMap(build, (agent) => agent.recover("t", { force: true })))
      const reply = (value: string) =>
        next(Effect.flatMap(build, (agent) => agent.resume("t", [Answer.replyUnknown("0.0:uncertain0", value)])))
      const error = yield* Effect.flip(reply("far too large"))
      const result = yield* reply("sent")

      assert.include(error.message, "it has 13 bytes; at most 10 are allowed")
      assert.strictEqual(result.status._tag, "Completed")
    }))
})

describe("F08 The size of a JSON value", () => {
  it.effect.prop("F08 is that of its canonical JSON in UTF-8", [Schema.Json], ([given]) =>
    Effect.sync(() => {
      // As it is stored: without halves of surrogate pairs.
      const { value } = Json.stringify(given)
      const bytes = Buffer.byteLength(Json.canonical(value))

      assert.strictEqual(JsonSize.of(value), bytes)
      assert.isFalse(JsonSize.isSurelyWithin(value, bytes - 1))
      assert.isAtLeast(JsonSize.left(value, bytes), 0)
      assert.isTrue(JsonSize.isSurelyWithin(value, bytes * 30 + 30))
    }))
})

describe("F08 A bound on tools that is not valid", () => {
  const cases: ReadonlyArray<readonly [limits: unknown, message: string]> = [
    [{ maxToolResultBytes: 0 }, "maxToolResultBytes must be a positive whole number, not 0"],
    [{ maxToolResultBytes: -1 }, "maxToolResultBytes must be a positive whole number, not -1"],
    [{ maxToolResultBytes: null }, "maxToolResultBytes must be a positive whole number, not null"],
    [{ maxCallsPerResponse: 1.5 }, "maxCallsPerResponse must be a positive whole number, not 1.5"],
    [{ maxConcurrentTools: "5" }, "maxConcurrentTools must be a positive whole number, not a string"],
    [{ maxConcurrentTools: Number.NaN }, "maxConcurrentTools must be a positive whole number, not NaN"],
    [
      { maxToolBytes: 5 },
      "there is no limit \"maxToolBytes\"; the limits are maxToolResultBytes, maxCallsPerResponse, maxConcurrentTools, toolResultBytes"
    ],
    [{ toolResultBytes: { get: 0 } }, "toolResultBytes of \"get\" must be a positive whole number, not 0"],
    [{ toolResultBytes: { gte: 5 } }, "the limit toolResultBytes of \"gte\" names no tool; tools: get"],
    [{ toolResultBytes: 5 }, "toolResultBytes must be an object of tool names and their bytes"],
    ...[null, 5, "5", new Map(), new Date(0)].map((limits) =>
      [limits, "the limits of tools must be an object"] as const
    )
  ]

  it.effect.each(cases.map(([limits, message]) => ({ limits, message })))(
    "F08 is a problem of build: $message",
    ({ limits, message }) =>
      Effect.gen(function*() {
        const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Any), { get: () => Effect.succeed(1) })
        const { next } = yield* Waiting.processes(MemoryRunStore.make(), {})
        const error = yield* next(Effect.flip(clerk.withToolLimits(limits as ToolLimits.ToolLimits).build()))

        assert.deepStrictEqual(error.problems.map((problem) => problem.message), [message])
      })
  )

  it.effect("F08 is a problem of build as an annotation of a tool too", () =>
    Effect.gen(function*() {
      const tool = Any.annotate(MaxResultBytes, 0)
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(tool), { get: () => Effect.succeed(1) })
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {})
      const error = yield* next(Effect.flip(clerk.build()))

      assert.deepStrictEqual(error.problems.map((problem) => problem.message), [
        "MaxResultBytes of the tool \"get\" must be a positive whole number, not 0"
      ])
    }))
})
