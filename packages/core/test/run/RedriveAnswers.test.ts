import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Ref, Schema, type Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as Models from "../support/Models.ts"
import * as Waiting from "../support/Waiting.ts"

const thread = "t"
const Pay = Waiting.gated("pay", { amount: Schema.Int })
const Ask = Tool.make("ask", { success: Schema.String })
const Note = Tool.make("note", { success: Schema.String })

/** A parent with two children at once, of which one delegates further; approvals and a question at every level. */
const family = (onTool: Effect.Effect<void, never, ToolContext.ToolContext>) => {
  const tools = Toolkit.make(Pay, Ask, Note)
  const handlers = {
    pay: ({ amount }: { readonly amount: number }) => Effect.as(onTool, `paid ${amount}`),
    ask: () => Effect.tap(ToolContext.ask("How much?", { answer: Schema.String }), () => onTool),
    note: () => Effect.as(Effect.andThen(onTool, Effect.sleep(2)), "noted")
  }
  const grandchild = TypedAgent.text("grandchild", { description: "Pays" }).withTools(tools, handlers)
  const child = TypedAgent.text("child", { description: "Asks" }).withTools(tools, handlers)
    .withSubagents([grandchild])
  const agent = AgentBuilder.make("parent").withTools(tools, handlers).withSubagents([child], {
    maxDepth: 2,
    maxConcurrentChildren: 1
  })
  const pay = (amount: number) => Step.call("pay", { amount })
  const scripts: Script.Scripts = {
    parent: [
      Step.calls(Step.textTask("child", "ask"), Step.call("note"), Step.textTask("child", "delegate"), pay(1)),
      Step.text("done")
    ],
    child: Script.byInput((input) =>
      input === "ask"
        ? [Step.calls(Step.call("ask"), Step.call("note")), Step.text("asked")]
        : [Step.calls(Step.textTask("grandchild", "x"), pay(2)), Step.text("delegated")]
    ),
    grandchild: Script.each([Step.calls(Step.call("note")), Step.calls(pay(3), pay(4)), Step.text("paid")])
  }
  return { agent, scripts }
}

interface Left {
  readonly history: unknown
  readonly counts: ReadonlyMap<string, number>
  readonly writes: number
}

/**
 * Lives the whole story, each act in a process of its own: run, then one answer
 * after the other. The process that makes the `n`th write dies of it, and the
 * next one goes on from the store.
 */
const live = Effect.fnUntraced(function*(
  { make, pass }: Backing,
  n: number
): Effect.fn.Return<Left, unknown, Scope.Scope> {
  const counts = yield* Ref.make<ReadonlyMap<string, number>>(new Map())
  const count = (key: string) => Ref.update(counts, (all) => new Map(all).set(key, (all.get(key) ?? 0) + 1))
  const { agent, scripts } = family(
    Effect.flatMap(ToolContext.ToolContext, (call) => count(`tool ${call.idempotencyKey}`))
  )
  const inner = yield* make
  const model = yield* ScriptedModel.make(scripts)
  let writes = 0

  for (let process = 0; process < 40; process++) {
    const { store, writes: written } = CrashingStore.crashing(inner, n > writes ? n - writes : Number.POSITIVE_INFINITY)
    const act = Effect.gen(function*() {
      const built = yield* agent.build()
      const standing = yield* Effect.option(built.status(thread))
      if (standing._tag === "None") return yield* Effect.as(built.run("Go", { threadId: thread }), false)
      const { status } = standing.value
      if (status._tag === "Running") return yield* Effect.as(built.recover(thread), false)
      if (status._tag !== "Suspended") return true
      const [first] = status.pending
      const answer = first?.request._tag === "Question"
        ? Answer.reply(first.id, Schema.String, "twelve")
        : Answer.approve(String(first?.id))
      return yield* Effect.as(built.resume(thread, [answer]), false)
    })
    const running = yield* Effect.forkChild(
      act.pipe(
        Effect.provide(Layer.merge(
          TestRuntime.layerStore(store, `process-${process}`),
          StrictProvider.layer(ScriptedModel.layerOf(model))
        ))
      ),
      { startImmediately: true }
    )
    yield* pass("1 minute")
    const exit = running.pollUnsafe()
    if (exit === undefined) yield* Fiber.interrupt(running)
    else if (yield* Fiber.join(running)) break
    writes += written()
  }
  const history = yield* Effect.flatMap(agent.build(), (built) => built.history(thread)).pipe(
    Effect.provide(Layer.merge(TestRuntime.layerStore(inner, "reader"), Models.layerOf(model)))
  )
  return { history, counts: yield* Ref.get(counts), writes }
})

describe.each(backings)("a run that waits for people at every level, in $name", (backing) => {
  it.effect("comes out the same wherever a process dies", () =>
    Effect.gen(function*() {
      const whole = yield* Effect.scoped(live(backing, Number.POSITIVE_INFINITY))
      assert.lengthOf(whole.history as ReadonlyArray<unknown>, 1)
      assert.deepStrictEqual([...whole.counts.values()], Array.from(whole.counts, () => 1))
      assert.isAbove(whole.writes, 30)

      for (let n = 1; n <= whole.writes; n++) {
        const again = yield* Effect.scoped(live(backing, n))

        assert.deepStrictEqual(again.history, whole.history, `history after a crash at write ${n}`)
        assert.sameMembers([...again.counts.keys()], [...whole.counts.keys()])
        // One write is lost at most, and with it the record of the calls in flight then.
        for (const [call, times] of again.counts) assert.isAtMost(times, 2, `${call} after a crash at write ${n}`)
      }
    }), 30_000)
})
