import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Mandate, type Message, ToolContext, ToolkitError, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Layer, Logger, Schema, SchemaGetter, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

class Place extends Context.Service<Place, { readonly name: string }>()("test/Place") {}

const clerk = AgentBuilder.make("clerk")
const scripted = (...calls: ReadonlyArray<Step.Call>) =>
  Layer.merge(
    Mandate.layerMemory,
    Models.layer({ clerk: [Step.calls(...calls), Step.text("done")] })
  )
const unscripted = Layer.merge(Mandate.layerMemory, Models.layer({}))

const Search = Tool.make("search", {
  description: "Searches",
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.String,
  failure: Schema.Struct({ reason: Schema.String })
})
const SearchTools = Toolkit.make(Search)
const ready = SearchTools.pipe(Effect.provide(SearchTools.toLayer({
  search: ({ query }) => query === "no" ? Effect.fail({ reason: "nothing" }) : Effect.succeed(`found ${query}`)
})))

// The results that the model was given, and how its tools looked.
const results = Effect.map(
  ScriptedModel.ScriptedModel.pipe(Effect.flatMap((model) => model.requests)),
  (requests) =>
    (requests.at(-1)?.request.messages ?? []).flatMap((message: Message.Message) =>
      message.role === "tool" ? message.content.map(({ isError, output }) => [isError, output.value] as const) : []
    )
)
const offered = Effect.map(
  ScriptedModel.ScriptedModel.pipe(Effect.flatMap((model) => model.requests)),
  (requests) => requests[0]!.request.tools
)

const run = (agent: AgentBuilder.AgentBuilder<string>) =>
  Effect.flatMap(agent.build(), (built) => built.run("Go", { threadId: "t" }))

describe("withToolkit", () => {
  it.effect("runs the handlers that a toolkit carries, and gives their results and failures", () =>
    Effect.gen(function*() {
      yield* run(clerk.withToolkit(yield* ready))

      assert.deepStrictEqual(yield* results, [[false, "found tides"], [true, { reason: "nothing" }]])
      const [tool] = yield* offered
      assert.deepInclude(tool, { name: "search", description: "Searches" })
      assert.deepInclude(tool!.inputSchema, { required: ["query"] })
    }).pipe(
      Effect.provide(scripted(Step.call("search", { query: "tides" }), Step.call("search", { query: "no" })))
    ))

  it.effect("takes the effect of a toolkit, once for each definition, and with the services it was bound with", () =>
    Effect.gen(function*() {
      let built = 0
      const toolkit = Effect.gen(function*() {
        built++
        const { name } = yield* Place
        return yield* SearchTools.pipe(
          Effect.provide(SearchTools.toLayer({ search: () => Effect.succeed(name) }))
        )
      })
      const agent = yield* clerk.withToolkit(toolkit).build().pipe(Effect.provideService(Place, { name: "bound" }))
      yield* agent.run("Go")

      assert.deepStrictEqual(yield* results, [[false, "bound"]])
      assert.strictEqual(built, 1)
    }).pipe(Effect.provide(scripted(Step.call("search", { query: "tides" })))))

  it.effect("stands beside the tools of withTools, and keeps the order of all", () =>
    Effect.gen(function*() {
      const Note = Tool.make("note", { success: Schema.String })
      yield* run(clerk.withTools(Toolkit.make(Note), { note: () => Effect.succeed("noted") }).withToolkit(ready))

      assert.deepStrictEqual((yield* offered).map(({ name }) => name), ["note", "search"])
      assert.deepStrictEqual(yield* results, [[false, "noted"], [false, "found x"]])
    }).pipe(Effect.provide(scripted(Step.call("note", {}), Step.call("search", { query: "x" })))))

  it.effect("is there for typed subagents too", () =>
    Effect.gen(function*() {
      const scribe = TypedAgent.text("scribe", { description: "Writes" }).withToolkit(ready)
      const outcome = yield* Effect.flatMap(scribe.bind(), (bound) => bound.run({ description: "Go" }))

      assert.strictEqual(outcome._tag, "Reported")
      assert.deepStrictEqual(yield* results, [[false, "found tides"]])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ scribe: [Step.call("search", { query: "tides" }), Step.text("done")] })
    ])))

  it.effect("refuses arguments that do not decode before they reach the toolkit", () =>
    Effect.gen(function*() {
      yield* run(clerk.withToolkit(ready))

      assert.deepStrictEqual(yield* results, [[true, {
        error: {
          reason: "InvalidArguments",
          message: "The arguments are not valid: query: Expected string"
        }
      }]])
    }).pipe(Effect.provide(scripted(Step.call("search", { query: 3 })))))

  it.effect("gives handlers what their schemas decode, dates and one-way schemas included", () =>
    Effect.gen(function*() {
      const OneWay = Schema.String.pipe(
        Schema.decodeTo(Schema.Number, {
          decode: SchemaGetter.transform((text: string) => text.length),
          encode: SchemaGetter.forbidden(() => "one way")
        })
      )
      const Shift = Tool.make("shift", {
        parameters: Schema.Struct({ at: Schema.Date, size: OneWay }),
        success: Schema.Date
      })
      const tools = Toolkit.make(Shift)
      yield* run(clerk.withToolkit(tools.pipe(Effect.provide(tools.toLayer({
        shift: ({ at, size }) => Effect.succeed(new Date(at.getTime() + size))
      })))))

      assert.deepStrictEqual(yield* results, [[false, "1970-01-01T00:00:00.005Z"]])
    }).pipe(Effect.provide(scripted(Step.call("shift", { at: "1970-01-01T00:00:00.000Z", size: "three" })))))

  it.effect("shows preliminary results as progress and gives the last one", () =>
    Effect.gen(function*() {
      const Count = Tool.make("count", { success: Schema.Number })
      const tools = Toolkit.make(Count)
      const toolkit = tools.pipe(Effect.provide(tools.toLayer({
        count: (_, { preliminary }) => Effect.as(Effect.andThen(preliminary(1), preliminary(2)), 3)
      })))
      const agent = yield* clerk.withToolkit(toolkit).build()
      const events = yield* Stream.runCollect(agent.stream("Go"))

      assert.deepStrictEqual(
        events.flatMap((event) => event._tag === "ToolProgress" ? [event.value] : []),
        [1, 2]
      )
      assert.deepStrictEqual(yield* results, [[false, 3]])
    }).pipe(Effect.provide(scripted(Step.call("count", {})))))

  it.effect("gives a defect of a handler without its text", () =>
    Effect.gen(function*() {
      const tools = Toolkit.make(Tool.make("dies"))
      yield* run(clerk.withToolkit(tools.pipe(Effect.provide(tools.toLayer({
        dies: () => Effect.die(new Error("the key s3cr3t"))
      })))))

      assert.deepStrictEqual(yield* results, [[true, {
        error: { reason: "ToolFailed", message: "The tool failed unexpectedly" }
      }]])
    }).pipe(Effect.provide([scripted(Step.call("dies", {})), Logger.layer([])])))

  it.effect("gives a failure that a tool returns as an error", () =>
    Effect.gen(function*() {
      const Ask = Tool.make("ask", { success: Schema.String, failure: Schema.String, failureMode: "return" })
      const tools = Toolkit.make(Ask)
      yield* run(clerk.withToolkit(tools.pipe(Effect.provide(tools.toLayer({ ask: () => Effect.fail("nobody") })))))

      assert.deepStrictEqual(yield* results, [[true, "nobody"]])
    }).pipe(Effect.provide(scripted(Step.call("ask", {})))))

  it.effect("lets a handler end the run, and stops it", () =>
    Effect.gen(function*() {
      let finalised = false
      const Stop = Tool.make("stop").addDependency(ToolContext.ToolContext)
      const tools = Toolkit.make(Stop)
      const toolkit = tools.pipe(Effect.provide(tools.toLayer({
        stop: () =>
          Effect.ensuring(
            ToolContext.fatal("revoked"),
            Effect.sync(() => {
              finalised = true
            })
          )
      })))
      const error = yield* Effect.flip(run(clerk.withToolkit(toolkit)))

      assert.strictEqual(error._tag === "RunError" ? error.reason._tag : error._tag, "ToolFatal")
      assert.isTrue(finalised)
    }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({ clerk: [Step.call("stop", {})] })])))

  it.effect("waits for approval of a tool, and for what its handler asks", () =>
    Effect.gen(function*() {
      const Pay = Tool.make("pay", {
        success: Schema.String,
        needsApproval: true,
        dependencies: [ToolContext.ToolContext]
      })
      const tools = Toolkit.make(Pay)
      const toolkit = tools.pipe(Effect.provide(tools.toLayer({
        pay: () => Effect.map(ToolContext.ask("By which card?", { answer: Schema.String }), (card) => `paid by ${card}`)
      })))
      const agent = yield* clerk.withToolkit(toolkit).build()
      const first = yield* agent.run("Go", { threadId: "t" })
      assert(first.status._tag === "Suspended")
      const second = yield* agent.resume("t", first.status.pending.map(({ id }) => Answer.approve(id)))
      assert(second.status._tag === "Suspended")
      const third = yield* agent.resume(
        "t",
        second.status.pending.map(({ id }) => Answer.reply(id, Schema.String, "the blue one"))
      )

      assert.strictEqual(third.status._tag, "Completed")
      assert.deepStrictEqual(yield* results, [[false, "paid by the blue one"]])
    }).pipe(Effect.provide(scripted(Step.call("pay", {})))))

  it.effect("keeps its tools when the toolkit is changed afterwards", () =>
    Effect.gen(function*() {
      const toolkit = yield* ready
      const tools: Record<string, Tool.Any> = { ...toolkit.tools }
      const agent = clerk.withToolkit(
        { tools, handle: toolkit.handle } as Toolkit.WithHandler<typeof SearchTools.tools>
      )
      delete tools["search"]
      yield* run(agent)

      assert.deepStrictEqual((yield* offered).map(({ name }) => name), ["search"])
    }).pipe(Effect.provide(scripted(Step.call("search", { query: "x" })))))
})

describe("withToolkit and dynamic tools", () => {
  const parameters = {
    type: "object",
    properties: { city: { type: "string" }, nested: { $ref: "#/$defs/Any" } },
    required: ["city"],
    $defs: { Any: {} }
  } as const
  const seen: Array<unknown> = []
  const Weather = Tool.dynamic("weather", { description: "Says the weather", parameters, success: Schema.String })
  const tools = Toolkit.make(Weather)
  const weather = (given: unknown) => Effect.sync(() => `${seen.push(given)}`)
  const toolkit = tools.pipe(Effect.provide(tools.toLayer({ weather })))

  it.effect("shows the JSON Schema as it is and passes the arguments as parsed JSON", () =>
    Effect.gen(function*() {
      for (const agent of [clerk.withToolkit(toolkit), clerk.withTools(tools, { weather })]) {
        seen.length = 0
        const model = yield* ScriptedModel.make({
          clerk: [Step.call("weather", { city: "Bergen", nested: [{ a: null }] }), Step.text("done")]
        })
        yield* run(agent).pipe(Effect.provide([Mandate.layerMemory, Models.layerOf(model)]))

        assert.deepStrictEqual(seen, [{ city: "Bergen", nested: [{ a: null }] }])
        const [first] = yield* model.requests
        assert.deepStrictEqual(first!.request.tools[0]!.inputSchema, parameters)
      }
    }).pipe(Effect.scoped))

  it.effect("shows a JSON Schema that is no object under a key, with what it refers to where that is now", () =>
    Effect.gen(function*() {
      const text = { type: "string" }
      const refers = (root: string) => ({
        anyOf: [{ $ref: "#/definitions/text" }, { $ref: "#/$defs/text" }, { type: "array", items: { $ref: root } }]
      })
      const held = { $defs: { text }, definitions: { text } }
      const nested = Toolkit.make(
        Tool.dynamic("nest", { parameters: { ...refers("#"), ...held }, success: Schema.String })
      )
      const agent = clerk.withTools(nested, { nest: () => Effect.succeed("nested") })
      yield* run(agent)

      const [first] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
      assert.deepStrictEqual(first!.request.tools[0]!.inputSchema, {
        ...held,
        type: "object",
        properties: { value: refers("#/properties/value") },
        required: ["value"],
        additionalProperties: false
      })
    }).pipe(Effect.provide(scripted(Step.call("nest", { value: ["a"] })))))

  it.effect("refuses arguments that are no object, or not JSON", () =>
    Effect.gen(function*() {
      seen.length = 0
      yield* run(clerk.withToolkit(toolkit))

      const error = (message: string) => [true, { error: { reason: "InvalidArguments", message } }] as const
      assert.deepStrictEqual(yield* results, [
        error("The arguments are not valid: the value: Expected an object"),
        error("The arguments are not valid: the text is not JSON")
      ])
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(scripted(Step.rawCall("weather", "[1]"), Step.rawCall("weather", "{\"city\":")))))

  it.effect("wraps a JSON Schema whose root is no object, and unwraps what comes", () =>
    Effect.gen(function*() {
      seen.length = 0
      const list = Toolkit.make(Tool.dynamic("weather", { parameters: { type: "array" }, success: Schema.String }))
      yield* run(clerk.withToolkit(list.pipe(Effect.provide(list.toLayer({ weather })))))

      assert.deepStrictEqual(seen, [[1, 2]])
      assert.deepStrictEqual((yield* offered)[0]!.inputSchema, {
        type: "object",
        properties: { value: { type: "array", items: {} } },
        required: ["value"],
        additionalProperties: false
      })
    }).pipe(Effect.provide(scripted(Step.call("weather", { value: [1, 2] })))))

  it.effect("refuses a JSON Schema that has no end", () =>
    Effect.gen(function*() {
      const endless: Record<string, unknown> = { type: "object" }
      endless["properties"] = { self: endless }
      const dynamic = Toolkit.make(Tool.dynamic("weather", { parameters: endless, success: Schema.String }))
      const error = yield* Effect.flip(
        clerk.withToolkit(dynamic.pipe(Effect.provide(dynamic.toLayer({ weather })))).build()
      )

      assert.deepStrictEqual(error.problems.map(({ kind, message }) => [kind, message]), [[
        "UnsupportedSchema",
        "the schema of the parameters of the tool \"weather\" is no JSON Schema: properties.self: Expected no cycle"
      ]])
    }).pipe(Effect.provide(unscripted)))
})

describe("withToolkit at bind", () => {
  it.effect.each(
    [
      ["fails", Effect.fail("the key s3cr3t is wrong")],
      ["dies", Effect.die(new Error("the key s3cr3t is wrong"))]
    ] as const
  )("reports a toolkit whose effect %s, without the text of the failure", ([, toolkit]) =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ cause }) => logged.push(String(cause)))
      const error = yield* Effect.flip(clerk.withToolkit<{}, unknown>(toolkit).build()).pipe(
        Effect.provide(Logger.layer([logger]))
      )

      assert.deepStrictEqual(error.problems, [{
        agent: "clerk",
        kind: "HandlersFailed",
        message: "the tools of a toolkit could not be built; see the log"
      }])
      assert.include(logged.join(), "s3cr3t")
    }).pipe(Effect.provide(unscripted)))

  it.effect("lists the problems that a toolkit names itself", () =>
    Effect.gen(function*() {
      const problem = { kind: "UnsupportedSchema", message: "the tool \"x\" has no JSON Schema" } as const
      const toolkit = Effect.fail(new ToolkitError.ToolkitError({ problems: [problem] }))
      const error = yield* Effect.flip(clerk.withToolkit<{}, unknown>(toolkit).withMaxSteps(0).build())

      assert.deepStrictEqual(error.problems.map(({ kind }) => kind), ["InvalidSetting", "UnsupportedSchema"])
      assert.deepInclude(error.problems, { agent: "clerk", ...problem })
    }).pipe(Effect.provide(unscripted)))

  it.effect("finds names and collisions of tools that are known only then", () =>
    Effect.gen(function*() {
      const tools = Toolkit.make(Tool.make("submit_report"), Tool.make("no good"), Search)
      const nothing = { submit_report: () => Effect.void, "no good": () => Effect.void }
      const toolkit = tools.pipe(Effect.provide(tools.toLayer({ ...nothing, search: () => Effect.succeed("") })))
      const error = yield* Effect.flip(clerk.withToolkit(ready).withToolkit(toolkit).build())

      assert.sameMembers(error.problems.map(({ kind }) => kind), [
        "ReservedToolName",
        "InvalidToolName",
        "ToolNameCollision"
      ])
    }).pipe(Effect.provide(unscripted)))

  it.effect("keeps the tools of two agents apart that have one name", () =>
    Effect.gen(function*() {
      const of = (answer: string) =>
        SearchTools.pipe(Effect.provide(SearchTools.toLayer({ search: () => Effect.succeed(answer) })))
      const child = TypedAgent.text("child", { description: "Works" }).withToolkit(of("the child's"))
      yield* run(clerk.withSubagents([child]).withToolkit(of("the clerk's")))

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("child")
      assert.include(JSON.stringify(second!.request.messages), "the child's")
      assert.deepInclude(yield* results, [false, "the clerk's"])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        clerk: [
          Step.calls(Step.call("search", { query: "x" }), Step.textTask("child", "Search")),
          Step.text("done")
        ],
        child: Script.each([Step.call("search", { query: "x" }), Step.text("done")])
      })
    ])))
})
