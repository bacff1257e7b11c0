import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type ModelRequest, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Clock, Context, Effect, Layer, Logger, Option, Random, References, Schema, Tracer } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

class Place extends Context.Service<Place, { readonly name: string }>()("test/Place") {}
const Mood = Context.Reference<string>("test/Mood", { defaultValue: () => "default" })

const Search = Tool.make("search", { success: Schema.String })
const SearchTools = Toolkit.make(Search)

const child = TypedAgent.text("child", { description: "Works" })
const parentOf = (agent: TypedAgent.TypedAgent<any, any>) => AgentBuilder.make("parent").withSubagents([agent])

const toolResults = (request: ModelRequest.ModelRequest) =>
  request.messages.flatMap((message) => message.role === "tool" ? message.content : [])
    .map(({ isError, output }) => [isError, output.value])

const searching = [Step.call("search"), Step.text("done")]
const delegating = [Step.textTask("child", "Search"), Step.text("done")]
const runtime = Layer.merge(Mandate.layerMemory, Models.layer({ parent: delegating, child: searching }))

// What the child's tool gave.
const seenByChild = Effect.gen(function*() {
  const model = yield* ScriptedModel.ScriptedModel
  const [, second] = yield* model.requestsOf("child")
  return toolResults(second!.request)
})

describe("binding handlers", () => {
  it.effect.each(
    [
      ["fails", Effect.fail("the key s3cr3t is wrong")],
      ["dies", Effect.die(new Error("the key s3cr3t is wrong"))]
    ] as const
  )("reports handlers whose effect %s, without the text of the failure", ([, handlers]) =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ cause }) => logged.push(String(cause)))
      const error = yield* Effect.flip(child.withTools(SearchTools, handlers).bind()).pipe(
        Effect.provide(Logger.layer([logger]))
      )

      assert.deepStrictEqual(error.problems, [{
        agent: "child",
        kind: "HandlersFailed",
        message: "the handlers of \"search\" could not be built; see the log"
      }])
      assert.include(logged.join(), "s3cr3t")
    }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({})])))

  it.effect("reports a tool without a handler, given plainly or by an effect", () =>
    Effect.gen(function*() {
      const nothing = {} as { readonly search: () => Effect.Effect<string> }
      for (const handlers of [nothing, Effect.succeed(nothing)]) {
        const error = yield* Effect.flip(child.withTools(SearchTools, handlers).bind())

        assert.deepStrictEqual(error.problems, [{
          agent: "child",
          kind: "MissingHandler",
          message: "the tool \"search\" has no handler"
        }])
      }
    }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({})])))

  it.effect("keeps the handlers of two agents apart that have a tool of one name", () =>
    Effect.gen(function*() {
      const agent = yield* parentOf(child.withTools(SearchTools, { search: () => Effect.succeed("the child's") }))
        .withTools(SearchTools, { search: () => Effect.succeed("the parent's") })
        .build()
      yield* agent.run("Go")

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("parent")
      assert.deepStrictEqual(toolResults(second!.request), [
        [false, "the parent's"],
        [false, { report: "done" }]
      ])
      assert.deepStrictEqual(yield* seenByChild, [[false, "the child's"]])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        parent: [Step.calls(Step.call("search"), Step.textTask("child", "Search")), Step.text("done")],
        child: searching
      })
    ])))

  it.effect("finds no handler in the context of the caller", () =>
    Effect.gen(function*() {
      const agent = yield* parentOf(child.withTools(SearchTools, { search: () => Effect.succeed("bound") })).build()
      const ambient = SearchTools.toLayer({ search: () => Effect.succeed("ambient") })
      yield* Effect.provide(agent.run("Go"), ambient)

      assert.deepStrictEqual(yield* seenByChild, [[false, "bound"]])
    }).pipe(Effect.provide(runtime)))

  it.effect("gives handlers the services they were bound with, and a run needs none", () =>
    Effect.gen(function*() {
      const handlers = Effect.map(Place, (built) => ({
        search: () => Effect.map(Place, (called) => `${built.name}, ${called.name}`)
      }))
      const agent = yield* parentOf(child.withTools(SearchTools, handlers) as TypedAgent.TypedAgent<any, any>).build()
        .pipe(Effect.provideService(Place, { name: "bound" }))
      yield* agent.run("Go").pipe(Effect.provideService(Place, { name: "ambient" }))

      assert.deepStrictEqual(yield* seenByChild, [[false, "bound, bound"]])
    }).pipe(Effect.provide(runtime)))
})

// A search that says what it can see around it.
const looking = (look: Effect.Effect<unknown>) =>
  parentOf(child.withTools(SearchTools, { search: () => Effect.map(look, String) }))

describe("what crosses to a child", () => {
  it.effect("no service and no reference of the caller", () =>
    Effect.gen(function*() {
      const look = Effect.gen(function*() {
        const place = Option.map(yield* Effect.serviceOption(Place), ({ name }) => name)
        return `${Option.getOrElse(place, () => "nowhere")}, ${yield* Mood}`
      })
      const agent = yield* looking(look).build()
      yield* agent.run("Go").pipe(
        Effect.provideService(Place, { name: "ambient" }),
        Effect.provideService(Mood, "ambient")
      )

      assert.deepStrictEqual(yield* seenByChild, [[false, "nowhere, default"]])
    }).pipe(Effect.provide(runtime)))

  it.effect("the references it was bound with", () =>
    Effect.gen(function*() {
      const agent = yield* looking(Effect.service(Mood)).build().pipe(Effect.provideService(Mood, "bound"))
      yield* agent.run("Go").pipe(Effect.provideService(Mood, "ambient"))

      assert.deepStrictEqual(yield* seenByChild, [[false, "bound"]])
    }).pipe(Effect.provide(runtime)))

  it.effect("no log annotation and no log span of the caller", () =>
    Effect.gen(function*() {
      const look = Effect.gen(function*() {
        return JSON.stringify([yield* References.CurrentLogAnnotations, yield* References.CurrentLogSpans])
      })
      const agent = yield* looking(look).build()
      yield* agent.run("Go").pipe(Effect.annotateLogs("customer", "7"), Effect.withLogSpan("caller"))

      assert.deepStrictEqual(yield* seenByChild, [[false, "[{},[]]"]])
    }).pipe(Effect.provide(runtime)))

  it.effect("the caller's clock", () =>
    Effect.gen(function*() {
      const agent = yield* looking(Clock.currentTimeMillis).build()
      const clock = yield* Clock.Clock
      yield* agent.run("Go").pipe(Effect.provideService(Clock.Clock, {
        ...clock,
        currentTimeMillisUnsafe: () => 1234,
        currentTimeMillis: Effect.succeed(1234)
      }))

      assert.deepStrictEqual(yield* seenByChild, [[false, "1234"]])
    }).pipe(Effect.provide(runtime)))

  it.effect("the caller's randomness", () =>
    Effect.gen(function*() {
      const agent = yield* looking(Random.nextInt).build()
      yield* agent.run("Go").pipe(Random.withSeed("seed"))

      assert.deepStrictEqual(yield* seenByChild, [[false, String(yield* Random.nextInt.pipe(Random.withSeed("seed")))]])
    }).pipe(Effect.provide(runtime)))

  it.effect("the caller's loggers", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const agent = yield* looking(Effect.logInfo("from the child")).build()
      yield* agent.run("Go").pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => logged.push(message))])))

      assert.deepStrictEqual(logged.flat(), ["from the child"])
    }).pipe(Effect.provide(runtime)))

  it.effect("the caller's tracer, with its span above the child's", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const agent = yield* looking(Effect.withSpan(Effect.succeed("seen"), "in the child")).build()
      yield* agent.run("Go").pipe(Effect.withSpan("caller"), Effect.provideService(Tracer.Tracer, tracer))

      const inside = spans.find(({ name }) => name === "in the child")
      assert.isDefined(inside)
      const traceIds = new Set(spans.map(({ traceId }) => traceId))
      assert.strictEqual(traceIds.size, 1)
    }).pipe(Effect.provide(runtime)))
})
