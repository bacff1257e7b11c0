import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, MemoryRunStore, Posture, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })

type Subagent = TypedAgent.TypedAgent<any, any>

const lowest = 6

// Each level offers the one below it, so only the bound ends the descent.
const typed = (level: number): Subagent => {
  const self = TypedAgent.make(`level-${level}`, {
    description: "Does the task, or has it done",
    input: Schema.Struct({ goal: Schema.String }),
    report: Schema.Struct({ heard: Schema.String })
  }).withTools(Toolkit.make(Note), { note: ({ text }) => Effect.succeed(`noted ${text}`) })
  return level === lowest ? self : self.withSubagents([typed(level + 1)])
}

const text = (level: number): Subagent => {
  const self = TypedAgent.text(`level-${level}`, { description: "Does the task, or has it done" })
  return level === lowest ? self : self.withSubagents([text(level + 1)])
}

const kinds = {
  typed: {
    subagent: typed(1),
    task: (level: number) => Step.task(`level-${level}`, { goal: "the same" }),
    report: (heard: string) => Step.report({ heard })
  },
  text: {
    subagent: text(1),
    task: (level: number) => Step.textTask(`level-${level}`, "the same"),
    report: (heard: string) => Step.text(heard)
  }
}

// Every model delegates first, and then answers with what its calls came to.
const eager = (kind: keyof typeof kinds): Script.Scripts => {
  const answer: Script.Answer = (request, call) => {
    const { report, task } = kinds[kind]
    if (call.step === 0) return Step.calls(task(call.depth + 1), task(call.depth + 1))
    const heard = Trees.reasons(request).map((reason) => reason ?? "reported").join()
    return call.depth === 0 ? Step.text(heard) : report(heard)
  }
  const program: Script.Script = { _tag: "Program", answer }
  return Object.fromEntries(["top", ...levels(lowest)].map((id) => [id, program]))
}

const levels = (count: number) => Array.from({ length: count }, (_, index) => `level-${index + 1}`)

const cases = [1, 2, 3, 4].flatMap((maxDepth) => (["typed", "text"] as const).map((kind) => ({ kind, maxDepth })))

describe("C16 How deep runs may nest", () => {
  it.effect.each(cases)(
    "C16 maxDepth $maxDepth runs exactly that many levels of $kind subagents",
    ({ kind, maxDepth }) =>
      Effect.gen(function*() {
        const top = AgentBuilder.make("top").withSubagents([kinds[kind].subagent], { maxDepth })
        const agent = yield* top.build()
        const result = yield* agent.run("Go", { threadId: "t" })

        const model = yield* ScriptedModel.ScriptedModel
        const store = yield* RunStore.RunStore
        const events = yield* Trees.durableEvents("t")
        // Two tasks at every level: the runs of a level double, and each run asks its model twice.
        const runsAt = (depth: number) => 2 ** depth
        const runs = Array.from({ length: maxDepth + 1 }, (_, depth) => runsAt(depth)).reduce((a, b) => a + b, 0)
        assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "reported,reported" })
        assert.lengthOf(yield* model.requests, runs * 2)
        assert.lengthOf(yield* model.requestsOf(`level-${maxDepth}`), runsAt(maxDepth) * 2)
        assert.lengthOf(yield* model.requestsOf(`level-${maxDepth + 1}`), 0)
        assert.lengthOf(Trees.tagged(events, "RunStarted"), runs)
        assert.lengthOf(Trees.tagged(events, "TaskStarted"), runs - 1)

        for (const { call, request } of yield* model.requestsOf(`level-${maxDepth}`)) {
          if (call.step === 0) continue
          assert.deepStrictEqual(Trees.reasons(request), ["DepthExceeded", "DepthExceeded"])
          assert.lengthOf(yield* store.children(call.runId), 0)
        }
        yield* Trees.noViolations
      }).pipe(Effect.provide(Trees.runtime(eager(kind))))
  )

  it.effect("C16 one level is the default", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([typed(1)]).build()
      yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      assert.lengthOf(yield* model.requestsOf("level-1"), 4)
      assert.lengthOf(yield* model.requestsOf("level-2"), 0)
    }).pipe(Effect.provide(Trees.runtime(eager("typed")))))

  it.effect("C16 a run with no parent counts its levels from itself", () =>
    Effect.gen(function*() {
      const bound = yield* TypedAgent.text("top", { description: "Does it" }).withSubagents([text(1)], { maxDepth: 2 })
        .bind()
      const outcome = yield* bound.run({ description: "Go" }, { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(outcome._tag, "Reported")
      assert.strictEqual(outcome.child.depth, 0)
      assert.lengthOf(yield* model.requestsOf("level-2"), 8)
      assert.lengthOf(yield* model.requestsOf("level-3"), 0)
    }).pipe(Effect.provide(Trees.runtime(eager("text")))))

  it.effect("C16 a refused task call is one tool error among calls that run", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([typed(1)]).build()
      const result = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, after] = yield* model.requestsOf("level-1")
      assert.deepStrictEqual(Trees.reasons(after!.request), [undefined, "DepthExceeded", undefined])
      assert.deepStrictEqual(Trees.outputs(after!.request).filter((_, index) => index !== 1), ["noted a", "noted b"])
      assert.strictEqual(result.status._tag, "Completed")
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.task("level-1", { goal: "x" }), Step.text("done")],
      "level-1": [
        Step.calls(
          Step.call("note", { text: "a" }),
          Step.task("level-2", { goal: "x" }),
          Step.call("note", { text: "b" })
        ),
        Step.report({ heard: "did it myself" })
      ]
    }))))

  it.effect.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "C16 a maxDepth of %s is refused at build, wherever in the family it stands",
    (maxDepth) =>
      Effect.gen(function*() {
        const middle = TypedAgent.text("middle", { description: "Passes on" }).withSubagents([text(6)], { maxDepth })
        const alone = yield* Effect.flip(AgentBuilder.make("top").withSubagents([text(6)], { maxDepth }).build())
        const below = yield* Effect.flip(AgentBuilder.make("top").withSubagents([middle]).build())
        const bound = yield* Effect.flip(middle.bind())

        const problem = (agent: string) => [{
          agent,
          kind: "InvalidBound" as const,
          message: `maxDepth must be a positive whole number, not ${maxDepth}`
        }]
        assert.deepStrictEqual<unknown>(alone.problems, problem("top"))
        assert.deepStrictEqual<unknown>(below.problems, problem("top > middle"))
        assert.deepStrictEqual<unknown>(bound.problems, problem("middle"))
      }).pipe(Effect.provide(Trees.runtime({})))
  )
})

// A posture that always has the same task done twice, by itself.
const eagerPosture: Script.Script = {
  _tag: "Program",
  answer: (request, { step }) =>
    step === 0
      ? Step.calls(...["again", "again"].map((task) => Step.call("delegate", { posture: "deep", task })))
      : Step.text(Trees.reasons(request).map((reason) => reason ?? "reported").join())
}

const limits = [
  { own: 1, global: 3, levels: 1 },
  { own: 2, global: 3, levels: 2 },
  { own: 9, global: 3, levels: 3 },
  { own: undefined, global: undefined, levels: 3 },
  { own: undefined, global: 1, levels: 1 },
  { own: 9, global: 4, levels: 4 }
]

const callers = limits.flatMap((limit) => (["code", "a model"] as const).map((caller) => ({ ...limit, caller })))

describe("C16, postures", () => {
  it.effect.each(callers)(
    "C16 a posture whose limit is $own under one of $global runs exactly $levels levels, called by $caller",
    ({ caller, global, levels, own }) => {
      const recorded = Sessions.recording(MemoryRunStore.make())
      return Effect.gen(function*() {
        if (caller === "code") {
          const { status } = yield* DelegateRuntime.run({ posture: "deep", task: "again" })
          assert.strictEqual(status, "success")
        } else {
          const lead = AgentBuilder.make("lead").withPostures().withSubagents([], { maxDepth: 9 })
          const { status } = yield* Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" }))
          assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
        }

        const model = yield* ScriptedModel.ScriptedModel
        const requests = yield* model.requestsOf("deep")
        const runs = 2 ** levels - 1
        const refusals = 2 ** levels
        assert.deepStrictEqual(
          [...new Set(requests.map(({ call }) => call.depth))].sort(),
          Array.from({ length: levels }, (_, index) => index + 1)
        )
        assert.lengthOf(requests, runs * 2)
        assert.deepStrictEqual(Sessions.ends(recorded.committed), Array(runs).fill("success"))
        assert.lengthOf(Trees.tagged(recorded.committed, "RunStarted"), caller === "code" ? runs : runs + 1)
        assert.lengthOf(Trees.tagged(recorded.committed, "DelegateRefused"), refusals)
        const refused = requests.filter(({ call, request }) => call.depth === levels && request.messages.length > 2)
        const message = `The posture "deep" would run at depth ${levels + 1}; the ${
          own === levels ? "posture" : "runtime"
        } allows ${levels}`
        for (const { request } of refused) {
          assert.deepStrictEqual(
            Trees.outputs(request),
            ["again", "again"].map(() => ({ error: { reason: "RecursionLimit", message } }))
          )
        }
        assert.lengthOf(refused, refusals / 2)
        yield* Trees.noViolations
      }).pipe(Effect.provide(Postures.runtime(
        [
          Postures.posture("deep", { allowedTools: ["delegate"], ...(own === undefined ? {} : { maxDepth: own }) })
        ],
        {
          lead: Script.optional([
            Step.calls(Step.call("delegate", { posture: "deep", task: "again" })),
            Step.text("done")
          ]),
          deep: eagerPosture
        },
        { cache: false, store: recorded.store, ...(global === undefined ? {} : { maxDepth: global }) }
      )))
    }
  )

  it.effect.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "C16 a maxDepth of %s is refused, of a runtime and of a posture",
    (maxDepth) =>
      Effect.gen(function*() {
        const runtime = yield* Effect.flip(Effect.provide(Effect.void, Postures.runtime([], {}, { maxDepth })))
        const posture = yield* Effect.flip(Posture.make(Postures.posture("deep", { maxDepth })))

        assert.strictEqual(
          runtime.message,
          `The maxDepth is not valid: it must be a positive whole number, not ${maxDepth}`
        )
        assert.deepStrictEqual(posture.problems, [
          { posture: "deep", field: "maxDepth", message: "Expected a positive whole number" }
        ])
      })
  )
})
