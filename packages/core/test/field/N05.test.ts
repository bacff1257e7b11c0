import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type RunEvent, type RunResult, Threads, TypedAgent, type Usage } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Arbitrary, Effect, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Waiting.gated("pay", {}), Tool.make("note", { success: Schema.String }))
const handlers = { pay: () => Effect.succeed("paid"), note: () => Effect.succeed("noted") }
const grandchild = TypedAgent.text("grandchild", { description: "Works" }).withTools(tools, handlers)
const child = TypedAgent.text("child", { description: "Works" }).withTools(tools, handlers).withSubagents([grandchild])
const lead = AgentBuilder.make("lead").withTools(tools, handlers).withSubagents([child], { maxDepth: 2 })

/** A tree of a dozen runs stops some dozens of times. */
const patient = 30_000

/** How many calls of each kind each run of a level makes, in each of its steps. */
const few = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
const Level = Schema.Array(Schema.Struct({ notes: few, pays: few, tasks: few })).check(Schema.isMaxLength(2))
const Low = Level.check(Schema.isMaxLength(1))
const Plan = Schema.Struct({ lead: Level, child: Low, grandchild: Low, picks: Schema.Array(few) })
const plans = Arbitrary.schema(Plan)

const stepsOf = (level: typeof Level.Type, below: string | undefined): ReadonlyArray<Step.Step> => [
  ...level.flatMap(({ notes, pays, tasks }) => {
    const calls = [
      ...Array.from({ length: notes }, () => Step.call("note")),
      ...(below === undefined ? [] : Array.from({ length: tasks }, () => Step.textTask(below, "x"))),
      ...Array.from({ length: pays }, () => Step.call("pay"))
    ]
    return calls.length === 0 ? [] : [Step.calls(...calls as [Step.Call, ...Array<Step.Call>])]
  }),
  Step.text("done")
]

/** Plays a tree to its end, with some answers at a time, and compares what each verb says of its usage at each stop. */
const play = Effect.fnUntraced(function*(plan: typeof Plan.Type, { make }: Backing) {
  const store = yield* make
  const { model, next } = yield* Waiting.processes(store, {
    lead: Script.optional(stepsOf(plan.lead, "child")),
    child: Script.byInput(() => stepsOf(plan.child, "grandchild")),
    grandchild: Script.byInput(() => stepsOf(plan.grandchild, undefined))
  })
  const modelCalls = Effect.map(
    Effect.forEach(["lead", "child", "grandchild"], (id) => model.requestsOf(id)),
    (requests) => requests.flat().length
  )
  const verb = <A>(
    body: (agent: Effect.Success<ReturnType<typeof lead.build>>) => Effect.Effect<A, unknown, any>
  ) => next(Effect.flatMap(lead.build(), body) as Effect.Effect<A, unknown>)

  let stops = 0
  let result: RunResult.RunResult<string> = yield* verb((agent) => agent.run("Go", { threadId: "t" }))
  while (result.status._tag === "Suspended") {
    const status = yield* verb((agent) => agent.status("t"))
    assert.deepStrictEqual(result.usage, status.usage, `stop ${stops}`)
    assert.strictEqual(result.usage.tree.modelCalls, yield* modelCalls, `stop ${stops}`)

    const { pending } = result.status
    const pick = (plan.picks[stops % Math.max(1, plan.picks.length)] ?? 0) % pending.length
    const answers = pending.slice(pick, pick + 2).map(({ id }) => Answer.approve(id))
    result = yield* verb((agent) => agent.resume("t", answers))
    stops++
  }
  return { result, stops, verb, modelCalls: yield* modelCalls }
})

const settledEvent = (events: ReadonlyArray<RunEvent.RunEvent>): Usage.RunUsage | undefined =>
  events.flatMap((event) => event._tag === "RunSettled" && event.runId === "t#0" ? [event.usage] : [])[0]

describe.each(backings)("N05 the usage of a tree, in $name", (backing) => {
  it.effect.prop(
    "N05 is the same from every verb, at each stop and at the end",
    [plans],
    ([plan]) =>
      Effect.gen(function*() {
        const { modelCalls, result, verb } = yield* play(plan, backing)
        const status = yield* verb((agent) => agent.status("t"))
        const history = yield* verb((agent) => agent.history("t"))
        const [root] = yield* verb(() => Threads.runs("t"))
        const events = yield* verb(() =>
          Stream.runCollect(
            Stream.takeUntil(
              Threads.events("t"),
              ({ _tag, ...event }) => _tag === "RunSettled" && "runId" in event && event.runId === "t#0"
            )
          )
        )

        assert.strictEqual(result.usage.tree.modelCalls, modelCalls)
        for (const usage of [status.usage, history[0]!.usage, root!.usage, settledEvent([...events])]) {
          assert.deepStrictEqual(usage, result.usage)
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 12 }, timeout: patient }
  )

  it.effect("N05 counts children that wait, and theirs, as far as they have come", () =>
    Effect.gen(function*() {
      const level = (tasks: number, pays: number) => [{ notes: 1, pays, tasks }]
      const plan = { lead: level(2, 0), child: level(1, 1), grandchild: level(0, 1), picks: [0] }
      const store = yield* backing.make
      const { next } = yield* Waiting.processes(store, {
        lead: Script.optional(stepsOf(plan.lead, "child")),
        child: Script.byInput(() => stepsOf(plan.child, "grandchild")),
        grandchild: Script.byInput(() => stepsOf(plan.grandchild, undefined))
      })
      const { last, usage } = yield* next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const { status, usage } = yield* agent.run("Go", { threadId: "t" })
        const pending = status._tag === "Suspended" ? status.pending : []
        return { usage, last: yield* agent.resume("t", pending.map(({ id }) => Answer.approve(id))) }
      }))
      const counts = ({ childRuns, modelCalls, toolCalls }: Usage.Usage) => [modelCalls, toolCalls, childRuns]

      // One response and one note in each of five runs; the calls that wait are not counted yet.
      assert.deepStrictEqual([usage.own, usage.tree].map(counts), [[1, 1, 2], [5, 5, 4]])
      assert.deepStrictEqual([last.usage.own, last.usage.tree].map(counts), [[2, 3, 2], [10, 13, 4]])
    }).pipe(Effect.scoped))
})
