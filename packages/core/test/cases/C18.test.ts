import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Budget, DelegateRuntime, MemoryRunStore, type Posture } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect } from "effect"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const reads = (count: number, ...text: ReadonlyArray<string>) =>
  Step.calls(...text, ...Array.from({ length: count }, () => Step.call("read")))

const report: Posture.PostureInput["report"] = {
  type: "object",
  properties: { count: { type: "integer" } },
  required: ["count"]
}

interface Case {
  readonly name: string
  readonly budget: Budget.Budget
  readonly posture?: Partial<Posture.PostureInput>
  readonly steps: ReadonlyArray<Step.Step>

  /** Model calls, and tools that ran. */
  readonly calls: readonly [model: number, tools: number]
  readonly tokensUsed: number
  readonly ended: object

  /** What a model reads that made the call. */
  readonly told: unknown
}

const exceeded = (limit: "tokens" | "toolCalls") => ({ _tag: "BudgetExceeded", limit })

const overBudget = (what: string) => ({
  error: { reason: "BudgetExceeded", message: `The subagent used up its budget of ${what}` }
})

const cases: ReadonlyArray<Case> = [
  {
    name: "4 and 4 calls with a limit of 6: the second batch is not started at all",
    budget: { maxToolCalls: 6 },
    steps: [reads(4), reads(4, "More to read")],
    calls: [2, 4],
    tokensUsed: 30,
    ended: { status: "partial", result: "More to read", error: exceeded("toolCalls") },
    told: overBudget("tool calls")
  },
  {
    name: "7 calls at once with a limit of 6",
    budget: { maxToolCalls: 6 },
    steps: [reads(7)],
    calls: [1, 0],
    tokensUsed: 15,
    ended: { status: "partial", result: "", error: exceeded("toolCalls") },
    told: overBudget("tool calls")
  },
  {
    name: "exactly 6 calls, 4 and 2, and then an answer",
    budget: { maxToolCalls: 6 },
    steps: [reads(4), reads(2), Step.text("Read it all")],
    calls: [3, 6],
    tokensUsed: 45,
    ended: { status: "success", result: "Read it all" },
    told: { report: "Read it all" }
  },
  {
    name: "the response that crosses the limit of tokens is the last, and its calls do not run",
    budget: { maxTokens: 20 },
    steps: [reads(1), Step.withUsage(reads(3, "On it"), { input: 1000, output: 234 })],
    calls: [2, 1],
    tokensUsed: 1249,
    ended: { status: "partial", result: "On it", error: exceeded("tokens") },
    told: overBudget("tokens")
  },
  {
    name: "exactly all tokens are not too many",
    budget: { maxTokens: 30 },
    steps: [reads(1), Step.text("Read it")],
    calls: [2, 1],
    tokensUsed: 30,
    ended: { status: "success", result: "Read it" },
    told: { report: "Read it" }
  },
  {
    name: "an answer that crosses the limit of tokens is kept",
    budget: { maxTokens: 29 },
    steps: [reads(1), Step.text("Read it")],
    calls: [2, 1],
    tokensUsed: 30,
    ended: { status: "partial", result: "Read it", error: exceeded("tokens") },
    told: { report: "Read it" }
  },
  {
    name: "a posture with a report schema gives no text as its result",
    budget: { maxToolCalls: 1 },
    posture: { report },
    steps: [reads(2, "{\"count\":1}")],
    calls: [1, 0],
    tokensUsed: 15,
    ended: { status: "partial", result: undefined, error: exceeded("toolCalls") },
    told: overBudget("tool calls")
  },
  {
    name: "a report that crosses the limit of tokens is kept, decoded",
    budget: { maxTokens: 29 },
    posture: { report },
    steps: [reads(1, "I count"), Step.calls("Done", Step.report({ count: 1 }))],
    calls: [2, 1],
    tokensUsed: 30,
    ended: { status: "partial", result: { count: 1 }, error: exceeded("tokens") },
    told: { report: { count: 1 } }
  },
  {
    name: "a report that does not decode and crosses the limit of tokens is none",
    budget: { maxTokens: 29 },
    posture: { report },
    steps: [reads(1, "I count"), Step.calls("Done", Step.report({ count: "one" }))],
    calls: [2, 1],
    tokensUsed: 30,
    ended: { status: "partial", result: undefined, error: exceeded("tokens") },
    told: overBudget("tokens")
  }
]

// A limit counts the same whoever sets it.
const setters = ["the posture", "the call"] as const
const all = cases.flatMap((one) => setters.map((setter) => ({ ...one, setter })))

const worker = ({ budget, posture, setter }: (typeof all)[number]) =>
  Postures.posture("worker", { ...posture, ...(setter === "the posture" ? { budget } : {}) })

describe("C18 A budget that is crossed", () => {
  it.effect.each(all)("C18 $name, by the limit of $setter", (one) => {
    const { budget, calls: [asked, toolCallsUsed], ended, setter, steps, tokensUsed } = one
    const ran: Array<string> = []
    const recorded = Sessions.recording(MemoryRunStore.make())
    return Effect.gen(function*() {
      const result = yield* DelegateRuntime.run({
        posture: "worker",
        task: "Read",
        ...(setter === "the call" ? { overrides: budget } : {})
      })

      const { elapsed: _, postureName: __, postureVersion: ___, ...rest } = result
      assert.deepStrictEqual(rest, { ...ended, tokensUsed, toolCallsUsed, subSessionId: "thread-1", depth: 1 } as never)
      assert.lengthOf(ran, toolCallsUsed)
      assert.strictEqual(yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.calls), asked)
      assert.deepStrictEqual(Sessions.ends(recorded.committed), [result.status])
      const [complete] = Trees.tagged(recorded.committed, "DelegateComplete")
      assert.deepInclude(complete, { tokensUsed, toolCallsUsed })
      yield* Trees.noViolations
    }).pipe(Effect.provide(Postures.runtime([worker(one)], { worker: steps }, { ran, store: recorded.store })))
  })

  it.effect.each(all)("C18 $name, by the limit of $setter, for a model that delegates", (one) => {
    const { budget, calls: [asked, toolCalls], ended, setter, steps, told, tokensUsed } = one
    const ran: Array<string> = []
    const set = setter === "the call" ? budget as { readonly maxTokens?: number; readonly maxToolCalls?: number } : {}
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withPostures().build()
      const { status, usage } = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, after] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(Trees.outputs(after!.request), [told])
      assert.lengthOf(ran, toolCalls)
      assert.lengthOf(yield* model.requestsOf("worker"), asked)
      assert.deepStrictEqual(
        [usage.tree.inputTokens + usage.tree.outputTokens, usage.tree.toolCalls],
        [tokensUsed + 30, toolCalls + 1]
      )
      const events = yield* Trees.durableEvents("t")
      assert.deepStrictEqual<unknown>(Sessions.ends(events), ["status" in ended ? ended.status : ""])
      yield* Trees.noViolations
    }).pipe(Effect.provide(Postures.runtime([worker(one)], {
      lead: [Step.calls(Step.call("delegate", { posture: "worker", task: "Read", ...set })), Step.text("done")],
      worker: steps
    }, { ran })))
  })
})
