import { assert, describe, it } from "@effect/vitest"
import { Answer, DelegateRuntime, type Posture, PostureRegistry, ToolCatalog } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const full = posture("worker", {
  allowedTools: ["write", "pay", "gone", "read", "pay"],
  report: { type: "object", properties: { b: { type: "string" }, a: { type: "integer" } }, required: ["a"] },
  model: "fast",
  settings: { temperature: 0 },
  budget: { maxTokens: 1000, maxToolCalls: 6, timeout: "1 hour" },
  ceiling: { maxTokens: 2000 },
  maxDepth: 2,
  maxSteps: 7,
  extra: { owner: "us" }
})

// Another posture of the same name in all that a run goes by.
const edited = posture("worker", {
  instructions: "Something else.",
  allowedTools: ["write"],
  budget: { maxTokens: 1, maxToolCalls: 1 },
  maxSteps: 1
})

const delegates = DelegateRuntime.DelegateRuntime

const versionOf = (value: Posture.Posture) =>
  createHash("sha256").update(sortedJson({ ...value, allowedTools: [...new Set(value.allowedTools)].sort() }))
    .digest("hex").slice(0, 16)

const sortedJson = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, item: unknown) =>
      item !== null && typeof item === "object" && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => a < b ? -1 : 1))
        : item
  )

/** What has become of the posture and its tools in the process that goes on. */
const changes = [
  { name: "was edited", after: [edited], removed: [] },
  { name: "was removed", after: [], removed: [] },
  { name: "lost a tool to the catalog", after: [full], removed: ["write"] }
] as const

const waiting: Script.Scripts = {
  lead: Script.optional([Step.calls(Step.call("delegate", { posture: "worker", task: "Work" })), Step.text("done")]),
  worker: Script.optional([
    Step.calls(Step.call("pay", { euros: 1 })),
    Step.again(Step.hang(), Step.calls(Step.call("read"), Step.call("write"))),
    Step.calls(Step.report({ a: "not yet" })),
    Step.calls(Step.report({ a: 1, b: "x" }))
  ])
}

describe.each(backings)("a posture's version, in $name", ({ make, pass }) => {
  const processes = Effect.gen(function*() {
    const recorded = Sessions.recording(yield* make)
    const model = yield* ScriptedModel.make(waiting)
    let started = 0
    const next = <A, E>(
      postures: ReadonlyArray<Posture.PostureInput>,
      effect: Effect.Effect<A, E, PostureLives.Services>,
      store = recorded.store
    ) =>
      Effect.scoped(effect).pipe(Effect.provide(PostureLives.process(store, `process-${++started}`, model, postures)))
    return { model, next, recorded }
  })

  it.effect("P1 is of all that the posture holds, and its run's row holds all of it, with the tools it resolved to", () =>
    Effect.gen(function*() {
      const { next, recorded } = yield* processes
      const [first, value] = yield* next(
        [full],
        Effect.all([
          DelegateRuntime.run({ posture: "worker", task: "Work" }),
          Effect.flatMap(PostureRegistry.PostureRegistry, (registry) => registry.get("worker"))
        ])
      )

      assert.strictEqual(first.status, "suspended")
      assert.strictEqual(first.postureVersion, versionOf(value))
      const loaded = yield* recorded.store.load("thread-1#0")
      assert.deepStrictEqual(JSON.parse(loaded!.row.binding), {
        tools: ["pay", "read", "write"],
        delegate: { posture: JSON.parse(JSON.stringify(value)), version: versionOf(value) }
      })
      assert.deepStrictEqual(JSON.parse(loaded!.row.budget), {
        maxTokens: 1000,
        maxToolCalls: 6,
        timeoutMillis: 3_600_000
      })
      const [start] = Trees.tagged(recorded.committed, "DelegateStart")
      assert.strictEqual(start?.postureVersion, versionOf(value))
    }))

  const check = Effect.fnUntraced(function*(
    model: ScriptedModel.ScriptedModel["Service"],
    removed: ReadonlyArray<string>
  ) {
    const requests = yield* model.requestsOf("worker")
    const instructions = requests.map(({ request }) => request.messages[0]?.content)
    assert.deepStrictEqual([...new Set(instructions)], ["You do worker."])
    assert.deepStrictEqual([...new Set(requests.map(({ request }) => request.settings.temperature))], [0])
    const last = requests.slice(-2)
    for (const { request } of last) {
      assert.deepStrictEqual(
        request.tools.map(({ name }) => name).sort(),
        ["pay", "read", "submit_report", "write"].filter((name) => !removed.includes(name))
      )
    }
    const outputs = Trees.outputs(last[0]!.request)
    assert.match(String(outputs[0]), /^read /)
    if (removed.length === 0) return assert.match(String(outputs[1]), /^write /)
    assert.deepStrictEqual(Trees.reasons(last[0]!.request), [undefined, "UnknownTool"])
  })

  const without = (removed: ReadonlyArray<string>) => ToolCatalog.remove(...removed)

  it.effect.each(changes)("P1 holds for a call from code that is resumed and recovered after its posture $name", (
    { after, removed }
  ) =>
    Effect.gen(function*() {
      const { model, next, recorded } = yield* processes
      const first = yield* next([full], DelegateRuntime.run({ posture: "worker", task: "Work" }))
      const dying = CrashingStore.crashing(recorded.store, Number.POSITIVE_INFINITY)
      yield* next(
        after,
        Effect.gen(function*() {
          yield* without(removed)
          const { resume } = yield* delegates
          yield* Effect.forkDetach(resume("thread-1", [Answer.approve("0.0:approval0")]), { startImmediately: true })
          yield* model.awaitCalls(2)
          dying.kill()
        }),
        dying.store
      )
      yield* pass("1 minute")
      const last = yield* next(
        after,
        Effect.andThen(without(removed), Effect.flatMap(delegates, ({ recover }) => recover("thread-1")))
      )

      assert.deepInclude(last, {
        status: "success",
        result: { a: 1, b: "x" },
        postureVersion: first.postureVersion,
        subSessionId: first.subSessionId,
        toolCallsUsed: 3
      })
      yield* check(model, removed)
      assert.deepStrictEqual(Sessions.ends(recorded.committed), ["success"])
    }))

  it.effect.each(changes)("P1 holds for a model's call that is resumed and recovered after its posture $name", (
    { after, removed }
  ) =>
    Effect.gen(function*() {
      const { model, next, recorded } = yield* processes
      const lead = PostureLives.lead.build()
      yield* next([full], Effect.flatMap(lead, (agent) => agent.run("Go", { threadId: "t" })))
      const dying = CrashingStore.crashing(recorded.store, Number.POSITIVE_INFINITY)
      yield* next(
        after,
        Effect.gen(function*() {
          yield* without(removed)
          const agent = yield* lead
          yield* Effect.forkDetach(agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]), {
            startImmediately: true
          })
          yield* model.awaitCalls(3)
          dying.kill()
        }),
        dying.store
      )
      yield* pass("1 minute")
      const last = yield* next(
        after,
        Effect.andThen(without(removed), Effect.flatMap(lead, (agent) => agent.recover("t")))
      )

      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      const [, second] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(Trees.outputs(second!.request), [{ report: { a: 1, b: "x" } }])
      yield* check(model, removed)
      assert.deepStrictEqual(Sessions.ends(recorded.committed), ["success"])
    }))

  it.effect("P1 of a posture whose report schema is gone leaves its run as it is, and says what is missing", () =>
    Effect.gen(function*() {
      const { model, recorded } = yield* processes
      const named = posture("worker", { report: "answer" })
      const first = yield* DelegateRuntime.run({ posture: "worker", task: "Work" }).pipe(
        Effect.provide(PostureLives.process(recorded.store, "first", model, [named], {
          schemas: { answer: Schema.Struct({ a: Schema.Int }) }
        }))
      )
      const before = yield* recorded.store.load("thread-1#0")
      const error = yield* Effect.flatMap(
        delegates,
        ({ resume }) => Effect.flip(resume("thread-1", [Answer.approve("0.0:approval0")]))
      ).pipe(Effect.provide(PostureLives.process(recorded.store, "second", model, [])))

      assert.strictEqual(first.status, "suspended")
      assert.deepStrictEqual(error.reason, {
        _tag: "CorruptRun",
        threadId: "thread-1",
        runId: "thread-1#0",
        detail: "The posture \"worker\" cannot be run: there is no report schema \"answer\""
      } as never)
      assert.deepStrictEqual((yield* recorded.store.load("thread-1#0"))?.row, before?.row)
    }))
})
