import { assert, describe, it } from "@effect/vitest"
import { Answer, AtMostOnce, type BoundAgent, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const Send = Tool.make("send", { success: Schema.String }).annotate(AtMostOnce, true)

type Clerk = BoundAgent.BoundAgent<{ readonly description: string }, string>
type Ended = Effect.Success<ReturnType<Clerk["run"]>>

const idsOf = (outcome: Ended) =>
  outcome._tag === "Suspended" ? outcome.pending.map(({ id }) => String(id)) : outcome._tag

describe.each(backings)("a call that must not run twice, in $name", ({ make, pass }) => {
  it.effect("is asked about again, each time under the next id, after every process that died amid it", () =>
    Effect.gen(function*() {
      let entered = 0
      const clerk = TypedAgent.text("clerk", { description: "Sends" })
        .withTools(Toolkit.make(Send), { send: () => Effect.andThen(Effect.sync(() => entered++), Effect.never) })
        .bind()
      const { die, next } = yield* Waiting.processes(yield* make, {
        clerk: [Step.calls(Step.call("send")), Step.text("done")]
      })
      const amid = (verb: (bound: Clerk) => Effect.Effect<Ended, unknown>) =>
        die(
          Effect.flatMap(clerk, (bound) =>
            Effect.andThen(Effect.forkChild(verb(bound), { startImmediately: true }), pass("1 second")))
        )
      const recover = next(Effect.gen(function*() {
        const bound = yield* clerk
        const running = yield* Effect.forkChild(bound.recover("t"), { startImmediately: true })
        yield* pass("1 minute")
        return idsOf(yield* Fiber.join(running))
      }))

      yield* amid((bound) => bound.run({ description: "x" }, { threadId: "t" }))
      const first = yield* recover
      yield* amid((bound) => bound.resume("t", [Answer.approve("0.0:uncertain0")]))
      const second = yield* recover
      yield* amid((bound) => bound.resume("t", [Answer.approve("0.0:uncertain1")]))
      const third = yield* recover
      const reply = Answer.replyUnknown("0.0:uncertain2", "sent by hand")
      const last = yield* next(Effect.flatMap(clerk, (bound) => bound.resume("t", [reply])))

      assert.deepStrictEqual([first, second, third], [["0.0:uncertain0"], ["0.0:uncertain1"], ["0.0:uncertain2"]])
      assert.strictEqual(entered, 3)
      assert.strictEqual(idsOf(last), "Reported")
    }))
})
