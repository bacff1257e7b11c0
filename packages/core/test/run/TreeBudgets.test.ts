import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type RunResult, type TreeBudget, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Tool.make("work", { success: Schema.String }), Waiting.gated("pay", {}))
const family = (ran: Array<string> = []) => {
  const handlers = {
    work: () => Effect.sync(() => `work ${ran.push("work")}`),
    pay: () => Effect.sync(() => `paid ${ran.push("pay")}`)
  }
  const grandchild = TypedAgent.text("grandchild", { description: "Works" }).withTools(tools, handlers)
  const child = TypedAgent.text("child", { description: "Delegates" }).withTools(tools, handlers)
    .withSubagents([grandchild])
  return AgentBuilder.make("top").withTools(tools, handlers)
    .withSubagents([child], { maxDepth: 2, maxConcurrentChildren: 3 })
}

const work = Step.call("work")
const task = (subagent: string) => Step.textTask(subagent, "go")

// Every response of a script uses 15 tokens unless it says otherwise.
const perResponse = 15

const run = Effect.fnUntraced(function*(
  make: (typeof backings)[number]["make"],
  scripts: Script.Scripts,
  treeBudget: TreeBudget.TreeBudget,
  ran: Array<string> = []
) {
  // A run that a budget ends leaves steps of its script over.
  const optional = Object.fromEntries(Object.entries(scripts).map(([id, script]) => [id, Script.optional(script)]))
  const { model, next } = yield* Waiting.processes(yield* make, optional)
  const result = yield* next(
    Effect.flatMap(family(ran).build(), (agent) => agent.run("Go", { threadId: "t", treeBudget }))
  )
  return { model, next, result }
})

const limitOf = ({ status }: RunResult.RunResult<unknown>) =>
  status._tag === "BudgetExceeded" ? status.limit : status._tag

describe.each(backings)("a budget of a whole tree, in $name", ({ make }) => {
  const deep: Script.Scripts = {
    top: [Step.calls(task("child"), task("child")), Step.text("done")],
    child: Script.each([Step.calls(task("grandchild")), Step.text("child done")]),
    grandchild: Script.each([Step.calls(work, work), Step.text("grandchild done")])
  }

  it.effect("changes nothing when it is enough to the last token, call and child", () =>
    Effect.gen(function*() {
      const whole = yield* run(make, deep, {})
      const { childRuns, inputTokens, outputTokens, toolCalls } = whole.result.usage.tree
      assert.strictEqual(childRuns, 4)
      assert.strictEqual(toolCalls, 8)
      const bounded = yield* run(make, deep, {
        maxTokens: inputTokens + outputTokens,
        maxToolCalls: toolCalls,
        maxChildRuns: childRuns
      })

      assert.deepStrictEqual(bounded.result, whole.result)
    }))

  it.effect("of tokens ends every run where it would call a model again, and starts none of its calls", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      // The responses of the top, two children and two grandchildren; the last of them crosses.
      const { model, result } = yield* run(make, deep, { maxTokens: 5 * perResponse - 1 }, ran)

      assert.strictEqual(limitOf(result), "treeTokens")
      assert.strictEqual(yield* model.calls, 5)
      assert.lengthOf(ran, 2)
      assert.strictEqual(result.usage.tree.inputTokens + result.usage.tree.outputTokens, 5 * perResponse)
    }))

  it.effect("of tokens is not used up by a response that just meets it", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const { result } = yield* run(make, { top: [work, Step.text("done")] }, { maxTokens: perResponse }, ran)

      assert.strictEqual(limitOf(result), "Completed")
      assert.lengthOf(ran, 1)
    }))

  it.effect("of tokens counts the attempts of a run that failed, for all others of its tree", () =>
    Effect.gen(function*() {
      const { model, result } = yield* run(make, {
        top: [Step.calls(task("child")), Step.text("done")],
        child: [Step.fail("authentication", { usage: { input: 40, output: 1 } })]
      }, { maxTokens: perResponse + 40 })

      assert.strictEqual(limitOf(result), "treeTokens")
      assert.strictEqual(yield* model.calls, 2)
    }))

  it.effect("of tool calls starts no batch that would cross it, anywhere in the tree", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      // Two tasks of the top, one of each child, one batch of two; the other batch would be the seventh and eighth.
      const { result } = yield* run(make, deep, { maxToolCalls: 7 }, ran)

      assert.lengthOf(ran, 2)
      assert.isAtMost(result.usage.tree.toolCalls, 7)
      assert.strictEqual(result.status._tag, "Completed")
    }))

  it.effect("of child runs refuses a task call as an error that its model reads", () =>
    Effect.gen(function*() {
      const { model, result } = yield* run(make, deep, { maxChildRuns: 3 })

      assert.strictEqual(result.status._tag, "Completed")
      assert.strictEqual(result.usage.tree.childRuns, 3)
      const heard = (yield* model.requestsOf("child")).filter(({ call }) => call.step === 1)
      assert.sameDeepMembers(
        heard.map(({ request }) => Trees.reasons(request)),
        [[undefined], ["TreeBudgetExceeded"]]
      )
    }))

  it.effect("goes on counting over suspension, other processes and pruned children", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const { next, result } = yield* run(
        make,
        {
          top: [
            Step.calls(task("child"), task("child")),
            Step.calls(Step.call("pay")),
            Step.calls(task("child")),
            Step.text("done")
          ],
          child: Script.each([Step.calls(work), Step.text("child done")])
        },
        { maxToolCalls: 6, maxChildRuns: 2 },
        ran
      )
      assert.strictEqual(result.status._tag, "Suspended")
      const last = yield* next(
        Effect.flatMap(family(ran).build(), (agent) => agent.resume("t", [Answer.approve("1.0:approval0")]))
      )

      // Five calls before the answer, one after it: the sixth is the task that no child run is left for.
      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      assert.strictEqual(last.usage.tree.toolCalls, 6)
      assert.strictEqual(last.usage.tree.childRuns, 2)
      assert.deepStrictEqual(ran, ["work", "work", "pay"])
    }))

  it.effect("counts a child that waited for a person once, and lets it go on", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const { model, next, result } = yield* run(
        make,
        {
          top: [Step.calls(task("child")), Step.text("done")],
          child: [Step.calls(Step.call("pay")), Step.text("child done")]
        },
        { maxChildRuns: 1 },
        ran
      )
      assert.strictEqual(result.status._tag, "Suspended")
      const last = yield* next(
        Effect.flatMap(family(ran).build(), (agent) => agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
      )

      assert.deepStrictEqual([limitOf(last), last.usage.tree.childRuns, ran], ["Completed", 1, ["pay"]])
      const [, after] = yield* model.requestsOf("top")
      assert.deepStrictEqual(Trees.outputs(after!.request), [{ report: "child done" }])
    }))

  it.effect("counts calls that wait for a person as started, in a child too", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const { next, result } = yield* run(
        make,
        {
          top: [Step.calls(task("child")), Step.calls(work), Step.text("done")],
          child: [Step.calls(Step.call("pay")), Step.text("child done")]
        },
        { maxToolCalls: 2 },
        ran
      )
      assert.strictEqual(result.status._tag, "Suspended")
      const last = yield* next(
        Effect.flatMap(family(ran).build(), (agent) => agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
      )

      assert.strictEqual(limitOf(last), "treeToolCalls")
      assert.deepStrictEqual(ran, ["pay"])
    }))

  it.effect.each(
    [
      [{ maxTokens: 0 }, "maxTokens must be a positive whole number, not 0"],
      [{ maxToolCalls: 1.5 }, "maxToolCalls must be a positive whole number, not 1.5"],
      [{ maxChildRuns: Number.POSITIVE_INFINITY }, "maxChildRuns must be a positive whole number, not Infinity"],
      [
        { maxRuns: 1 } as TreeBudget.TreeBudget,
        "there is no limit \"maxRuns\"; the limits are maxTokens, maxToolCalls, maxChildRuns"
      ]
    ] as const
  )("that is not valid is refused before anything is stored: %o", ([treeBudget, issue]) =>
    Effect.gen(function*() {
      const store = yield* make
      const { next } = yield* Waiting.processes(store, {})
      const { reason } = yield* next(
        Effect.flatMap(family().build(), (agent) => Effect.flip(agent.run("Go", { threadId: "t", treeBudget })))
      )

      assert.deepStrictEqual(reason, { _tag: "InvalidInput", field: "treeBudget", issues: [issue] })
      assert.deepStrictEqual(yield* store.thread("t"), [])
    }))
})

describe.each(backings)("a budget of a whole tree that sets no limit, in $name", ({ make }) => {
  it.effect.each([{}, { maxTokens: undefined }])("is none: %o", (treeBudget) =>
    Effect.gen(function*() {
      const { result } = yield* run(make, { top: [Step.text("done")] }, treeBudget as TreeBudget.TreeBudget)

      assert.strictEqual(limitOf(result), "Completed")
    }))
})

describe.each(backings)("a child that is cancelled while its sibling works, in $name", ({ make, pass }) => {
  it.effect("counts once, and its call hears so, where the budget of the tree is enough for both", () =>
    Effect.gen(function*() {
      const { model, next } = yield* Waiting.processes(yield* make, {
        top: [Step.calls(task("child"), Step.textTask("child", "wait")), Step.text("done")],
        child: Script.byInput((input) =>
          input === "wait" ? [Step.delay("1 minute", Step.text("worked"))] : [Step.calls(Step.call("pay"))]
        )
      })
      const { usage } = yield* next(Effect.gen(function*() {
        const agent = yield* family().build()
        const running = yield* Effect.forkChild(
          agent.run("Go", { threadId: "t", treeBudget: { maxChildRuns: 2 } }),
          { startImmediately: true }
        )
        yield* pass("1 second")
        yield* agent.cancel("t", { child: "t#0/0.0" })
        yield* pass("2 minutes")
        return yield* Fiber.join(running)
      }))

      const [, last] = yield* model.requestsOf("top")
      assert.deepStrictEqual(Trees.reasons(last!.request), ["Cancelled", undefined])
      assert.strictEqual(usage.tree.childRuns, 2)
      assert.strictEqual(usage.tree.modelCalls, 4)
    }))
})
