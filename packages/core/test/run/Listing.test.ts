import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type RunConfig, type RunStore, Threads, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Stream } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const pay = Toolkit.make(Waiting.gated("pay", {}))
const clerk = AgentBuilder.make("clerk").withTools(pay, { pay: () => Effect.succeed("paid") })
const scout = TypedAgent.text("scout", { description: "Scouts" })
const cashier = TypedAgent.text("cashier", { description: "Pays" })
  .withTools(pay, { pay: () => Effect.succeed("paid") })
const chief = AgentBuilder.make("chief").withSubagents([cashier])
const lead = AgentBuilder.make("lead").withSubagents([scout])

const run = (agent: AgentBuilder.AgentBuilder<unknown>, threadId: string, config: RunConfig.RunConfig = {}) =>
  Effect.flatMap(agent.build(), (built) => Effect.exit(built.run("Go", { threadId, ...config })))

// Threads in every state: two settled ones, one of them of a tenant, a suspended, a failed and a running one.
const filled = Effect.fnUntraced(function*(store: RunStore.RunStore["Service"], last = Step.hang()) {
  const { next } = yield* Waiting.processes(store, {
    clerk: Script.optional([Step.calls(Step.call("pay")), Step.text("done")]),
    lead: Script.optional(Script.runs(
      [Step.calls(Step.textTask("scout", "a"), Step.textTask("scout", "b")), Step.text("done")],
      [Step.text("done")],
      [Step.fail("authentication")],
      [last]
    )),
    scout: Script.each([Step.text("seen")])
  })
  yield* next(Effect.andThen(run(lead, "a-done"), run(lead, "b-done", { tenant: "acme" })))
  yield* next(run(clerk, "c-waits", { tenant: "acme" }))
  yield* next(run(lead, "d-failed"))
  return next
})

const summaries = (found: ReadonlyArray<Threads.ThreadSummary>) =>
  found.map(({ agentId, isHeld, state, tenant, threadId }) =>
    [threadId, agentId, state, isHeld ? "held" : "free", tenant ?? "-"].join(" ")
  )

describe.each(backings)("threads, in $name", ({ make }) => {
  it.effect("are listed with their last runs, in the order of their ids, by state, agent and tenant", () =>
    Effect.gen(function*() {
      const next = yield* filled(yield* make)
      const list = (filter?: Threads.ThreadFilter) => Effect.map(next(Threads.list(filter)), summaries)
      const all = [
        "a-done lead Settled free -",
        "b-done lead Settled free acme",
        "c-waits clerk Suspended free acme",
        "d-failed lead Failed free -"
      ]

      assert.deepStrictEqual(yield* list(), all)
      assert.deepStrictEqual(yield* list({ states: ["Suspended", "Failed"] }), all.slice(2))
      assert.deepStrictEqual(yield* list({ states: ["Settled", "Failed"] }), [all[0], all[1], all[3]])
      assert.deepStrictEqual(yield* list({ tenant: "acme" }), all.slice(1, 3))
      assert.deepStrictEqual(yield* list({ tenant: "acme", states: ["Suspended"] }), [all[2]])
      assert.deepStrictEqual(yield* list({ agentId: "clerk" }), [all[2]])
      assert.deepStrictEqual(yield* list({ agentId: "nobody" }), [])
      assert.deepStrictEqual(yield* list({ states: [] }), [])
      assert.deepStrictEqual(yield* list({ limit: 2 }), all.slice(0, 2))
      assert.deepStrictEqual(yield* list({ limit: 2, after: "b-done" }), all.slice(2))
      assert.deepStrictEqual(yield* list({ after: "b" }), all.slice(1))
      assert.deepStrictEqual(summaries(yield* next(Stream.runCollect(Threads.all({ limit: 1 })))), all)
    }))

  it.effect("show a run that is driven as held, here and from another process", () =>
    Effect.gen(function*() {
      const next = yield* filled(yield* make)
      const running = yield* Effect.forkChild(
        next(
          Effect.flatMap(lead.build(), (agent) => Effect.andThen(agent.start("Go", { threadId: "e" }), Effect.never))
        )
      )
      yield* TestClock.adjust(1)
      const list = next(Threads.list({ states: ["Running"] }))
      const held = summaries(yield* list)
      yield* Fiber.interrupt(running)

      assert.deepStrictEqual(held, ["e lead Running held -"])
      assert.deepStrictEqual(summaries(yield* list), ["e lead Running free -"])
    }))

  it.effect("list their runs with all below them, each with how it came out", () =>
    Effect.gen(function*() {
      const next = yield* filled(yield* make)
      const runs = (threadId: string) =>
        Effect.map(next(Threads.runs(threadId)), (found) =>
          found.map((one) =>
            [one.runId, one.agentId, one.depth, one.state, one.outcome ?? "-", one.usage?.tree.modelCalls ?? "-"].join(
              " "
            )
          ))

      assert.deepStrictEqual(yield* runs("a-done"), [
        "a-done#0 lead 0 Settled Completed 4",
        "a-done#0/0.0#0 scout 1 Settled Completed 1",
        "a-done#0/0.1#0 scout 1 Settled Completed 1"
      ])
      assert.deepStrictEqual(yield* runs("c-waits"), ["c-waits#0 clerk 0 Suspended - -"])
      assert.deepStrictEqual(yield* runs("d-failed"), ["d-failed#0 lead 0 Failed ModelFailed -"])
      const [, child] = yield* next(Threads.runs("a-done"))
      assert.deepStrictEqual([child?.parentRunId, child?.call?.key], ["a-done#0", "0.0"])
      yield* next(Effect.flatMap(clerk.build(), (agent) =>
        agent.resume("c-waits", [Answer.approve("0.0:approval0")])))
      assert.deepStrictEqual(yield* runs("c-waits"), ["c-waits#0 clerk 0 Settled Completed 2"])
    }))

  it.effect("say when their runs were started and have stopped, and are found by it", () =>
    Effect.gen(function*() {
      const next = yield* filled(yield* make, Step.text("done"))
      const day = 86_400_000
      const times = Effect.map(next(Threads.list()), (found) =>
        found.map(({ startedAt, stoppedAt, threadId }) => [threadId, startedAt, stoppedAt ?? "-"].join(" ")))
      const before = (stoppedBefore: number) =>
        Effect.map(next(Threads.list({ stoppedBefore })), (found) =>
          found.map(({ threadId }) => threadId))
      yield* TestClock.adjust(day)
      yield* next(run(lead, "a-done"))
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.resume("c-waits", [Answer.approve("0.0:approval0")])))
      yield* TestClock.adjust(day)
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.cancel("d-failed")))

      assert.deepStrictEqual(yield* times, [
        `a-done ${day} ${day}`,
        "b-done 0 0",
        `c-waits 0 ${day}`,
        `d-failed 0 ${2 * day}`
      ])
      assert.deepStrictEqual(yield* before(0), [])
      assert.deepStrictEqual(yield* before(day), ["b-done"])
      assert.deepStrictEqual(yield* before(day + 1), ["a-done", "b-done", "c-waits"])
      assert.deepStrictEqual(yield* before(Infinity), ["a-done", "b-done", "c-waits", "d-failed"])
      const runs = yield* next(Threads.runs("a-done"))
      assert.deepStrictEqual<unknown>(runs.map(({ runId, startedAt, stoppedAt }) => [runId, startedAt, stoppedAt]), [
        ["a-done#0", 0, 0],
        ["a-done#0/0.0#0", 0, 0],
        ["a-done#0/0.1#0", 0, 0],
        ["a-done#1", day, day]
      ])
      const refused = yield* Effect.flip(next(Threads.list({ stoppedBefore: Number.NaN })))
      assert.include(refused.message, "stoppedBefore must be a number of milliseconds, not NaN")
    }))

  it.effect("tell what waits for people, over all of them, at every depth, and until it is answered", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {
        clerk: Script.optional(Script.each([Step.calls(Step.call("pay"), Step.call("pay")), Step.text("done")])),
        cashier: Script.optional([Step.call("pay"), Step.text("done")]),
        chief: Script.optional([Step.textTask("cashier", "Pay"), Step.text("done")])
      })
      yield* next(run(clerk, "b", { tenant: "acme" }))
      yield* next(run(chief, "a"))
      const waiting = (filter?: Parameters<typeof Threads.pending>[0]) =>
        Effect.map(
          next(Stream.runCollect(Threads.pending(filter))),
          (found) =>
            found.map(({ agentId, agentPath, id, request, run, tenant, threadId }) =>
              [threadId, agentId, tenant ?? "-", id, agentPath.join(">"), request._tag, run.threadId].join(" ")
            )
        )
      const all = [
        "a chief - 0.0:child~0.0:approval0 chief>cashier Approval a#0/0.0",
        "b clerk acme 0.0:approval0 clerk Approval b",
        "b clerk acme 0.1:approval0 clerk Approval b"
      ]

      assert.deepStrictEqual(yield* waiting(), all)
      assert.deepStrictEqual(yield* waiting({ limit: 1 }), all)
      assert.deepStrictEqual(yield* waiting({ tenant: "acme" }), all.slice(1))
      assert.deepStrictEqual(yield* waiting({ agentId: "chief" }), all.slice(0, 1))
      assert.deepStrictEqual(yield* waiting({ after: "b" }), [])
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.resume("b", [Answer.approve("0.0:approval0")])))
      assert.deepStrictEqual(yield* waiting(), [all[0], all[2]])
      yield* next(Effect.flatMap(chief.build(), (agent) => agent.cancel("a")))
      assert.deepStrictEqual(yield* waiting(), all.slice(2))
    }))

  it.effect("belong to the tenant of their first run, and to no other", () =>
    Effect.gen(function*() {
      const store = yield* make
      const next = yield* filled(store)
      const before = yield* store.thread("b-done")
      const refused = yield* Effect.forEach(["other", undefined, "a b", ""], (tenant) =>
        next(Effect.flatMap(lead.build(), (agent) =>
          Effect.flip(agent.run("Go", { threadId: "b-done", ...(tenant === undefined ? {} : { tenant }) })))))

      assert.deepStrictEqual(
        refused.map(({ message }) =>
          message
        ),
        [
          "The tenant is not valid: the thread is another tenant's",
          "The tenant is not valid: the thread is another tenant's",
          "The tenant is not valid: it must be 1 to 128 of the characters a-z A-Z 0-9 _ . : -",
          "The tenant is not valid: it must be 1 to 128 of the characters a-z A-Z 0-9 _ . : -"
        ]
      )
      assert.deepStrictEqual(yield* store.thread("b-done"), before)
    }))

  it.effect("that are not there, and filters that are not valid, are refused", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {})
      const reasons = yield* Effect.forEach([
        Threads.runs("nobody"),
        Threads.runs("t#0/0.0"),
        Threads.list({ limit: 0 }),
        Threads.list({ limit: 1001 }),
        Threads.list({ limit: Number.NaN }),
        Threads.list({ states: ["Settled", "suspended" as "Suspended"] }),
        Threads.list({ states: "Settled" as unknown as [] })
      ], (effect) =>
        Effect.map(Effect.flip(next<unknown, { readonly message: string }>(effect)), (error) => error.message))

      assert.deepStrictEqual(reasons, [
        "There is no thread \"nobody\" in the store; it was never started here, or was forgotten",
        "The thread \"t#0/0.0\" belongs to a child; use the thread of its root",
        "The filter is not valid: limit must be a positive whole number, not 0",
        "The filter is not valid: limit must be at most 1000, not 1001",
        "The filter is not valid: limit must be a positive whole number, not NaN",
        "The filter is not valid: states[1] must be one of \"Running\", \"Suspended\", \"Failed\", \"Settled\", not a string",
        "The filter is not valid: states must be a list, not a string"
      ])
    }))
})
