import { assert, describe, it } from "@effect/vitest"
import { Answer, AtMostOnce, DelegateRuntime, type Posture, ToolCatalog } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const pay = Step.calls("Paying", Step.call("pay", { euros: 1 }))
const reads = Step.calls("Reading", Step.call("read"), Step.call("read"))

interface Case {
  readonly name: string
  readonly limits: { readonly maxTokens?: number; readonly maxToolCalls?: number }

  /** What the posture's model says once a person has approved the first call. */
  readonly later: ReadonlyArray<Step.Step>
  readonly ended: object
  readonly told: string | undefined
}

const cases: ReadonlyArray<Case> = [
  {
    name: "tool calls",
    limits: { maxToolCalls: 2 },
    later: [reads],
    ended: { status: "partial", result: "Reading", tokensUsed: 30, toolCallsUsed: 1 },
    told: "BudgetExceeded"
  },
  {
    name: "tokens",
    limits: { maxTokens: 29 },
    later: [reads],
    ended: { status: "partial", result: "Reading", tokensUsed: 30, toolCallsUsed: 1 },
    told: "BudgetExceeded"
  },
  {
    name: "tokens, crossed by the answer itself",
    limits: { maxTokens: 29 },
    later: [Step.text("done")],
    ended: { status: "partial", result: "done", tokensUsed: 30, error: { _tag: "BudgetExceeded", limit: "tokens" } },
    told: undefined
  },
  {
    name: "more than the posture has by then",
    limits: { maxToolCalls: 3 },
    later: [reads, Step.text("done")],
    ended: { status: "success", result: "done", tokensUsed: 45, toolCallsUsed: 3 },
    told: undefined
  }
]

/** A posture that is edited while a run of it waits: what it allows by then is neither what the run had nor asked for. */
const before = posture("payer", { budget: { maxTokens: 1000, maxToolCalls: 100 } })
const after = posture("payer", {
  instructions: "You pay less.",
  budget: { maxTokens: 1, maxToolCalls: 1 },
  ceiling: { maxTokens: 1, maxToolCalls: 1 }
})

describe.each(backings)("the budget of a posture's run that waits for a person, in $name", ({ make }) => {
  const play = Effect.fnUntraced(function*(scripts: Script.Scripts) {
    const store = yield* make
    const model = yield* ScriptedModel.make(scripts)
    const next = (instance: string, postures: ReadonlyArray<Posture.PostureInput>) =>
      Effect.provide(PostureLives.process(store, instance, model, postures))
    return { model, next }
  })

  it.effect.each(cases)(
    "P4 is what its call set, and counts what was used before: $name",
    ({ ended, later, limits }) =>
      Effect.gen(function*() {
        const { next } = yield* play({ payer: [pay, ...later] })
        const first = yield* next("first", [before])(
          DelegateRuntime.run({ posture: "payer", task: "Pay", overrides: limits })
        )
        const last = yield* next("second", [after])(
          DelegateRuntime.resume(first.subSessionId, [Answer.approve("0.0:approval0")])
        )

        assert.deepInclude(first, { status: "suspended", tokensUsed: 15 })
        assert.deepInclude(last, { ...ended, postureVersion: first.postureVersion })
      })
  )

  it.effect.each(cases)(
    "P4 is what a model set for it: $name",
    ({ later, limits, told }) =>
      Effect.gen(function*() {
        const { model, next } = yield* play({
          lead: [Step.calls(Step.call("delegate", { posture: "payer", task: "Pay", ...limits })), Step.text("led")],
          payer: [pay, ...later]
        })
        yield* next("first", [before])(
          Effect.flatMap(PostureLives.lead.build(), (lead) => lead.run("Go", { threadId: "t" }))
        )
        const last = yield* next("second", [after])(Effect.flatMap(
          PostureLives.lead.build(),
          (lead) => lead.resume("t", [Answer.approve("0.0:child~0.0:approval0")])
        ))

        assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "led" })
        const [, heard] = yield* model.requestsOf("lead")
        assert.deepStrictEqual(Trees.reasons(heard!.request), [told])
      })
  )
})

describe.each(backings)("a tool of the catalog that must not run twice, in $name", ({ make, pass }) => {
  it.effect("waits for a person after a crash in its call", () =>
    Effect.gen(function*() {
      const Send = Tool.make("send", { success: Schema.String }).annotate(AtMostOnce, true)
      let sent = 0
      const sending = ToolCatalog.add(Toolkit.make(Send), {
        send: () => Effect.andThen(Effect.sync(() => ++sent), Effect.never)
      })
      const store = yield* make
      const first = CrashingStore.crashing(store, Number.POSITIVE_INFINITY)
      const model = yield* ScriptedModel.make({ sender: [Step.calls(Step.call("send")), Step.text("done")] })
      const postures = [posture("sender", { allowedTools: ["send"] })]
      const dying = yield* Effect.forkChild(
        sending.pipe(
          // Nobody interrupts the call: it would be a cancel, and dead processes do not say goodbye.
          Effect.andThen(Effect.forkDetach(DelegateRuntime.run({ posture: "sender", task: "Send" }))),
          Effect.andThen(Effect.never),
          Effect.provide(PostureLives.process(first.store, "first", model, postures))
        ),
        { startImmediately: true }
      )
      yield* pass("1 minute")
      first.kill()
      yield* Fiber.interrupt(dying)
      const [waiting, last] = yield* Effect.gen(function*() {
        yield* sending
        const recovering = yield* Effect.forkChild(DelegateRuntime.recover("thread-1"), { startImmediately: true })
        yield* pass("2 minutes")
        const waiting = yield* Fiber.join(recovering)
        const answer = Answer.replyUnknown("0.0:uncertain0", "sent by hand")
        return [waiting, yield* DelegateRuntime.resume("thread-1", [answer])] as const
      }).pipe(Effect.provide(PostureLives.process(store, "second", model, postures)))

      assert.strictEqual(waiting.status, "suspended")
      assert.deepInclude(last, { status: "success", result: "done", toolCallsUsed: 1 })
      assert.strictEqual(sent, 1)
      assert.deepStrictEqual(Trees.outputs((yield* model.requests).at(-1)!.request), ["sent by hand"])
    }))
})
