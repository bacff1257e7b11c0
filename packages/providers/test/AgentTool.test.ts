import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { type BoundAgent, Mandate, PromiseRuntime, ToolContext, TypedAgent } from "@mandate/core"
import { FixedIds, type Script, ScriptedModel, Step } from "@mandate/testing"
import { generateText, isStepCount, streamText, ToolLoopAgent } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { Deferred, Effect, Layer, Logger, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdkTools } from "../src/index.ts"
import * as Mock from "./support/Mock.ts"

const researcher = TypedAgent.make("researcher", {
  description: "Researches one topic",
  input: Schema.Struct({ topic: Schema.String, since: Schema.optionalKey(Schema.Date) }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String), at: Schema.Date })
})
const report = { facts: ["twice a day"], at: "1970-01-01T00:00:00.000Z" }
const reports = [Step.report(report)]

const runtime = Layer.provideMerge(Mandate.layerMemory, FixedIds.layer)

const bind = <I, O>(
  agent: TypedAgent.TypedAgent<I, O>,
  script: Script.Script
) =>
  Effect.gen(function*() {
    const model = yield* ScriptedModel.make({ [agent.id]: script })
    const context = yield* Effect.context<Mandate.Mandate>()
    const bound = yield* agent.bind().pipe(
      Effect.provide(ScriptedModel.layerOf(model)),
      Effect.provideContext(context)
    )
    return { bound, model }
  })

// A model that calls the tool `research` once and then answers, and remembers its prompts.
const parent = (input: object) =>
  new MockLanguageModelV4({
    doGenerate: [
      Mock.result([{ type: "tool-call", toolCallId: "c1", toolName: "research", input: JSON.stringify(input) }], {
        finishReason: { unified: "tool-calls", raw: "tool_calls" }
      }),
      Mock.result([{ type: "text", text: "done" }])
    ]
  })

const ask = (bound: Bound, input: object = { topic: "tides" }, abortSignal?: AbortSignal) => {
  const model = parent(input)
  return Effect.map(
    Effect.tryPromise(() =>
      generateText({
        model,
        prompt: "Go",
        tools: { research: AiSdkTools.toAiSdkTool(bound) },
        stopWhen: isStepCount(3),
        ...(abortSignal === undefined ? {} : { abortSignal })
      })
    ),
    (result) => ({ result, model })
  )
}

type Bound = Pick<BoundAgent.BoundAgent<never, unknown>, "json">

const toolMessage = (model: MockLanguageModelV4) => {
  const message = model.doGenerateCalls.at(-1)!.prompt.find(({ role }) => role === "tool")!
  const [part] = message.content as ReadonlyArray<{ readonly output?: { readonly type: string; readonly value: any } }>
  return part?.output
}

describe("toAiSdkTool", () => {
  it.live("gives the report as JSON to the model that called it", () =>
    Effect.gen(function*() {
      const { bound, model } = yield* bind(researcher, reports)
      const { model: caller, result } = yield* ask(bound, { topic: "tides", since: "1970-01-02T00:00:00.000Z" })

      assert.strictEqual(result.text, "done")
      assert.deepStrictEqual(toolMessage(caller), { type: "json", value: report })
      const [{ request }] = (yield* model.requests) as [any]
      assert.include(
        JSON.stringify(request.messages),
        "{\\\"since\\\":\\\"1970-01-02T00:00:00.000Z\\\",\\\"topic\\\":\\\"tides\\\"}"
      )
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("shows the description and the JSON Schema of the input, and keeps the agent's own unchanged", () =>
    Effect.gen(function*() {
      const { bound } = yield* bind(researcher, reports)
      const before = structuredClone(bound.json.inputSchema)
      const { model } = yield* ask(bound)

      const [tool] = model.doGenerateCalls[0]!.tools as [any]
      assert.strictEqual(tool.description, "Researches one topic")
      assert.deepInclude(tool.inputSchema, { type: "object", required: ["topic"] })
      assert.hasAllKeys(tool.inputSchema.properties, ["topic", "since"])
      assert.deepStrictEqual(bound.json.inputSchema, before)
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("takes and gives a text subagent's task and text, and unwraps an input that is no object", () =>
    Effect.gen(function*() {
      const scribe = yield* bind(TypedAgent.text("scribe", { description: "Writes" }), [Step.text("It rises.")])
      const { model } = yield* ask(scribe.bound, { description: "Two lines" })
      assert.deepStrictEqual(toolMessage(model), { type: "text", value: "It rises." })

      const counter = TypedAgent.make("counter", {
        description: "Counts",
        input: Schema.Array(Schema.Number),
        report: Schema.Number
      })
      const counting = yield* bind(counter, [Step.report(6)])
      const { model: caller } = yield* ask(counting.bound, { value: [1, 2, 3] })
      assert.deepStrictEqual(toolMessage(caller), { type: "json", value: 6 })
      assert.include(JSON.stringify(yield* counting.model.requests), "[1,2,3]")
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("gives its progress as preliminary results, in counts alone", () =>
    Effect.gen(function*() {
      const Look = Tool.make("look", { success: Schema.String })
      const agent = researcher.withTools(Toolkit.make(Look), { look: () => Effect.succeed("s3cr3t") })
      const { bound } = yield* bind(agent, [
        Step.delay("5 millis", Step.call("look", {})),
        Step.delay("5 millis", Step.report(report))
      ])
      const finish = (unified: "stop" | "tool-calls"): LanguageModelV4StreamPart => ({
        type: "finish",
        finishReason: { unified, raw: unified },
        usage: Mock.result([]).usage
      })
      const stream = (...parts: ReadonlyArray<LanguageModelV4StreamPart>) => ({
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          start: (controller) => {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          }
        })
      })
      const model = new MockLanguageModelV4({
        doStream: [
          stream(
            { type: "tool-call", toolCallId: "c1", toolName: "research", input: "{\"topic\":\"tides\"}" },
            finish("tool-calls")
          ),
          stream(finish("stop"))
        ]
      })
      const { fullStream } = streamText({
        model,
        prompt: "Go",
        tools: { research: AiSdkTools.toAiSdkTool(bound) },
        stopWhen: isStepCount(2)
      })
      const parts = yield* Stream.runCollect(Stream.fromAsyncIterable(fullStream, (error) => error))
      const outputs = parts.flatMap((part) =>
        part.type === "tool-result" ? [[part.preliminary ?? false, part.output] as const] : []
      )

      const at = (modelCalls: number, toolCalls: number) =>
        [true, { status: "working", agent: "researcher", modelCalls, toolCalls, tasks: 0 }] as const
      assert.deepStrictEqual(outputs, [at(1, 0), at(1, 1), at(2, 1), [true, report], [false, report]])
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("takes a subagent of a promise runtime, until that is closed", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ researcher: reports })
      const promises = PromiseRuntime.make(Layer.merge(runtime, ScriptedModel.layerOf(model)))
      const bound = yield* Effect.promise(() => promises.bind(researcher))
      const { model: caller } = yield* ask(bound)
      assert.deepStrictEqual(toolMessage(caller), { type: "json", value: report })

      yield* Effect.promise(() => promises.close())
      const { model: late } = yield* ask(bound)
      assert.include(toolMessage(late)!.value, "gave no report (Defect): it could not be run; see the log")
    }).pipe(Effect.scoped))

  it.live("is a tool of an AI SDK agent too", () =>
    Effect.gen(function*() {
      const { bound } = yield* bind(researcher, reports)
      const agent = new ToolLoopAgent({
        model: parent({ topic: "tides" }),
        tools: { research: AiSdkTools.toAiSdkTool(bound) }
      })
      const { text } = yield* Effect.tryPromise(() => agent.generate({ prompt: "Go" }))

      assert.strictEqual(text, "done")
    }).pipe(Effect.scoped, Effect.provide(runtime)))
})

const quiet = Logger.layer([])

describe("toAiSdkTool without a report", () => {
  const Fail = Tool.make("fail")
  const fatal = researcher.withTools(Toolkit.make(Fail), { fail: () => ToolContext.fatal("the key s3cr3t") })
  const failing = [
    ["an input that does not decode", researcher, [], "InvalidInput", "topic: Expected string"],
    ["a model that fails", researcher, [Step.fail("authentication")], "ModelFailed", "authentication"],
    ["a tool that ends the run", fatal, [Step.call("fail", {})], "ToolFatal", "\"fail\""],
    ["a limit", researcher.withMaxSteps(1), [Step.call("nothing", {})], "StepLimitReached", "1 steps"],
    [
      "no valid report",
      researcher.withReasks(0),
      [Step.report({ facts: ["s3cr3t"] })],
      "InvalidReport",
      "at: Missing key"
    ],
    ["a refusal of the provider", researcher, [Step.contentFilter("s3cr3t")], "Blocked", "provider"]
  ] as const

  it.live.each(failing)(
    "throws %s as reasons alone, and leaves no run behind",
    ([, agent, script, reason, words]) =>
      Effect.gen(function*() {
        const { bound, model: child } = yield* bind(agent, [...script])
        const input = reason === "InvalidInput" ? { topic: 3 } : { topic: "tides" }
        const { model, result } = yield* ask(bound, input)

        const output = toolMessage(model)!
        assert.strictEqual(output.type, "error-text")
        assert.include(output.value, `The subagent "researcher" gave no report (${reason})`)
        assert.include(output.value, words)
        assert.notInclude(JSON.stringify(result.steps), "s3cr3t")
        const error = result.steps[0]!.content.find((part) => part.type === "tool-error")
        assert.instanceOf(error?.error, AiSdkTools.SubagentError)

        const { store } = yield* Mandate.Mandate
        for (const { call } of yield* child.requests) assert.strictEqual(call.threadId, "thread-1")
        assert.deepStrictEqual(yield* store.thread("thread-1"), [])
      }).pipe(Effect.scoped, Effect.provide([runtime, quiet]))
  )

  it.live("cancels a subagent that waits for an answer, and says that nobody can give one here", () =>
    Effect.gen(function*() {
      const Pay = Tool.make("pay", { needsApproval: true })
      const agent = researcher.withTools(Toolkit.make(Pay), { pay: () => Effect.void })
      const { bound, model: child } = yield* bind(agent, [Step.call("pay", {})])
      const { model } = yield* ask(bound)

      assert.include(toolMessage(model)!.value, "approvals cannot be answered here yet")
      const { store } = yield* Mandate.Mandate
      assert.strictEqual((yield* child.requests)[0]!.call.threadId, "thread-1")
      assert.deepStrictEqual(yield* store.thread("thread-1"), [])
    }).pipe(Effect.scoped, Effect.provide(runtime)))
})

describe("toAiSdkTool and abort signals", () => {
  const hanging = Effect.fnUntraced(function*() {
    const { bound, model } = yield* bind(researcher, [Step.hang()])
    return { tool: AiSdkTools.toAiSdkTool(bound), bound, model }
  })

  it.live("cancels the run before it throws the reason", () =>
    Effect.gen(function*() {
      const { bound, model } = yield* hanging()
      const controller = new AbortController()
      yield* Effect.forkChild(
        Effect.andThen(model.awaitCalls(1), Effect.sync(() => controller.abort(new Error("enough"))))
      )
      const error = yield* Effect.flip(ask(bound, { topic: "tides" }, controller.signal))

      assert.include(String(error.cause), "enough")
      assert.lengthOf(yield* model.interrupted, 1)
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("throws the reason itself from the tool", () =>
    Effect.gen(function*() {
      const { model, tool } = yield* hanging()
      const controller = new AbortController()
      const reason = new Error("enough")
      yield* Effect.forkChild(Effect.andThen(model.awaitCalls(1), Effect.sync(() => controller.abort(reason))))
      const thrown = yield* Effect.flip(Effect.tryPromise({
        try: async () =>
          await tool.execute({ topic: "tides" }, { abortSignal: controller.signal })[Symbol.asyncIterator]().next(),
        catch: (error) => error
      }))

      assert.strictEqual(thrown, reason)
      assert.lengthOf(yield* model.interrupted, 1)
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("starts nothing when the signal is aborted already", () =>
    Effect.gen(function*() {
      const { bound, model } = yield* bind(researcher, [])
      const tool = AiSdkTools.toAiSdkTool(bound)
      const thrown = yield* Effect.flip(Effect.tryPromise({
        try: async () =>
          await tool.execute({ topic: "tides" }, { abortSignal: AbortSignal.abort("no") })[Symbol.asyncIterator]()
            .next(),
        catch: (error) => error
      }))

      assert.strictEqual(thrown, "no")
      assert.lengthOf(yield* model.requests, 0)
    }).pipe(Effect.scoped, Effect.provide(runtime)))

  it.live("cancels the run of an iterable that is left", () =>
    Effect.gen(function*() {
      const Look = Tool.make("look")
      const running = yield* Deferred.make<void>()
      const agent = researcher.withTools(Toolkit.make(Look), {
        look: () => Effect.andThen(Deferred.succeed(running, undefined), Effect.never)
      })
      const { bound, model } = yield* bind(agent, [Step.delay("5 millis", Step.call("look", {}))])
      const iterator = AiSdkTools.toAiSdkTool(bound).execute({ topic: "tides" }, {})[Symbol.asyncIterator]()
      yield* Effect.promise(() => iterator.next())
      yield* Deferred.await(running)
      yield* Effect.promise(async () => await iterator.return?.())

      const { store } = yield* Mandate.Mandate
      assert.strictEqual((yield* model.requests)[0]!.call.threadId, "thread-1")
      assert.deepStrictEqual(yield* store.thread("thread-1"), [])
    }).pipe(Effect.scoped, Effect.provide(runtime)))
})
