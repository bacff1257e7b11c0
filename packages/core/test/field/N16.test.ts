import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  type AgentDefinitionError,
  Answer,
  type Mandate,
  type ModelRegistry,
  type ModelRequest,
  PromiseRuntime,
  ResultCache,
  type RunError,
  Threads,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Logger, References, Schema, SchemaGetter, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const secret = "user-4711"
const User = Schema.Struct({ userId: Schema.String, since: Schema.Date })
const context = { userId: secret, since: new Date(0) }

const Whose = Tool.make("whose", { success: Schema.String })
const Pay = Waiting.gated("pay", { amount: Schema.Int })

/** The tools note which user they are called for. */
const setUp = () => {
  const seen: Array<unknown> = []
  const read = Effect.map(ToolContext.context(User), (user) => {
    seen.push(user)
    return "noted"
  })
  const Named = Schema.Struct({ userId: Schema.String })
  const scribe = TypedAgent.text("scribe", { description: "Writes" })
    .withContext(Named)
    .withInstructions(({ userId }) => `You write for ${userId.length} letters.`)
    .withTools(Toolkit.make(Whose), {
      whose: () =>
        Effect.map(ToolContext.context(Named), (user) => {
          seen.push(user)
          return "noted"
        })
    })
  const stranger = TypedAgent.text("stranger", { description: "Knows nobody" })
    .withTools(Toolkit.make(Whose), { whose: () => read })
  const clerk = AgentBuilder.make("clerk")
    .withContext(User)
    .withInstructions(({ since }) => `You serve a customer since ${since.getUTCFullYear()}.`)
    .withTools(Toolkit.make(Whose, Pay), { whose: () => read, pay: () => read })
    .withSubagents([scribe, stranger])
  return { clerk, seen }
}

const reasonOf = (error: unknown) => (error as Partial<RunError.RunError>).reason

const systemOf = ({ messages }: ModelRequest.ModelRequest) =>
  messages[0]?.role === "system" ? messages[0].content : undefined

describe.each(backings)("N16 the context of a run, in $name", ({ place }) => {
  it.effect("N16 tools and instructions read it in every drive, in other processes too, and children as they declare", () =>
    Effect.gen(function*() {
      const { clerk, seen } = setUp()
      const model = yield* ScriptedModel.make({
        clerk: [
          Step.call("whose"),
          Step.call("pay", { amount: 1 }),
          Step.again(Step.fail("authentication"), Step.textTask("scribe", "Write")),
          Step.textTask("stranger", "Ask"),
          Step.text("Done")
        ],
        scribe: [Step.call("whose"), Step.text("Written")],
        stranger: [Step.call("whose"), Step.text("Unknown")]
      })
      const { next } = Waiting.processesOf(yield* place, model)
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t", context })))
      const approved = [Answer.approve("1.0:approval0")]
      yield* Effect.flip(next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", approved))))
      const last = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.recover("t")))

      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "Done" })
      assert.deepStrictEqual(seen, [context, context, { userId: secret }])
      const ofClerk = yield* model.requestsOf("clerk")
      assert.lengthOf(ofClerk, 6)
      for (const { request } of ofClerk) assert.strictEqual(systemOf(request), "You serve a customer since 1970.")
      for (const { request } of yield* model.requestsOf("scribe")) {
        assert.strictEqual(systemOf(request), "You write for 9 letters.")
      }
      const [unknown] = Trees.lastResults((yield* model.requestsOf("stranger"))[1]!.request)
      assert.isTrue(unknown?.isError)
      // No model was shown it.
      assert.notInclude(JSON.stringify(yield* model.requests), secret)
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")))

  it.effect("N16 it is in no event, error or log, and forgetting the thread deletes it", () =>
    Effect.gen(function*() {
      const { clerk } = setUp()
      const opened = yield* yield* place
      const logged: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => logged.push(line))
      yield* Effect.gen(function*() {
        const agent = yield* clerk.build()
        const events: Array<unknown> = []
        const stream = agent.stream("Go", { threadId: "t", context })
        const error = yield* Effect.flip(Stream.runForEach(stream, (event) => Effect.sync(() => events.push(event))))
        const bad = { userId: 7, since: secret } as never
        const refused = yield* Effect.flip(agent.run("Go", { threadId: "u", context: bad }))

        assert.isAbove(events.length, 2)
        const told = [events, error, error.message, refused, refused.message, yield* opened.events("t", 0), logged]
        assert.notInclude(JSON.stringify(told), secret)
        assert.include(JSON.stringify(yield* opened.load("t#0")), secret)
        yield* agent.forget("t")
        assert.deepStrictEqual(yield* opened.thread("t"), [])
      }).pipe(
        Effect.provide(Trees.runtime(
          {
            clerk: [Step.call("whose"), Step.textTask("stranger", "Ask"), Step.fail("authentication")],
            stranger: [
              Step.call("whose"),
              Step.text("Unknown")
            ]
          },
          opened
        )),
        Effect.provideService(References.MinimumLogLevel, "Trace"),
        Effect.provide(Logger.layer([logger]))
      )
    }).pipe(Effect.scoped))

  it.effect("N16 a run whose agent declares another context by now is refused as AgentChanged", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.call("pay", { amount: 1 })] })
      const { next } = Waiting.processesOf(yield* place, model)
      const plain = AgentBuilder.make("clerk").withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })
      const first = plain.withContext(Schema.Struct({ userId: Schema.String }))
      yield* next(
        Effect.flatMap(first.build(), (agent) => agent.run("Go", { threadId: "t", context: { userId: "u" } }))
      )
      const answer = [Answer.approve("0.0:approval0")]
      const errors = yield* Effect.forEach([
        Effect.flatMap(plain.build(), (agent) => agent.resume("t", answer)),
        Effect.flatMap(
          plain.withContext(Schema.Struct({ userId: Schema.Int })).build(),
          (agent) => agent.resume("t", answer)
        )
      ], (resume) => Effect.flip(next(resume)))

      for (const error of errors) {
        assert.deepInclude({ ...reasonOf(error) as object }, {
          _tag: "AgentChanged",
          differences: ["the schema of the context"]
        })
      }
    }).pipe(Effect.scoped))

  it.effect("N16 a stored context that its schema cannot read any more fails the run as CorruptRun", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.call("pay", { amount: 1 })] })
      const { next } = Waiting.processesOf(yield* place, model)
      const plain = AgentBuilder.make("clerk").withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })
      const decoding = (isOpen: boolean) =>
        plain.withContext(Schema.Struct({
          userId: Schema.String.pipe(Schema.decodeTo(Schema.String, {
            decode: isOpen ? SchemaGetter.passthrough() : SchemaGetter.fail(() => closed),
            encode: SchemaGetter.passthrough()
          }))
        }))
      yield* next(
        Effect.flatMap(
          decoding(true).build(),
          (agent) => agent.run("Go", { threadId: "t", context: { userId: secret } })
        )
      )
      const error = yield* Effect.flip(
        next(Effect.flatMap(decoding(false).build(), (agent) => agent.resume("t", [Answer.approve("0.0:approval0")])))
      )

      assert.strictEqual(reasonOf(error)?._tag, "CorruptRun")
      assert.notInclude(JSON.stringify(error), secret)
    }).pipe(Effect.scoped))
})

const closed = "closed" as never

const Sized = Schema.Struct({ userId: Schema.String })
const circle: { userId: unknown } = { userId: "u" }
circle.userId = circle
const thrower = {
  get userId(): string {
    throw new Error(secret)
  }
}

const refused: ReadonlyArray<readonly [name: string, config: object, issue: string]> = [
  ["none", {}, "it is missing: the agent \"clerk\" declares one"],
  ["undefined", { context: undefined }, "it is missing: the agent \"clerk\" declares one"],
  ["null", { context: null }, "Expected object"],
  ["a text", { context: secret }, "Expected object"],
  ["no field", { context: {} }, "userId: Missing key"],
  ["a wrong field", { context: { userId: 7 } }, "userId: Expected string"],
  ["a circle", { context: circle }, "userId: "],
  ["a getter that throws", { context: thrower }, "it cannot be read"],
  ["too much", { context: { userId: "x".repeat(65_536) } }, "it has 65549 bytes as JSON; at most 65536 are allowed"]
]

describe("N16 a context that is not valid", () => {
  it.effect.each(refused)(
    "N16 is refused before anything is written: %s",
    ([, config, issue]) =>
      Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk").withContext(Sized).build()
        const given = { threadId: "t", ...config } as never
        const errors = yield* Effect.forEach([
          agent.run("Go", given),
          agent.start("Go", given),
          Stream.runDrain(agent.stream("Go", given))
        ], (effect) => Effect.flip(Effect.asVoid(effect)))

        for (const error of errors) {
          const { field, issues } = error.reason as { readonly field: string; readonly issues: ReadonlyArray<string> }
          assert.strictEqual(field, "context")
          assert.include(issues.join("; "), issue)
          assert.notInclude(JSON.stringify(error), secret)
        }
        assert.deepStrictEqual(yield* Threads.list(), [])
      }).pipe(Effect.provide(Trees.runtime({})))
  )

  it.effect("N16 a context for an agent that declares none is refused", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").build()
      const error = yield* Effect.flip(agent.run("Go", { context: { userId: secret } } as never))

      assert.strictEqual(
        error.message,
        "The context is not valid: the agent \"clerk\" declares no context: leave it out"
      )
    }).pipe(Effect.provide(Trees.runtime({}))))

  it.effect("N16 a context that a subagent cannot read is refused before the run starts, at any depth", () =>
    Effect.gen(function*() {
      const deep = TypedAgent.text("deep", { description: "Digs" }).withContext(
        Schema.Struct({ userId: Schema.String.check(Schema.isPattern(/^u-/)) })
      )
      const scribe = TypedAgent.text("scribe", { description: "Writes" }).withContext(Sized).withSubagents([deep])
      const agent = yield* AgentBuilder.make("clerk").withContext(Sized).withSubagents([scribe]).build()
      const error = yield* Effect.flip(agent.run("Go", { threadId: "t", context: { userId: secret } }))

      assert.include(error.message, "The context is not valid: subagent \"scribe\": subagent \"deep\": userId: ")
      assert.notInclude(error.message, secret)
      assert.deepStrictEqual(yield* Threads.list(), [])
    }).pipe(Effect.provide(Trees.runtime({}))))
})

type Built = Effect.Effect<
  unknown,
  AgentDefinitionError.AgentDefinitionError,
  Mandate.Mandate | ModelRegistry.ModelRegistry
>

describe("N16 the definition of a context", () => {
  const named = TypedAgent.text("scribe", { description: "Writes" }).withContext(Sized)
  const late = AgentBuilder.make("clerk").withContext(Sized).withInstructions(({ userId }) => userId)

  it.effect.each(
    [
      [
        "a subagent declares one and its parent none",
        AgentBuilder.make("clerk").withSubagents([named]),
        "the subagent \"scribe\" declares a context, and this agent has none to give: call withContext here too"
      ],
      [
        "instructions are a function and there is no context",
        AgentBuilder.make("clerk").withInstructions((() => "") as never),
        "the instructions are a function of a context, and the agent declares none: call withContext first"
      ],
      [
        "instructions are a function of a context that was replaced",
        late.withContext(Schema.Struct({ userId: Schema.String })),
        "the instructions are a function of another context than the agent declares: call withContext before them, once"
      ],
      [
        "the schema takes undefined",
        AgentBuilder.make("clerk").withContext(Schema.UndefinedOr(Schema.String)),
        "the schema of the context takes undefined at its root; a context is never optional"
      ]
    ] as const
  )("N16 is refused where %s", ([, builder, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(builder.build() as Built)

      assert.include(error.problems.map((problem) => problem.message), message)
    }).pipe(Effect.provide(Trees.runtime({}))))

  it.effect("N16 instructions that give no text fail the run as a Defect, and recover mends it", () =>
    Effect.gen(function*() {
      let text: unknown = 7
      const agent = yield* AgentBuilder.make("clerk").withContext(Sized).withInstructions(() => text as string).build()
      const error = yield* Effect.flip(agent.run("Go", { threadId: "t", context: { userId: "u" } }))
      text = ""
      const { status } = yield* agent.recover("t")

      assert.strictEqual(error.reason._tag, "Defect")
      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "ok" })
    }).pipe(
      Effect.provide(Trees.runtime({ clerk: [Step.text("ok")] })),
      Effect.provideService(References.MinimumLogLevel, "None")
    ))
})

describe("N16 results that depend on a context", () => {
  it.effect("N16 are cached for an equal context alone, by run and by task", () =>
    Effect.gen(function*() {
      const scribe = TypedAgent.text("scribe", { description: "Writes" }).withContext(Sized).withCache()
      const bound = yield* scribe.bind()
      const clerk = yield* AgentBuilder.make("clerk").withContext(Sized).withSubagents([scribe]).build()
      const model = yield* ScriptedModel.ScriptedModel
      const asked = Effect.map(model.requestsOf("scribe"), (all) => all.length)
      const counts: Array<number> = []
      for (const userId of ["a", "a", "b"]) {
        yield* bound.run({ description: "Write" }, { context: { userId } })
        counts.push(yield* asked)
      }
      for (const userId of ["c", "c", "a"]) {
        yield* clerk.run("Go", { context: { userId } })
        counts.push(yield* asked)
      }

      assert.deepStrictEqual(counts.slice(0, 3), [1, 1, 2])
      assert.deepStrictEqual([counts[3], counts[4]], [3, 3])
    }).pipe(
      Effect.provide(ResultCache.layerMemory()),
      Effect.provide(Trees.runtime({
        clerk: Script.each([Step.textTask("scribe", "Write"), Step.text("ok")]),
        scribe: Script.each([Step.text("ok")])
      }))
    ))
})

describe("N16 the promise runtime", () => {
  it("N16 takes a context, beside a signal", async () => {
    const { clerk, seen } = setUp()
    await using runtime = PromiseRuntime.make(Layer.merge(
      TestRuntime.layer,
      Models.layer({ clerk: [Step.call("whose"), Step.text("ok")] })
    ))
    const agent = await runtime.build(clerk)
    const { status } = await agent.run("Go", { context, signal: new AbortController().signal })

    assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "ok" })
    assert.deepStrictEqual(seen, [context])
  })
})
