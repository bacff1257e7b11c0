import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, MemoryRunStore, type RunError } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"

type State = "none" | "running" | "lost" | "failed" | "settled"
type Clerk = Agent.Agent<string>

const clerk = AgentBuilder.make("clerk")

const firstSteps: { readonly [K in State]: Script.Steps } = {
  none: [Step.text("next")],
  running: [Step.hang()],
  lost: [Step.again(Step.hang(), Step.text("recovered"))],
  failed: [Step.again(Step.fail("authentication"), Step.text("recovered"))],
  settled: [Step.text("first")]
}

// Brings the thread "t" into a state, and uses it.
const inState = <A, E>(state: State, use: (agent: Clerk) => Effect.Effect<A, E, Trees.Services>) =>
  Effect.gen(function*() {
    const model = yield* ScriptedModel.make({
      clerk: Script.optional(Script.runs(firstSteps[state], [Step.text("next")]))
    })
    const process = Trees.runtimeOf(Models.layerOf(model), MemoryRunStore.make())
    const start = Effect.flatMap(clerk.build(), (agent) => agent.start("One", { threadId: "t" }))
    // The runtime closes over an open run.
    if (state === "lost") yield* Effect.provide(Effect.andThen(start, model.awaitCalls(1)), process)
    return yield* Effect.gen(function*() {
      const agent = yield* clerk.build()
      if (state === "running") yield* agent.start("One", { threadId: "t" })
      if (state === "failed") yield* Effect.flip(agent.run("One", { threadId: "t" }))
      if (state === "settled") yield* agent.run("One", { threadId: "t" })
      return yield* use(agent)
    }).pipe(Effect.provide(process))
  }).pipe(Effect.scoped)

type Verb = (agent: Clerk) => Effect.Effect<unknown, RunError.RunError>

const verbs = {
  run: (agent) => Effect.map(agent.run("Two", { threadId: "t" }), ({ runId, status }) => [runId, status._tag]),
  start: (agent) =>
    Effect.map(
      Effect.flatMap(agent.start("Two", { threadId: "t" }), (handle) => handle.await),
      ({ runId, status }) => [runId, status._tag]
    ),
  stream: (agent) =>
    Effect.map(Stream.runCollect(agent.stream("Two", { threadId: "t" })), (events) => {
      const last = Array.from(events).at(-1)
      return last?._tag === "RunFinished" ? [last.result.runId, last.result.status._tag] : last
    }),
  recover: (agent) => Effect.map(agent.recover("t"), ({ runId, status }) => [runId, status._tag]),
  cancel: (agent) => agent.cancel("t"),
  status: (agent) => Effect.map(agent.status("t"), ({ runId, status }) => [runId, status._tag]),
  history: (agent) => Effect.map(agent.history("t"), (runs) => runs.map(({ runId }) => runId)),
  forget: (agent) => agent.forget("t")
} satisfies { readonly [name: string]: Verb }

const next = (n: number) => [`t#${n}`, "Completed"]
const busy = { refused: "ThreadBusy" }
const unknown = { refused: "UnknownThread" }
const incomplete = { refused: "IncompleteRun" }
const nothing = { refused: "NothingToRecover" }

// What each verb gives in each state. `undefined`: nothing, and no error.
const table: { readonly [V in keyof typeof verbs]: { readonly [S in State]: unknown } } = {
  run: { none: next(0), running: busy, lost: incomplete, failed: incomplete, settled: next(1) },
  start: { none: next(0), running: busy, lost: incomplete, failed: incomplete, settled: next(1) },
  stream: { none: next(0), running: busy, lost: incomplete, failed: incomplete, settled: next(1) },
  recover: { none: unknown, running: busy, lost: next(0), failed: next(0), settled: nothing },
  cancel: { none: unknown, running: undefined, lost: undefined, failed: undefined, settled: undefined },
  status: {
    none: unknown,
    running: ["t#0", "Running"],
    lost: ["t#0", "Running"],
    failed: ["t#0", "Failed"],
    settled: ["t#0", "Completed"]
  },
  history: { none: unknown, running: [], lost: [], failed: [], settled: ["t#0"] },
  forget: { none: undefined, running: busy, lost: undefined, failed: undefined, settled: undefined }
}

const states = ["none", "running", "lost", "failed", "settled"] as const
const names = Object.keys(verbs) as ReadonlyArray<keyof typeof verbs>

describe("a thread", () => {
  for (const name of names) {
    it.effect.each(states)(
      `${name} on a thread in state "%s" does what the state allows, or changes nothing`,
      (state) =>
        inState(state, (agent) =>
          Effect.gen(function*() {
            const before = yield* Trees.stored("t")
            const running = yield* Effect.forkChild(
              Effect.catch(verbs[name](agent), ({ reason }) => Effect.succeed({ refused: reason._tag })),
              { startImmediately: true }
            )
            yield* TestClock.adjust("1 minute")
            const expected = table[name][state]
            assert.deepStrictEqual(yield* Fiber.join(running), expected)
            const isRefused = expected !== null && typeof expected === "object" && "refused" in expected
            const isReading = name === "status" || name === "history"
            if (isRefused || isReading) assert.deepStrictEqual(yield* Trees.stored("t"), before)
          }))
    )
  }

  it.effect.each(["running", "lost", "failed"] as const)(
    "is settled by a cancel when %s, and goes on",
    (state) =>
      inState(state, (agent) =>
        Effect.gen(function*() {
          yield* agent.cancel("t")
          const cancelled = yield* agent.status("t")
          const { runId, status } = yield* agent.run("Two", { threadId: "t" })

          assert.deepStrictEqual(cancelled.status, { _tag: "Cancelled" })
          assert.deepStrictEqual<unknown>([runId, status], ["t#1", { _tag: "Completed", answer: "next" }])
        }))
  )

  it.effect.each(["lost", "failed", "settled"] as const)(
    "is gone after forget when %s, and its id is free",
    (state) =>
      inState(state, (agent) =>
        Effect.gen(function*() {
          yield* agent.forget("t")
          const { reason } = yield* Effect.flip(agent.status("t"))
          const stored = yield* Trees.stored("t")
          const { runId } = yield* agent.run("Two", { threadId: "t" })

          assert.deepStrictEqual(reason, { _tag: "UnknownThread", threadId: "t" })
          assert.lengthOf(stored, 0)
          assert.strictEqual(runId as string, "t#0")
          assert.lengthOf(yield* agent.history("t"), 1)
        }))
  )

  it.effect("gives its earlier messages to its next run, and keeps its runs in order", () =>
    Effect.gen(function*() {
      const Add = Tool.make("add", { parameters: Schema.Struct({ a: Schema.Number }), success: Schema.Number })
      const agent = yield* clerk.withInstructions("Count.").withTools(Toolkit.make(Add), {
        add: ({ a }) => Effect.succeed(a + 1)
      }).build()
      yield* agent.run("One", { threadId: "t" })
      yield* agent.run("Elsewhere", { threadId: "u" })
      yield* agent.run("Two", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const last = (yield* model.requestsOf("clerk")).at(-1)!
      const history = yield* agent.history("t")
      const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })
      assert.deepStrictEqual<unknown>(last.request.messages, [
        { role: "system", content: "Count." },
        ...history[0]!.messages,
        user("Two")
      ])
      assert.deepStrictEqual(history.map(({ runId }) => runId as string), ["t#0", "t#1"])
      assert.deepStrictEqual(history[0]!.messages.map(({ role }) => role), ["user", "assistant", "tool", "assistant"])
      assert.deepStrictEqual<unknown>(history[1]!.messages, [
        user("Two"),
        { role: "assistant", content: [{ type: "text", text: "two" }] }
      ])
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({
      clerk: Script.runs([Step.call("add", { a: 1 }), Step.text("one")], [Step.text("else")], [Step.text("two")])
    }))))

  it.effect("is taken from a live process only after one lease time, and then only if it is not renewed", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.again(Step.hang(), Step.text("recovered"))] })
      const store = MemoryRunStore.make()
      const process = () => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.gen(function*() {
        yield* Effect.flatMap(clerk.build(), (agent) => agent.start("One", { threadId: "t" }))
        yield* TestClock.adjust("7 seconds")
        const other = yield* Effect.provide(
          Effect.gen(function*() {
            const agent = yield* clerk.build()
            const early = yield* Effect.flip(agent.run("Two", { threadId: "t" }))
            const recovering = yield* Effect.forkChild(Effect.flip(agent.recover("t")), { startImmediately: true })
            yield* TestClock.adjust("12 seconds")
            const waiting = recovering.pollUnsafe()
            yield* TestClock.adjust("3 seconds")
            return { early, waiting, late: yield* Fiber.join(recovering) }
          }),
          process()
        )

        assert.strictEqual(other.early.reason._tag, "ThreadBusy")
        assert.isUndefined(other.waiting)
        assert.strictEqual(other.late.reason._tag, "ThreadBusy")
      }).pipe(Effect.provide(process()))
      assert.strictEqual(yield* model.calls, 1)
      const result = yield* Effect.provide(Effect.flatMap(clerk.build(), (agent) => agent.recover("t")), process())
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "recovered" })
    }).pipe(Effect.scoped))
})
