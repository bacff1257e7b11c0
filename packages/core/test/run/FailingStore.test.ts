import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, RunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", {})
const Note = Tool.make("note", { success: Schema.String })
const writes = ["open", "create", "append", "suspend", "settle", "reopen", "answer"]
const reads = ["load", "thread", "children", "isHeld", "lease"]

const scripts: Script.Scripts = {
  lead: Script.optional([Step.calls(Step.textTask("child", "x"), Step.call("note")), Step.text("done")]),
  child: Script.optional([Step.calls(Step.textTask("grandchild", "y"), Step.call("note")), Step.text("asked")]),
  grandchild: Script.optional([Step.calls(Step.call("note")), Step.calls(Step.call("pay")), Step.text("paid")])
}

/**
 * Runs a tree and answers what it waits for, in one process, while the `n`th of some operations fails; another one then
 * goes on.
 */
const live = Effect.fnUntraced(function*({ make }: Backing, operations: ReadonlyArray<string>, n: number) {
  const inner = yield* make
  const counts = new Map<string, number>()
  const count = Effect.map(ToolContext.idempotencyKey, (key) => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return "did"
  })
  const tools = Toolkit.make(Pay, Note)
  const handlers = { pay: () => count, note: () => count }
  const grandchild = TypedAgent.text("grandchild", { description: "Pays" }).withTools(tools, handlers)
  const child = TypedAgent.text("child", { description: "Asks" }).withTools(tools, handlers).withSubagents([grandchild])
  const lead = AgentBuilder.make("lead").withTools(tools, handlers).withSubagents([child], { maxDepth: 2 })

  let written = 0
  let failed = "none"
  const failing = Trees.around(inner, (name, done) =>
    Effect.suspend(() => {
      if (!operations.includes(name) || ++written !== n) return done
      failed = name
      return Effect.fail(new RunStore.StoreError({ operation: name }))
    }))
  const model = yield* ScriptedModel.make(scripts)
  const approve = [Answer.approve("0.0:child~0.0:child~1.0:approval0")]
  const act = Effect.gen(function*() {
    const agent = yield* lead.build()
    yield* agent.run("Go", { threadId: "t" })
    return yield* agent.resume("t", approve)
  })

  const process = Waiting.processesOf(failing, model)
  const seen = yield* process.next(Effect.gen(function*() {
    const result = yield* Effect.result(act)
    const agent = yield* lead.build()
    const standing = yield* Effect.option(agent.status("t"))
    // The other process comes while this one is there, and renews its leases.
    yield* Waiting.processesOf(inner, model).next(Effect.gen(function*() {
      const other = yield* lead.build()
      for (let tries = 0; tries < 3; tries++) {
        const next = yield* Effect.option(other.status("t"))
        if (next._tag === "None") yield* other.run("Go", { threadId: "t" })
        else if (next.value.status._tag === "Suspended") yield* other.resume("t", approve)
        else if (next.value.status._tag !== "Completed") yield* other.recover("t")
      }
    }))
    return {
      error: result._tag === "Failure" && result.failure._tag === "RunError" ? result.failure.reason : undefined,
      standing: standing._tag === "Some" ? standing.value.status._tag : "none"
    }
  }))
  const history = yield* Waiting.processesOf(inner, model).next(
    Effect.flatMap(lead.build(), (agent) => agent.history("t"))
  )
  return { ...seen, failed, history, counts, written }
})

const standings: { readonly [operation: string]: string } = { none: "Completed", open: "none", answer: "Suspended" }

describe.each(backings)("a write that fails once, in $name", (backing) => {
  it.effect("fails the run, and another process goes on at once, as if nothing had happened", () =>
    Effect.gen(function*() {
      const whole = yield* live(backing, writes, Infinity)
      assert.lengthOf(whole.history, 1)
      assert.isAbove(whole.written, 20)

      for (let n = 1; n <= whole.written; n++) {
        const { counts, error, failed, history, standing } = yield* live(backing, writes, n)

        const where = `write ${n}, ${failed}`
        assert.strictEqual(error?._tag, "StoreFailed", where)
        assert.strictEqual(standing, standings[failed] ?? "Failed", where)
        assert.deepStrictEqual(history, whole.history, where)
        assert.sameMembers([...counts.keys()], [...whole.counts.keys()], where)
        // Only the call whose record was not written runs again.
        assert.isAtMost([...counts.values()].filter((times) => times > 1).length, failed === "append" ? 1 : 0, where)
      }
    }))
})

describe.each(backings)("a read that fails once, in $name", (backing) => {
  it.effect("leaves no run with a process that does not drive it", () =>
    Effect.gen(function*() {
      const whole = yield* live(backing, reads, Infinity)
      for (let n = 1; n <= whole.written; n++) {
        const { counts, error, failed, history } = yield* live(backing, reads, n)

        const where = `read ${n}, ${failed}`
        assert.include(["StoreFailed", undefined], error?._tag, where)
        assert.deepStrictEqual(history, whole.history, where)
        assert.sameMembers([...counts.keys()], [...whole.counts.keys()], where)
        assert.isTrue([...counts.values()].every((times) => times === 1), where)
      }
    }))
})
