import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, type RunEvent, ToolCatalog, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

type Request = Parameters<typeof DelegateRuntime.run>[0]

const { posture } = Postures

const postures = [
  posture("deep", { allowedTools: ["delegate"], maxDepth: 9 }),
  posture("capped", { maxDepth: 1 }),
  posture("plain")
]

const delegate = (name: string) => Step.call("delegate", { posture: name, task: "Work" })
const call = (more: Partial<Request> = {}) => DelegateRuntime.run({ posture: "plain", task: "Work", ...more })

/** Runs an effect over a store, and gives what was committed and what was published meanwhile. */
const played = <A, E>(
  { make }: (typeof backings)[number],
  scripts: Script.Scripts,
  effect: Effect.Effect<A, E, PostureLives.Services>,
  options: DelegateRuntime.Options = {}
) =>
  Effect.gen(function*() {
    const recorded = Sessions.recording(yield* make)
    const model = yield* ScriptedModel.make(scripts)
    const { events, value } = yield* Sessions.watched(effect).pipe(
      Effect.provide(PostureLives.process(recorded.store, "process", model, postures, options))
    )
    return { value, committed: recorded.committed, live: events, model, store: recorded.store }
  })

const refusals = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  Trees.tagged(events, "DelegateRefused").map(({ _tag, at: _, call: __, ...rest }) => rest as object)

const outside = (name: string, depth: number, more: object = {}) => ({
  rootThreadId: `delegate/${name}`,
  threadId: `delegate/${name}`,
  runId: `delegate/${name}#0`,
  agentId: `delegate/${name}`,
  agentPath: [],
  depth,
  posture: name,
  reason: "RecursionLimit",
  sequence: 0,
  ...more
})

const fromCode: ReadonlyArray<readonly [string, Partial<Request>, DelegateRuntime.Options, string, object]> = [
  [
    "the posture's own limit",
    { posture: "capped", parentDepth: 1 },
    {},
    "The posture \"capped\" would run at depth 2; the posture allows 1",
    outside("capped", 1)
  ],
  [
    "the default limit of a runtime",
    { parentDepth: 3, parentTurn: "turn-7" },
    {},
    "The posture \"plain\" would run at depth 4; the runtime allows 3",
    outside("plain", 3, { parentTurn: "turn-7" })
  ],
  [
    "a limit, with a turn that is too long",
    { posture: "capped", parentDepth: 1, parentTurn: "x".repeat(1025) },
    {},
    "The posture \"capped\" would run at depth 2; the posture allows 1",
    outside("capped", 1)
  ],
  [
    "a limit, with a turn that is just not too long",
    { posture: "capped", parentDepth: 1, parentTurn: "x".repeat(1024) },
    {},
    "The posture \"capped\" would run at depth 2; the posture allows 1",
    outside("capped", 1, { parentTurn: "x".repeat(1024) })
  ],
  [
    "a limit, with a turn that is no text",
    { posture: "capped", parentDepth: 1, parentTurn: 7 as never },
    {},
    "The posture \"capped\" would run at depth 2; the posture allows 1",
    outside("capped", 1)
  ],
  [
    "a limit, with a turn that is half a character",
    { posture: "capped", parentDepth: 1, parentTurn: "a\ud800" },
    {},
    "The posture \"capped\" would run at depth 2; the posture allows 1",
    outside("capped", 1, { parentTurn: "a\ufffd" })
  ],
  [
    "the limit of a runtime",
    { posture: "deep", parentDepth: 1 },
    { maxDepth: 1 },
    "The posture \"deep\" would run at depth 2; the runtime allows 1",
    outside("deep", 1)
  ]
]

const ask = Toolkit.make(Tool.make("ask", { success: Schema.String }))

// A handler that calls a posture, and says what came of it.
const asking = (more: Partial<Request> = {}) => ({
  ask: () =>
    Effect.match(call({ parentDepth: 0, ...more }), {
      onSuccess: ({ depth, status }) => `${status} at ${depth}`,
      onFailure: ({ message }) => message
    })
})

describe.each(backings)("the depth of postures, in $name", (backing) => {
  it.effect.each(fromCode)("P2 ends calls from code at %s: one event that no store has, and nothing else", (
    [, more, options, message, refused]
  ) =>
    Effect.gen(function*() {
      const { committed, live, model, value } = yield* played(backing, {}, Effect.flip(call(more)), options)

      assert.strictEqual(value.message, message)
      assert.deepStrictEqual(value._tag === "DelegateError" && value.reason._tag, "RecursionLimit")
      assert.deepStrictEqual(refusals(live), [refused])
      assert.deepStrictEqual([live.length, committed.length, yield* model.calls], [1, 0, 0])
    }))

  it.effect("P2 counts calls from code from the depth that they name", () =>
    Effect.gen(function*() {
      const depths = [0, 1, 2]
      const { committed, value } = yield* played(
        backing,
        { plain: Script.each([Step.text("done")]) },
        Effect.forEach(depths, (parentDepth) => call({ task: `Work ${parentDepth}`, parentDepth }))
      )

      assert.deepStrictEqual(value.map(({ depth, status }) => [depth, status]), [
        [1, "success"],
        [2, "success"],
        [3, "success"]
      ])
      assert.deepStrictEqual(Sessions.ends(committed), ["success", "success", "success"])
    }))

  it.effect("P2 leaves a posture's run as much depth as the runtime has below it", () =>
    Effect.gen(function*() {
      const left: Array<readonly [number, number]> = []
      const note = Toolkit.make(Tool.make("note"))
      yield* played(
        backing,
        { plain: Script.each([Step.calls(Step.call("note")), Step.text("done")]) },
        Effect.andThen(
          ToolCatalog.add(note, {
            note: () =>
              Effect.map(ToolContext.ToolContext, ({ depth, depthLeft }) => void left.push([depth, depthLeft]))
          }),
          Effect.forEach([0, 1, 2], (parentDepth) => call({ task: `Work ${parentDepth}`, parentDepth }))
        )
      )

      assert.deepStrictEqual(left, [[1, 2], [2, 1], [3, 0]])
    }))

  it.effect("P2 lets an agent with its default delegate once, and the posture no more", () =>
    Effect.gen(function*() {
      const { committed, model, value } = yield* played(
        backing,
        {
          boss: [Step.calls(delegate("deep")), Step.text("done")],
          deep: [Step.calls(delegate("plain")), Step.text("alone")]
        },
        Effect.flatMap(
          TypedAgent.text("boss", { description: "Delegates" }).withPostures().bind(),
          (boss) => boss.run({ description: "Go" }, { threadId: "t" })
        )
      )

      assert.strictEqual(value._tag, "Reported")
      const [, after] = yield* model.requestsOf("deep")
      assert.deepStrictEqual(Trees.outputs(after!.request), [{
        error: {
          reason: "RecursionLimit",
          message: "The posture \"plain\" would run at depth 2; the agent allows 1"
        }
      }])
      assert.deepStrictEqual(Sessions.ends(committed), ["success"])
      assert.lengthOf(refusals(committed), 1)
    }))

  it.effect("P2 ends a subagent's calls at what its parent leaves it: one event in the tree, no run, no model call", () =>
    Effect.gen(function*() {
      const clerk = TypedAgent.text("clerk", { description: "Delegates" }).withPostures().withSubagents([], {
        maxDepth: 5
      })
      const { committed, live, model, store, value } = yield* played(
        backing,
        {
          boss: [Step.calls(Step.textTask("clerk", "Go")), Step.text("done")],
          clerk: [Step.calls(delegate("plain"), delegate("capped")), Step.text("alone")]
        },
        Effect.flatMap(
          AgentBuilder.make("boss").withSubagents([clerk]).build(),
          (boss) => boss.run("Go", { threadId: "t" })
        )
      )

      assert.deepStrictEqual(value.status, { _tag: "Completed", answer: "done" })
      const [, after] = yield* model.requestsOf("clerk")
      assert.deepStrictEqual(
        Trees.outputs(after!.request).map((output) => (output as { error: { message: string } }).error.message),
        [
          "The posture \"plain\" would run at depth 2; the agent allows 1",
          "The posture \"capped\" would run at depth 2; the posture allows 1"
        ]
      )
      const at = (key: string, posture: string) => ({
        rootThreadId: "t",
        threadId: "t#0/0.0",
        runId: "t#0/0.0#0",
        agentId: "clerk",
        agentPath: ["boss", "clerk"],
        depth: 1,
        key,
        posture,
        reason: "RecursionLimit"
      })
      assert.deepStrictEqual(
        refusals(committed).map((event) => ({ ...event, sequence: 0 })),
        [{ ...at("0.0", "plain"), sequence: 0 }, { ...at("0.1", "capped"), sequence: 0 }]
      )
      const stored = yield* store.events("t", 0)
      assert.lengthOf(stored.filter(({ json }) => json.includes("DelegateRefused")), 2)
      assert.lengthOf(refusals(live), 2)
      assert.deepStrictEqual(Sessions.ends(committed), [])
      assert.deepStrictEqual(yield* store.children("t#0/0.0#0"), [])
      assert.strictEqual(yield* model.calls, 4)
    }))

  it.effect("P2 counts a handler's calls from the run that it works for, whatever they name", () =>
    Effect.gen(function*() {
      const clerk = TypedAgent.text("clerk", { description: "Asks" }).withTools(ask, asking())
      const boss = AgentBuilder.make("boss").withTools(ask, asking({ parentTurn: "turn-1" })).withSubagents([clerk])
      const { committed, live, model, value } = yield* played(
        backing,
        {
          boss: [Step.calls(Step.call("ask"), Step.textTask("clerk", "Go")), Step.text("done")],
          clerk: [Step.calls(Step.call("ask")), Step.text("asked")],
          plain: [Step.text("seen")]
        },
        Effect.flatMap(boss.build(), (agent) => agent.run("Go", { threadId: "t" }))
      )

      assert.strictEqual(value.status._tag, "Completed")
      const [, ofBoss] = yield* model.requestsOf("boss")
      const [, ofClerk] = yield* model.requestsOf("clerk")
      assert.deepStrictEqual([Trees.outputs(ofBoss!.request)[0], Trees.outputs(ofClerk!.request)[0]], [
        "success at 1",
        "The posture \"plain\" would run at depth 2; the agent allows 1"
      ])
      assert.deepStrictEqual(refusals(live), [{
        rootThreadId: "t",
        threadId: "t#0/0.1",
        runId: "t#0/0.1#0",
        agentId: "clerk",
        agentPath: ["boss", "clerk"],
        depth: 1,
        key: "0.0",
        posture: "plain",
        reason: "RecursionLimit",
        sequence: 0
      }])
      assert.deepStrictEqual(refusals(committed), [])
      assert.deepStrictEqual(Sessions.ends(committed), ["success"])
    }))
})
