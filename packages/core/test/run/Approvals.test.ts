import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, AtMostOnce, MemoryRunStore, type RunStore, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as Models from "../support/Models.ts"
import * as Waiting from "../support/Waiting.ts"

const ids = (outcome: { readonly _tag: string; readonly pending?: ReadonlyArray<{ readonly id: string }> }) =>
  outcome.pending?.map(({ id }) => String(id))

const Refund = Schema.Struct({ cents: Schema.Int })

describe("an approval", () => {
  it.effect("is decided by the tool's policy on decoded arguments, once", () =>
    Effect.gen(function*() {
      const asked: Array<number> = []
      const refunded: Array<number> = []
      const tool = Tool.make("refund", {
        parameters: Refund,
        success: Schema.String,
        needsApproval: ({ cents }) => Effect.sync(() => asked.push(cents) > 0 && cents > 100)
      })
      const clerk = TypedAgent.text("clerk", { description: "Refunds" }).withTools(Toolkit.make(tool), {
        refund: ({ cents }) => Effect.sync(() => `refund ${refunded.push(cents)}`)
      })
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [
          Step.calls(
            ...[50, 500, 5000].map((cents) => Step.call("refund", { cents })),
            Step.call("refund", { cents: "x" })
          ),
          Step.text("done")
        ]
      })
      const first = yield* next(
        Effect.flatMap(clerk.bind(), (bound) => bound.run({ description: "x" }, { threadId: "t" }))
      )
      assert.deepStrictEqual(ids(first), ["0.1:approval0", "0.2:approval0"])
      const last = yield* next(Effect.flatMap(clerk.bind(), (bound) =>
        bound.resume("t", [Answer.approve("0.1:approval0"), Answer.edit("0.2:approval0", { cents: 7000 })])))

      assert.strictEqual(last._tag, "Reported")
      assert.deepStrictEqual(asked, [50, 500, 5000])
      assert.deepStrictEqual(refunded, [50, 500, 7000])
    }))

  it.effect("is asked for when the policy fails", () =>
    Effect.gen(function*() {
      const tool = Tool.make("refund", {
        parameters: Refund,
        success: Schema.String,
        needsApproval: () => Effect.die("no policy")
      })
      const clerk = TypedAgent.text("clerk", { description: "Refunds" }).withTools(Toolkit.make(tool), {
        refund: () => Effect.succeed("refunded")
      })
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [Step.calls(Step.call("refund", { cents: 1 }))]
      })

      const outcome = yield* next(Effect.flatMap(clerk.bind(), (bound) => bound.run({ description: "x" })))

      assert.deepStrictEqual(ids(outcome), ["0.0:approval0"])
    }))

  it.effect.each(
    [
      ["a promise", (): unknown => Promise.resolve(true)],
      ["nothing", (): unknown => undefined],
      ["an effect of nothing", (): unknown => Effect.void]
    ] as const
  )("is asked for, and a rejection holds, when code without types gives %s", ([, policy]) =>
    Effect.gen(function*() {
      const tool = Tool.make("refund", {
        parameters: Refund,
        success: Schema.String,
        needsApproval: policy as never
      })
      let refunds = 0
      const clerk = TypedAgent.text("clerk", { description: "Refunds" }).withTools(Toolkit.make(tool), {
        refund: () => Effect.sync(() => `refund ${++refunds}`)
      })
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [Step.calls(Step.call("refund", { cents: 1 })), Step.text("done")]
      })
      const waiting = yield* next(
        Effect.flatMap(clerk.bind(), (bound) => bound.run({ description: "x" }, { threadId: "t" }))
      )
      assert.deepStrictEqual(ids(waiting), ["0.0:approval0"])
      yield* next(
        Effect.flatMap(clerk.bind(), (bound) => bound.resume("t", [Answer.reject("0.0:approval0", "no")]))
      )

      assert.strictEqual(refunds, 0)
    }))

  it.effect("stays when a sibling fails the run, and comes back under its id when that is recovered", () =>
    Effect.gen(function*() {
      const gated = Waiting.gated("gated", {})
      const child = TypedAgent.text("child", { description: "Waits" }).withTools(Toolkit.make(gated), {
        gated: () => Effect.succeed("ran")
      })
      const broken = TypedAgent.text("broken", { description: "Fails" })
      const parent = AgentBuilder.make("parent").withSubagents([child, broken])
        .withChildFailure({ modelFailed: "fail-run" })
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        parent: [Step.calls(Step.textTask("child", "x"), Step.textTask("broken", "y"))],
        child: [Step.calls(Step.call("gated"))],
        broken: [Step.again(Step.fail("authentication"), Step.text("mended"))]
      })

      const failed = yield* next(
        Effect.flatMap(parent.build(), (agent) => Effect.flip(agent.run("Go", { threadId: "t" })))
      )
      const recovered = yield* next(Effect.flatMap(parent.build(), (agent) => agent.recover("t")))

      assert.strictEqual(failed.reason._tag, "ChildFailed")
      assert.deepStrictEqual(ids(recovered.status), ["0.0:child~0.0:approval0"])
    }))
})

describe("resume", () => {
  it.effect("refuses a thread that does not wait, and changes nothing", () =>
    Effect.gen(function*() {
      const parent = AgentBuilder.make("parent")
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), { parent: [Step.text("done")] })
      const refused = (threadId: string) =>
        next(Effect.flatMap(parent.build(), (agent) =>
          Effect.map(Effect.flip(agent.resume(threadId, [Answer.approve("0.0:approval0")])), ({ reason }) =>
            reason._tag)))
      yield* next(Effect.flatMap(parent.build(), (agent) =>
        agent.run("Go", { threadId: "t" })))

      assert.deepStrictEqual(yield* Effect.forEach(["t", "other", "t#0/0.0"], refused), [
        "NotSuspended",
        "UnknownThread",
        "ChildThread"
      ])
    }))

  it.effect("and run are refused as busy or pending by what the thread's run is at", () =>
    Effect.gen(function*() {
      const gated = Waiting.gated("gated", {})
      const agent = AgentBuilder.make("parent").withTools(Toolkit.make(gated), { gated: () => Effect.never })
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), { parent: [Step.calls(Step.call("gated"))] })
      const tags = yield* next(Effect.gen(function*() {
        const built = yield* agent.build()
        yield* built.run("Go", { threadId: "t" })
        const pending = yield* Effect.flip(built.run("Again", { threadId: "t" }))
        const nothing = yield* Effect.flip(built.recover("t"))
        const resuming = yield* Effect.forkChild(built.resume("t", [Answer.approve("0.0:approval0")]), {
          startImmediately: true
        })
        const busy = yield* Effect.flip(built.resume("t", [Answer.approve("0.0:approval0")]))
        yield* Fiber.interrupt(resuming)
        return [pending.reason, nothing.reason._tag, busy.reason._tag, (yield* built.status("t")).status._tag] as const
      }))

      assert.deepStrictEqual(tags, [
        { _tag: "PendingInterrupts", threadId: "t", pending: ["0.0:approval0"] },
        "NothingToRecover",
        "ThreadBusy",
        "Cancelled"
      ])
    }))
})

describe("a tool that must not run twice", () => {
  const Send = Tool.make("send", { success: Schema.String }).annotate(AtMostOnce, true)

  it.effect.each(
    [
      ["approve", Answer.approve("0.0:uncertain0"), 2, "sent"],
      ["reject", Answer.reject("0.0:uncertain0", "the mail was seen"), 1, "the mail was seen"],
      ["reply", Answer.replyUnknown("0.0:uncertain0", "sent by hand"), 1, "sent by hand"]
    ] as const
  )("waits for a person after a crash in its call: %s", ([, answer, times, result]) =>
    Effect.gen(function*() {
      let sent = 0
      const inner: RunStore.RunStore["Service"] = MemoryRunStore.make()
      // It dies after the start is recorded, that is amid the call.
      const first = CrashingStore.crashing(inner, 3)
      const model = yield* ScriptedModel.make({ clerk: [Step.calls(Step.call("send")), Step.text("done")] })
      const clerk = TypedAgent.text("clerk", { description: "Sends" }).withTools(Toolkit.make(Send), {
        send: () => Effect.sync(() => sent++ > -1 ? "sent" : "")
      })
      const on = (store: RunStore.RunStore["Service"], name: string) =>
        Layer.merge(TestRuntime.layerStore(store, name), Models.layerOf(model))
      const dying = yield* Effect.forkChild(
        Effect.flatMap(clerk.bind(), (bound) => bound.start({ description: "x" }, { threadId: "t" })).pipe(
          Effect.andThen(Effect.never),
          Effect.provide(on(first.store, "first"))
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.interrupt(dying)
      if (sent === 0) sent = 1

      const waiting = yield* Effect.flatMap(clerk.bind(), (bound) => bound.recover("t")).pipe(
        Effect.provide(on(inner, "second"))
      )
      const resumed = (answer: Answer.Answer) =>
        Effect.flatMap(clerk.bind(), (bound) => bound.resume("t", [answer])).pipe(Effect.provide(on(inner, "third")))
      const refused = yield* Effect.flip(resumed(Answer.edit("0.0:uncertain0", {})))
      const outcome = yield* resumed(answer)

      assert.deepStrictEqual(ids(waiting), ["0.0:uncertain0"])
      assert.include(refused.message, "Expected Answer.approve or Answer.reject or Answer.reply")
      assert.strictEqual(outcome._tag, "Reported")
      assert.strictEqual(sent, times)
      assert.include(JSON.stringify((yield* model.requests).at(-1)?.request.messages.at(-1)), result)
    }))
})
