import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, DelegateRuntime, PostureRegistry, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer } from "effect"
import { backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const { posture } = Postures

const delegate = (name: string, more: object = {}) => Step.call("delegate", { posture: name, task: "Do it", ...more })

const lead = AgentBuilder.make("lead").withPostures()

const requestsOf = (agent: string) => Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf(agent))

describe("the delegate tool", () => {
  it.effect("lists the postures of the moment at each request, and is not offered without any", () =>
    Effect.gen(function*() {
      const registry = yield* PostureRegistry.PostureRegistry
      const agent = yield* lead.build()
      yield* agent.run("None")
      yield* registry.put(posture("scout"))
      yield* agent.run("One")
      yield* registry.put(posture("clerk"))
      yield* agent.run("Two")

      const offered = (yield* requestsOf("lead")).map(({ request }) =>
        request.tools.map(({ description }) => description)
      )
      const head = "Delegates a task to a subagent, which sees only the task and the context."
      assert.deepStrictEqual(offered, [
        [],
        [`${head}\n- scout: Does scout`],
        [`${head}\n- clerk: Does clerk\n- scout: Does scout`]
      ])
    }).pipe(Effect.provide(Postures.runtime([], { lead: Script.each([Step.text("done")]) }))))

  it.effect("gives the report, and shows the pair of its sub-session beside the calls of its caller", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const result = yield* agent.run("Go", { threadId: "t" })

      const [, second] = yield* requestsOf("lead")
      assert.deepStrictEqual(Trees.outputs(second!.request), [{ report: "seen" }])
      assert.strictEqual(result.usage.tree.childRuns, 1)
      assert.deepStrictEqual(Postures.told(yield* Trees.durableEvents("t")), [
        "RunStarted lead 0",
        "ModelCallCompleted lead 0",
        "DelegateStart delegate/scout/t#0/0.0 1",
        "RunStarted delegate/scout/t#0/0.0 1",
        "ModelCallCompleted delegate/scout/t#0/0.0 1",
        "RunSettled delegate/scout/t#0/0.0 1",
        "DelegateComplete delegate/scout/t#0/0.0 1",
        "ModelCallCompleted lead 0",
        "RunSettled lead 0"
      ])
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: [Step.calls(delegate("scout", { context: { a: 1 } })), Step.text("done")],
      scout: [Step.text("seen")]
    }))))

  it.effect("refuses what it does not offer, what is not valid, and what is over the bounds, in that order of checks", () =>
    Effect.gen(function*() {
      const agent = yield* lead.withPostures({ names: ["scout", "capped"] })
        .withSubagents([], { maxTasksPerTurn: 6 })
        .build()
      yield* agent.run("Go", { threadId: "t" })

      const [, second] = yield* requestsOf("lead")
      assert.deepStrictEqual(Trees.reasons(second!.request), [
        "UnknownPosture",
        "UnknownPosture",
        "InvalidInput",
        "InvalidInput",
        "InvalidInput",
        undefined,
        "TooManyTasks"
      ])
      assert.deepStrictEqual(
        Trees.outputs(second!.request).slice(0, 5).map((output) =>
          (output as { readonly error: { readonly message: string } }).error.message
        ),
        [
          "There is no such posture; postures: capped, scout",
          "There is no such posture; postures: capped, scout",
          "The input is not valid: task: Missing key",
          "The input is not valid: task: it is blank",
          "The input is not valid: maxTokens must be at most 100, the ceiling of the posture, not 101"
        ]
      )
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Completed", "t#0/0.5#0": "Completed" })
    }).pipe(
      Effect.provide(
        Postures.runtime([posture("scout"), posture("other"), posture("capped", { ceiling: { maxTokens: 100 } })], {
          lead: [
            Step.calls(
              delegate("other"),
              delegate("__proto__"),
              Step.call("delegate", { posture: "scout" }),
              delegate("scout", { task: " \n" }),
              delegate("capped", { maxTokens: 101 }),
              delegate("scout"),
              delegate("scout")
            ),
            Step.text("done")
          ],
          scout: [Step.text("seen")]
        })
      )
    ))

  it.effect("nests as deep as the runtime, the posture and the caller allow, and refuses deeper", () =>
    Effect.gen(function*() {
      const deep = yield* DelegateRuntime.run({ posture: "deep", task: "Go" })
      const shallow = yield* DelegateRuntime.run({ posture: "shallow", task: "Go" })
      const started = yield* Effect.flip(DelegateRuntime.run({ posture: "deep", task: "Go", parentDepth: 3 }))

      const depths = (yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)).map((
        { call, request }
      ) => [call.agentId, call.depth, ...Trees.reasons(request)].join(" "))
      assert.deepStrictEqual(depths, [
        "deep 1",
        "deep 2",
        "deep 3",
        "deep 3 RecursionLimit",
        "deep 2 ",
        "deep 1 ",
        "shallow 1",
        "shallow 1 RecursionLimit"
      ])
      assert.deepStrictEqual([deep.status, shallow.status], ["success", "success"])
      assert.deepStrictEqual(started.message, "The posture \"deep\" would run at depth 4; the runtime allows 3")
    }).pipe(Effect.provide(Postures.runtime([
      posture("deep", { allowedTools: ["delegate"], maxDepth: 9 }),
      posture("shallow", { allowedTools: ["delegate"], maxDepth: 1 })
    ], {
      deep: Script.each([Step.calls(delegate("deep")), Step.text("done")]),
      shallow: Script.each([Step.calls(delegate("shallow")), Step.text("done")])
    }))))

  it.effect("gives a posture the catalog as it allows it: all for an empty list, none for one that is not there", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(
        ["all", "some", "none", "only"],
        (name) => DelegateRuntime.run({ posture: name, task: "Go" })
      )
      const offered = (yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)).map((
        { request }
      ) => request.tools.map(({ name }) => name))

      assert.deepStrictEqual(offered, [["pay", "read", "write"], ["read"], [], ["delegate"]])
    }).pipe(Effect.provide(Postures.runtime([
      posture("all"),
      posture("some", { allowedTools: ["read", "gone"] }),
      posture("none", { allowedTools: ["gone"] }),
      posture("only", { allowedTools: ["delegate"] })
    ], Object.fromEntries(["all", "some", "none", "only"].map((name) => [name, [Step.text("done")]]))))))
})

describe.each(backings)("a posture's run, in $name", ({ make, pass }) => {
  it.effect("waits for a person like any other, and goes on by the posture that its row holds", () =>
    Effect.gen(function*() {
      const store = yield* make
      const ran: Array<string> = []
      const { model, next } = yield* Waiting.processes(store, {
        lead: [Step.calls(delegate("payer"), delegate("payer")), Step.text("done")],
        payer: Script.each([Step.calls(Step.call("pay", { euros: 10 }), Step.call("read")), Step.text("paid")])
      })
      const process = (postures: Parameters<typeof Postures.parts>[0]) =>
        Layer.provideMerge(DelegateRuntime.layer(), Postures.parts(postures, { ran }))
      const first = yield* next(
        Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })).pipe(
          Effect.provide(process([posture("payer", { instructions: "Old." })]))
        )
      )
      assert.deepStrictEqual(
        first.status._tag === "Suspended" ? first.status.pending.map(({ id }) => String(id)) : [],
        ["0.0:child~0.0:approval0", "0.1:child~0.0:approval0"]
      )
      const refused = yield* next(
        Effect.flatMap(
          lead.build(),
          (agent) => Effect.flip(agent.resume("t", [Answer.edit("0.0:child~0.0:approval0", { euros: "many" })]))
        ).pipe(
          Effect.provide(process([posture("payer", { instructions: "New." })]))
        )
      )
      assert.strictEqual(refused.message.split(":")[0], "The answer to \"0.0")
      const last = yield* next(
        Effect.flatMap(lead.build(), (agent) =>
          agent.resume("t", [
            Answer.edit("0.0:child~0.0:approval0", { euros: 3 }),
            Answer.reject("0.1:child~0.0:approval0", "no")
          ])).pipe(Effect.provide(process([])))
      )

      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["read", "read", "pay 3"])
      const systems = (yield* model.requestsOf("payer")).map(({ request }) => request.messages[0]?.content)
      assert.deepStrictEqual([...new Set(systems)], ["Old."])
      const events = yield* Effect.provideService(Trees.durableEvents("t"), RunStore.RunStore, store)
      assert.lengthOf(Trees.tagged(events, "DelegateStart"), 2)
      assert.lengthOf(Trees.tagged(events, "DelegateComplete"), 2)
    }))

  it.effect("waits with its own tools, whatever those of a subagent of its name are", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const store = yield* make
      const namesake = TypedAgent.text("payer", { description: "Pays in another way" })
      const outcome = yield* Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("lead").withPostures().withSubagents([namesake]).build()
        yield* agent.run("Go", { threadId: "t" })
        const edited = (euros: unknown) => agent.resume("t", [Answer.edit("0.0:child~0.0:approval0", { euros })])
        return { refused: yield* Effect.flip(edited("many")), last: yield* edited(3) }
      }).pipe(Effect.provide(Postures.runtime([posture("payer")], {
        lead: [Step.calls(delegate("payer")), Step.text("done")],
        payer: [Step.calls(Step.call("pay", { euros: 10 })), Step.text("paid")]
      }, { ran, store })))

      assert.include(outcome.refused.message, "euros: ")
      assert.deepStrictEqual(outcome.last.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["pay 3"])
    }))

  it.effect("with no parent is suspended, and is resumed in another process by its sub-session", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const { next } = yield* Waiting.processes(yield* make, {
        payer: [Step.calls(Step.call("pay", { euros: 10 })), Step.text("paid")]
      })
      const process = (postures: Parameters<typeof Postures.parts>[0]) =>
        Layer.provideMerge(DelegateRuntime.layer(), Postures.parts(postures, { ran }))
      const first = yield* next(
        DelegateRuntime.run({ posture: "payer", task: "Pay" }).pipe(Effect.provide(process([posture("payer")])))
      )
      assert.strictEqual(first.status, "suspended")
      const last = yield* next(
        Effect.flatMap(
          DelegateRuntime.DelegateRuntime,
          (delegates) => delegates.resume(first.subSessionId, [Answer.approve("0.0:approval0")])
        ).pipe(Effect.provide(process([])))
      )

      assert.deepInclude(last, {
        status: "success",
        result: "paid",
        subSessionId: first.subSessionId,
        postureVersion: first.postureVersion,
        toolCallsUsed: 1
      })
      assert.deepStrictEqual(ran, ["pay 10"])
    }))

  it.effect("ends as a timeout at its budget of time, with a second call on its way", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, { slow: Script.each([Step.hang()]) })
      const [first, second] = yield* next(
        Effect.gen(function*() {
          const both = yield* Effect.forkChild(
            Effect.all([
              DelegateRuntime.run({ posture: "slow", task: "Wait" }),
              DelegateRuntime.run({ posture: "slow", task: "Wait", overrides: { timeout: "2 seconds" } })
            ], { concurrency: "unbounded" }),
            { startImmediately: true }
          )
          yield* pass("10 seconds")
          return yield* Fiber.join(both)
        }).pipe(
          Effect.provide(Layer.provideMerge(
            DelegateRuntime.layer(),
            Postures.parts([posture("slow", { budget: { timeout: "5 seconds" } })])
          ))
        )
      )

      assert.deepInclude(first, { status: "timeout", elapsed: 5000, error: { _tag: "BudgetExceeded", limit: "time" } })
      assert.deepInclude(second, { status: "timeout", elapsed: 2000 })
    }))
})
