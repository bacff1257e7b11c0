import { assert, describe, it } from "@effect/vitest"
import {
  type Agent,
  AgentBuilder,
  DelegateRuntime,
  type Mandate,
  MemoryRunStore,
  type ModelError,
  type RunResult,
  type RunStore,
  TypedAgent
} from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Schedule, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Waiting from "../support/Waiting.ts"

type Reason = ModelError.ModelErrorReason

const Look = Tool.make("look", { success: Schema.String })
const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Look), { look: () => Effect.succeed("seen") })
const timed = clerk.withBudget({ timeout: 50 })

const inProcess = <A, E>(
  work: (agent: Agent.Agent<string>) => Effect.Effect<A, E, Mandate.Mandate>,
  definition: typeof clerk = clerk
) => Effect.flatMap(definition.build(), work)

/** What settles the run of `t`, which failed, in processes of their own. */
interface Close {
  readonly what: string
  readonly first: Script.Steps
  readonly close: (
    processes: Waiting.Processes,
    backing: Backing
  ) => Effect.Effect<unknown, unknown, never>
  readonly status: RunResult.CurrentStatus<string>
  readonly definition?: typeof clerk
  readonly treeBudget?: { readonly maxTokens: number }
}

const cancelled = { _tag: "Cancelled" } as const
const cancel = ({ next }: Waiting.Processes) => next(inProcess((agent) => agent.cancel("t")))

/** A recovery that is in progress when `then` begins. */
const recovering = (
  { next }: Waiting.Processes,
  then: (agent: Agent.Agent<string>) => Effect.Effect<unknown, unknown, Mandate.Mandate>,
  definition?: typeof clerk
) =>
  next(inProcess((agent) =>
    Effect.gen(function*() {
      const recovery = yield* Effect.forkChild(Effect.exit(agent.recover("t")), { startImmediately: true })
      yield* then(agent)
      yield* Fiber.await(recovery)
    }), definition))

const closes = (reason: Reason): ReadonlyArray<Close> => [
  { what: "a cancel", first: [Step.fail(reason)], close: cancel, status: cancelled },
  {
    what: "a cancel after a tool has run",
    first: [Step.call("look"), Step.fail(reason)],
    close: cancel,
    status: cancelled
  },
  {
    what: "a cancel while it is recovered",
    first: [Step.call("look"), Step.again(Step.fail(reason), Step.hang())],
    close: (processes, { pass }) => recovering(processes, (agent) => Effect.andThen(pass(10), agent.cancel("t"))),
    status: cancelled
  },
  {
    what: "a cancel after a recovery that failed otherwise",
    first: [Step.again(Step.fail(reason), Step.fail("authentication"))],
    close: (processes) =>
      Effect.andThen(
        processes.next(inProcess((agent) => Effect.flip(agent.recover("t")))),
        cancel(processes)
      ),
    status: cancelled
  },
  {
    what: "the deadline of its recovery",
    first: [Step.again(Step.delay(10, Step.fail(reason)), Step.hang())],
    close: (processes, { pass }) => recovering(processes, () => pass(100), timed),
    status: { _tag: "BudgetExceeded", limit: "time" },
    definition: timed
  },
  {
    what: "a tree budget that is used up when it is recovered",
    first: [Step.fail(reason, { usage: { input: 30, output: 0 } })],
    close: ({ next }) => next(inProcess((agent) => agent.recover("t"))),
    status: { _tag: "BudgetExceeded", limit: "treeTokens" },
    treeBudget: { maxTokens: 20 }
  }
]

const refusals: ReadonlyArray<Reason> = ["context-too-long", "invalid-request", "content-filtered", "unsupported"]
const cases = backings.flatMap((backing) =>
  refusals.flatMap((reason) => closes(reason).map((close) => ({ backing, reason, ...close })))
)

describe("F08 A run whose request was refused for good", () => {
  it.effect.each(cases)(
    "F08 leaves no messages after $what ($reason, $backing.name), and its thread takes the next run",
    ({ backing, close, definition, first, reason, status, treeBudget }) =>
      Effect.gen(function*() {
        const processes = yield* Waiting.processes(yield* backing.place, {
          clerk: Script.runs(first, [Step.text("hi")])
        })
        const { model, next } = processes
        const failing = yield* Effect.forkChild(
          next(
            inProcess(
              (agent) =>
                Effect.flip(agent.run("Read", { threadId: "t", ...(treeBudget === undefined ? {} : { treeBudget }) })),
              definition
            )
          ),
          { startImmediately: true }
        )
        yield* backing.pass(20)
        const error = yield* Fiber.join(failing)
        yield* close(processes, backing)
        const ended = yield* next(inProcess((agent) => agent.status("t")))
        const second = yield* next(inProcess((agent) => agent.run("And now?", { threadId: "t" })))
        const history = yield* next(inProcess((agent) => agent.history("t")))

        assert.deepInclude(error.reason, { _tag: "ModelFailed", reason })
        assert.deepStrictEqual<unknown>(ended.status, status)
        assert.deepStrictEqual(second.status, { _tag: "Completed", answer: "hi" })
        assert.deepStrictEqual<unknown>(history.map((run) => [run.status, run.messages.length]), [
          [status, 0],
          [{ _tag: "Completed", answer: "hi" }, 2]
        ])
        const { request } = (yield* model.requestsOf("clerk")).at(-1)!
        assert.deepStrictEqual(request.messages.map(({ content, role }) => [role, JSON.stringify(content)]), [
          ["user", JSON.stringify([{ type: "text", text: "And now?" }])]
        ])
      })
  )

  it.effect.each(backings)(
    "F08 keeps its messages once the request was answered ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const steps = [Step.again(Step.fail("context-too-long"), Step.call("look")), Step.fail("network")]
        const { next } = yield* Waiting.processes(yield* place, { clerk: steps })
        const once = clerk.withRetry(Schedule.recurs(0))
        yield* next(inProcess((agent) => Effect.flip(agent.run("Read", { threadId: "t" })), once))
        yield* next(inProcess((agent) => Effect.flip(agent.recover("t")), once))
        yield* next(inProcess((agent) => agent.cancel("t")))
        const [run] = yield* next(inProcess((agent) => agent.history("t")))

        assert.deepStrictEqual(run?.messages.map(({ role }) => role), ["user", "assistant", "tool"])
      })
  )

  const others: ReadonlyArray<Reason> = ["authentication", "quota-exceeded", "unknown"]
  it.effect.each(backings.flatMap((backing) => others.map((reason) => ({ backing, reason }))))(
    "F08 keeps its messages after a failure that is not of its request ($reason, $backing.name)",
    ({ backing, reason }) =>
      Effect.gen(function*() {
        const { next } = yield* Waiting.processes(yield* backing.place, { clerk: [Step.fail(reason)] })
        yield* next(inProcess((agent) => Effect.flip(agent.run("Read", { threadId: "t" }))))
        yield* next(inProcess((agent) => agent.cancel("t")))
        const [run] = yield* next(inProcess((agent) => agent.history("t")))

        assert.deepStrictEqual(run?.messages.map(({ role }) => role), ["user"])
      })
  )

  it.effect.each(backings)(
    "F08 that is a child leaves none either, and its parent keeps its own messages ($name)",
    ({ make }) =>
      Effect.gen(function*() {
        const store = yield* make
        const helper = TypedAgent.text("helper", { description: "Helps" })
        const lead = AgentBuilder.make("lead").withSubagents([helper])
        const { next } = yield* Waiting.processes(store, {
          lead: [Step.calls(Step.textTask("helper", "Read")), Step.text("done")],
          helper: [Step.fail("context-too-long")]
        })
        const result = yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
        const [run] = yield* next(Effect.flatMap(lead.build(), (agent) => agent.history("t")))

        assert.strictEqual(result.status._tag, "Completed")
        assert.deepStrictEqual(run?.messages.map(({ role }) => role), ["user", "assistant", "tool", "assistant"])
        assert.deepStrictEqual(yield* childMessages(store), ["[]"])
      })
  )

  it.effect("F08 that is a child of a run that failed with it is closed with its parent, which keeps its messages", () =>
    Effect.gen(function*() {
      const store = MemoryRunStore.make()
      const helper = TypedAgent.text("helper", { description: "Helps" })
      const lead = AgentBuilder.make("lead").withSubagents([helper]).withChildFailure({ modelFailed: "fail-run" })
      const { next } = yield* Waiting.processes(store, {
        lead: [Step.calls(Step.textTask("helper", "Read"))],
        helper: [Step.fail("invalid-request")]
      })
      yield* next(Effect.flatMap(lead.build(), (agent) => Effect.flip(agent.run("Go", { threadId: "t" }))))
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.cancel("t")))
      const [run] = yield* next(Effect.flatMap(lead.build(), (agent) => agent.history("t")))

      assert.deepStrictEqual(run?.messages.map(({ role }) => role), ["user", "assistant", "tool"])
      assert.deepStrictEqual(yield* childMessages(store), ["[]"])
    }))

  it.effect("F08 that is of a posture is closed without messages", () => {
    const store = MemoryRunStore.make()
    const settled: Array<string> = []
    const watching: RunStore.RunStore["Service"] = {
      ...store,
      close: (runs, events) => {
        settled.push(...runs.map(({ settlement }) => settlement.messages))
        return store.close(runs, events)
      }
    }
    return Effect.gen(function*() {
      const result = yield* DelegateRuntime.run({ posture: "reviewer", task: "Read" })

      assert.deepInclude(result, {
        status: "error",
        error: { _tag: "ModelFailed", reason: "context-too-long" }
      })
      assert.deepStrictEqual(settled, ["[]"])
    }).pipe(Effect.provide(
      Postures.runtime([Postures.posture("reviewer")], { reviewer: [Step.fail("context-too-long")] }, {
        store: watching
      })
    ))
  })
})

const childMessages = (store: RunStore.RunStore["Service"]) =>
  Effect.map(store.children("t#0"), (rows) => rows.map(({ messages }) => messages))
