import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type AgentDefinitionError, Mandate, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step, StrictProvider } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Results from "../support/Results.ts"

const typed = (id: string, description = "Does one thing") =>
  TypedAgent.make(id, {
    description,
    input: Schema.Struct({ note: Schema.optionalKey(Schema.String) }),
    report: Schema.Struct({ ok: Schema.Boolean })
  })
const text = (id: string, description = "Does one thing") => TypedAgent.text(id, { description })
const lead = AgentBuilder.make("lead")

/** An agent with one more tool of some name. */
const withTool = <O, R>(builder: AgentBuilder.AgentBuilder<O, R>, name: string) =>
  builder.withTools(
    Toolkit.make(Tool.make(name, { success: Schema.String })),
    { [name]: () => Effect.succeed("done") }
  )

const layers = (scripts: Script.Scripts = {}) =>
  Layer.mergeAll(Mandate.layerMemory, StrictProvider.layer(ScriptedModel.layer(scripts)))

/** The problems that keep a definition from being bound. */
const problems = <A, R>(bind: Effect.Effect<A, AgentDefinitionError.AgentDefinitionError, R>) =>
  Effect.map(Effect.flip(bind), ({ problems }) => problems)

const kinds = <A, R>(bind: Effect.Effect<A, AgentDefinitionError.AgentDefinitionError, R>) =>
  Effect.map(problems(bind), (problems) => problems.map(({ agent, kind }) => `${agent}: ${kind}`))

const longest = "a".repeat(52)

const badIds = [
  "",
  "a".repeat(53),
  "a b",
  "é",
  "scout\n",
  "\nscout",
  " scout",
  "a.b",
  "a/b",
  "a:b",
  "a~b",
  "a#b",
  "\u0430gent",
  "\uff41",
  "a\u0000",
  "a\u200b"
]

const blanks = [
  ...Array.from({ length: 0x10_000 }, (_, code) => String.fromCharCode(code)).filter((it) =>
    /\p{White_Space}/u.test(it)
  ),
  "\u200b",
  "\u200d",
  "\u2060",
  "\ufeff",
  "\u00ad",
  "\u2800",
  "\u3164"
]

describe("C14 Names", () => {
  for (const id of ["a", "7", "_", "-", "a_B-9", longest]) {
    it.effect(`C14 the id ${id} is accepted`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* typed(id).bind()).id, id)
        assert.strictEqual((yield* text(id).bind()).id, id)
        assert.strictEqual((yield* AgentBuilder.make(id).build()).id, id)
      }).pipe(Effect.provide(layers())))
  }

  for (const id of badIds) {
    it.effect(`C14 the id ${JSON.stringify(id)} is refused, wherever it stands`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* kinds(typed(id).bind()), [`${id}: InvalidId`])
        assert.deepStrictEqual(yield* kinds(text(id).bind()), [`${id}: InvalidId`])
        assert.deepStrictEqual(yield* kinds(AgentBuilder.make(id).build()), [`${id}: InvalidId`])
        const inner = typed("outer").withSubagents([typed(id)])
        assert.deepStrictEqual(yield* kinds(lead.withSubagents([inner]).build()), [`lead > outer > ${id}: InvalidId`])
      }).pipe(Effect.provide(layers())))
  }

  it.effect("C14 a description that shows nothing is refused, whatever blank it is made of", () =>
    Effect.gen(function*() {
      assert.isAbove(blanks.length, 30)
      for (const description of ["", ...blanks, ...blanks.map((it) => it.repeat(3)), blanks.join("")]) {
        const code = JSON.stringify(description)
        assert.deepStrictEqual(yield* kinds(typed("scout", description).bind()), ["scout: BlankDescription"], code)
        assert.deepStrictEqual(yield* kinds(text("scout", description).bind()), ["scout: BlankDescription"], code)
      }
    }).pipe(Effect.provide(layers())))

  it.effect("C14 a description that shows anything is accepted", () =>
    Effect.gen(function*() {
      for (const description of ["x", "\u00a0x", "…", "調べる", "👍", "-"]) {
        assert.strictEqual((yield* typed("scout", description).bind()).id, "scout")
      }
    }).pipe(Effect.provide(layers())))

  it.effect("C14 two subagents with one id are refused, whatever they are", () =>
    Effect.gen(function*() {
      const shared = typed("twin")
      const pairs = [[typed("twin"), typed("twin")], [typed("twin"), text("twin")], [text("twin"), text("twin")]]
      for (const pair of [...pairs, [shared, shared]]) {
        const [first, ...others] = yield* problems(lead.withSubagents(pair).build())
        assert.strictEqual(first?.kind, "DuplicateId")
        assert.include(first?.message, "\"twin\"")
        assert.lengthOf(others, 0)
      }
      assert.deepStrictEqual(
        (yield* problems(lead.withSubagents([shared]).withSubagents([shared]).build())).map(({ kind }) => kind),
        ["DuplicateId"]
      )
    }).pipe(Effect.provide(layers())))

  it.effect("C14 two definitions with one id are refused anywhere in the family", () =>
    Effect.gen(function*() {
      const families = [
        lead.withSubagents([typed("lead")]),
        lead.withSubagents([typed("outer").withSubagents([typed("outer")])]),
        lead.withSubagents([typed("outer").withSubagents([text("lead")])]),
        lead.withSubagents([typed("a").withSubagents([typed("twin")]), typed("b").withSubagents([typed("twin")])])
      ]
      for (const family of families) {
        assert.deepStrictEqual((yield* problems(family.build())).map(({ kind }) => kind), ["DuplicateId"])
      }
    }).pipe(Effect.provide(layers())))

  it.effect("C14 one definition may serve several parents of a family", () =>
    Effect.gen(function*() {
      const shared = typed("shared")
      const family = lead.withSubagents([
        typed("a").withSubagents([shared]),
        typed("b").withSubagents([shared]),
        shared
      ])

      assert.strictEqual((yield* family.build()).id, "lead")
    }).pipe(Effect.provide(layers())))

  for (const [name, subagent] of [["task_scout", typed("scout")], ["task", text("scout")]] as const) {
    it.effect(`C14 an own tool "${name}" collides with the task tool of its subagent, and both are named`, () =>
      Effect.gen(function*() {
        const first = yield* problems(withTool(lead, name).withSubagents([subagent]).build())
        const last = yield* problems(withTool(lead.withSubagents([subagent]), name).build())

        assert.deepStrictEqual(first, last)
        assert.deepStrictEqual(first.map(({ agent, kind }) => [agent, kind]), [["lead", "ToolNameCollision"]])
        assert.include(first[0].message, `"${name}"`)
        assert.include(first[0].message, "\"scout\"")
      }).pipe(Effect.provide(layers())))
  }

  it.effect("C14 own tools may not take a reserved name, even where nothing uses it yet", () =>
    Effect.gen(function*() {
      for (const name of ["task", "task_ghost", "task_", "submit_report", "delegate", "handoff_to_x", "handoff_to_"]) {
        const [first, ...others] = yield* problems(withTool(lead, name).build())
        assert.strictEqual(first?.kind, "ReservedToolName", name)
        assert.include(first?.message, `"${name}"`)
        assert.lengthOf(others, 0)
      }
    }).pipe(Effect.provide(layers())))

  it.effect("C14 own tools with one name, or a name that no provider takes, are refused", () =>
    Effect.gen(function*() {
      const [twice] = yield* problems(withTool(withTool(lead, "find"), "find").build())
      assert.strictEqual(twice?.kind, "ToolNameCollision")
      assert.include(twice?.message, "\"find\"")
      for (const name of ["", "a b", "é", "find\n", "a.b", "a".repeat(65)]) {
        assert.deepStrictEqual(yield* kinds(withTool(lead, name).build()), ["lead: InvalidToolName"], name)
      }
    }).pipe(Effect.provide(layers())))

  it.effect("C14 one error lists every problem of the family", () =>
    Effect.gen(function*() {
      const family = withTool(lead, "task_scout").withSubagents([
        typed("scout", " ").withSubagents([text("a b")]),
        text("lead")
      ])
      const error = yield* Effect.flip(family.build())

      assert.sameMembers(error.problems.map(({ agent, kind }) => `${agent}: ${kind}`), [
        "lead: ToolNameCollision",
        "lead > scout: BlankDescription",
        "lead > scout > a b: InvalidId",
        "lead > lead: DuplicateId"
      ])
      for (const { message } of error.problems) assert.include(error.message, message)
    }).pipe(Effect.provide(layers())))

  it.effect("C14 ids of full length give whole tool names, and each reaches its own subagent", () =>
    Effect.gen(function*() {
      const one = typed(`${longest.slice(1)}1`)
      const two = typed(`${longest.slice(1)}2`)
      const agent = yield* lead.withSubagents([one, two]).build()
      yield* agent.run("Go", { threadId: "t" })

      const [first, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")
      const names = first?.request.tools.map(({ name }) => name)
      assert.deepStrictEqual(names, [`task_${one.id}`, `task_${two.id}`])
      assert.isAtMost(Math.max(...(names ?? []).map(({ length }) => length)), 64)
      assert.deepStrictEqual(Results.last(second?.request), [
        Results.reported(`task_${two.id}`, { ok: false }),
        Results.reported(`task_${one.id}`, { ok: true })
      ])
      assert.lengthOf(yield* (yield* StrictProvider.StrictProvider).violations, 0)
    }).pipe(Effect.provide(layers({
      lead: [
        Step.calls(Step.task(`${longest.slice(1)}2`, {}), Step.task(`${longest.slice(1)}1`, {})),
        Step.text("Done.")
      ],
      [`${longest.slice(1)}1`]: [Step.report({ ok: true })],
      [`${longest.slice(1)}2`]: [Step.report({ ok: false })]
    }))))
})
