import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type RunEvent, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step, StrictProvider } from "@mandate/testing"
import { Effect, Layer, Schema, Stream } from "effect"
import * as Results from "../support/Results.ts"

const scout = TypedAgent.text("scout", { description: "Looks around" })
const clerk = TypedAgent.text("clerk", { description: "Writes it down" })
const counting = {
  description: "Counts",
  input: Schema.Struct({ what: Schema.String }),
  report: Schema.Struct({ count: Schema.Number })
}
const counter = TypedAgent.make("counter", counting)
const lead = AgentBuilder.make("lead").withSubagents([scout, clerk])

const layers = (scripts: Script.Scripts) =>
  Layer.mergeAll(Mandate.layerMemory, StrictProvider.layer(ScriptedModel.layer(scripts)))

/** Runs an agent on the thread `t` and gives the events of its whole tree. */
const eventsOf = <O, R>(builder: AgentBuilder.AgentBuilder<O, R>) =>
  Effect.gen(function*() {
    const agent = yield* builder.build()
    const handle = yield* agent.start("Go", { threadId: "t" })
    const events: ReadonlyArray<RunEvent.RunEvent> = yield* Stream.runCollect(handle.events)
    return { events, result: yield* handle.await }
  })

const started = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.flatMap((event) =>
    event._tag === "TaskStarted" ?
      [`task ${event.key} ${event.subagent}`] :
      event._tag === "RunStarted" ?
      [`run ${event.runId}`] :
      []
  )

const children = Effect.flatMap(Mandate.Mandate, ({ store }) => store.children("t#0"))

const unknown = (name: string) => ({
  name,
  isError: true,
  value: { error: { reason: "UnknownSubagent", message: "There is no such subagent; subagents: scout, clerk" } }
})

const invented: ReadonlyArray<unknown> = [
  "code-reviewer",
  "Scout",
  "SCOUT",
  "scout ",
  " scout",
  "scout\n",
  "",
  "task_scout",
  "lead",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "x".repeat(100_000),
  null,
  7,
  true,
  ["scout"],
  { id: "scout" },
  undefined
]

describe("C13 A subagent's name that the model made up", () => {
  it.effect("C13 the model that made up two names reads the valid ones and then reaches its subagent", () =>
    Effect.gen(function*() {
      const { events, result } = yield* eventsOf(lead)

      const [, second, third, fourth] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
      assert.deepStrictEqual(Results.last(second?.request), [unknown("task")])
      assert.deepStrictEqual(Results.last(third?.request), [unknown("task")])
      assert.deepStrictEqual(Results.last(fourth?.request), [Results.reported("task", "a hill")])
      assert.deepStrictEqual(started(events), ["run t#0", "task 2.0 scout", "run t#0/2.0#0"])
      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "A hill." })
    }).pipe(Effect.provide(layers({
      lead: [
        Step.textTask("code-reviewer", "Review"),
        Step.textTask("Scout", "Look"),
        Step.textTask("scout", "Look"),
        Step.text("A hill.")
      ],
      scout: [Step.text("a hill")]
    }))))

  for (const name of invented) {
    const title = JSON.stringify(name)?.slice(0, 20) ?? "no name"
    it.effect(`C13 ${title} is an unknown subagent: an error that lists the valid ones, and no start`, () =>
      Effect.gen(function*() {
        const { events, result } = yield* eventsOf(lead)

        const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
        assert.deepStrictEqual(Results.last(second?.request), [unknown("task")])
        assert.deepStrictEqual(started(events), ["run t#0"])
        assert.deepStrictEqual(yield* children, [])
        assert.strictEqual(result.status._tag, "Completed")
      }).pipe(Effect.provide(layers({
        lead: [
          Step.rawCall("task", JSON.stringify({ subagent: name, description: "Do it" })),
          Step.text("Then not.")
        ]
      }))))
  }

  for (const name of ["task_code-reviewer", "task_Counter", "task_", "task___proto__", "task_scout", "constructor"]) {
    it.effect(`C13 the tool ${name} is an unknown tool: an error that lists the valid ones, and no start`, () =>
      Effect.gen(function*() {
        const { events, result } = yield* eventsOf(lead.withSubagents([counter]))

        const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
        const [seen] = Results.last(second?.request)
        assert.strictEqual(seen && Results.reason(seen), "UnknownTool")
        assert.include(JSON.stringify(seen), "tools: task_counter, task")
        assert.deepStrictEqual(started(events), ["run t#0"])
        assert.deepStrictEqual(yield* children, [])
        assert.strictEqual(result.status._tag, "Completed")
      }).pipe(Effect.provide(layers({ lead: [Step.call(name, { what: "boats" }), Step.text("Then not.")] }))))
  }

  for (
    const name of ["task counter", "task.counter", "", " ", "täsk_counter", "task_counter\n", "a".repeat(65), "💥"]
  ) {
    const title = JSON.stringify(name).slice(0, 20)
    it.effect(`C13 the tool ${title}, which no provider takes, is unknown and never becomes one that is offered`, () =>
      Effect.gen(function*() {
        const near = ["counter_", "counter__"].map((id) => TypedAgent.make(id, counting))
        const { events, result } = yield* eventsOf(lead.withSubagents([counter, ...near]))

        const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
        const [seen] = Results.last(second?.request)
        assert.strictEqual(seen && Results.reason(seen), "UnknownTool")
        assert.deepStrictEqual(started(events), ["run t#0"])
        assert.strictEqual(result.status._tag, "Completed")
        assert.lengthOf(yield* (yield* StrictProvider.StrictProvider).violations, 0)
      }).pipe(Effect.provide(layers({ lead: [Step.call(name, { what: "boats" }), Step.text("Then not.")] }))))
  }

  it.effect("C13 a made-up name beside a valid one stops neither", () =>
    Effect.gen(function*() {
      const { events } = yield* eventsOf(lead)

      const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
      assert.deepStrictEqual(Results.last(second?.request), [unknown("task"), Results.reported("task", "written")])
      assert.deepStrictEqual(started(events), ["run t#0", "task 0.1 clerk", "run t#0/0.1#0"])
    }).pipe(Effect.provide(layers({
      lead: [Step.calls(Step.textTask("ghost", "Haunt"), Step.textTask("clerk", "Write")), Step.text("Done.")],
      clerk: [Step.text("written")]
    }))))

  it.effect("C13 the model is shown the valid names, and only those", () =>
    Effect.gen(function*() {
      yield* eventsOf(lead)

      const [first] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
      const properties = first?.request.tools.map(({ inputSchema }) => inputSchema["properties"])
      const [shown] = properties as unknown as ReadonlyArray<{ readonly subagent: { readonly enum: unknown } }>
      assert.deepStrictEqual(shown?.subagent.enum, ["scout", "clerk"])
    }).pipe(Effect.provide(layers({ lead: [Step.text("Nothing to do.")] }))))

  it.effect("C13 subagents named like members of every object are reached by their names", () =>
    Effect.gen(function*() {
      const odd = AgentBuilder.make("lead").withSubagents(
        ["__proto__", "constructor"].map((id) => TypedAgent.text(id, { description: "Has an odd name" }))
      )
      const { events } = yield* eventsOf(odd)

      const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
      assert.deepStrictEqual(Results.last(second?.request), [
        Results.reported("task", "from proto"),
        Results.reported("task", "from constructor")
      ])
      assert.lengthOf(started(events), 5)
    }).pipe(Effect.provide(layers({
      lead: [Step.calls(Step.textTask("__proto__", "Go"), Step.textTask("constructor", "Go")), Step.text("Done.")],
      ["__proto__"]: [Step.text("from proto")],
      constructor: [Step.text("from constructor")]
    }))))
})
