import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, type RunError } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")
const Pay = Waiting.gated("pay", { euros: Schema.Int })

describe("F08 An answer of a person", () => {
  it.effect.each(backings)(
    "F08 that is larger than 1 MiB is refused with its size, and may be given again ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const lead = AgentBuilder.make("lead").withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })
        const { next } = yield* Waiting.processes(yield* place, {
          lead: [Step.call("pay", { euros: 1 }), Step.text("done")]
        })
        const resume = (answer: Answer.Answer) =>
          next(Effect.flatMap(lead.build(), (agent) => agent.resume("t", [answer])))
        yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
        const error = yield* Effect.flip(resume(Answer.reject("0.0:approval0", "x".repeat(1024 * 1024))))
        const result = yield* resume(Answer.approve("0.0:approval0"))

        assert.deepInclude((error as RunError.RunError).reason, { _tag: "InvalidAnswer", id: "0.0:approval0" })
        assert.match(error.message, /it has 1048\d{3} bytes; at most 1048576 are allowed/)
        assert.strictEqual(result.status._tag, "Completed")
      })
  )
})

describe("F08 An input that is too large", () => {
  it.effect("F08 is refused with its size, in bytes of UTF-8, and nothing is written", () =>
    Effect.gen(function*() {
      const store = MemoryRunStore.make()
      const { next } = yield* Waiting.processes(store, { clerk: [Step.text("read")] })
      const run = (text: string) => next(Effect.flatMap(clerk.build(), (agent) => agent.run(text)))
      const error = yield* Effect.flip(run("\u20ac".repeat(3 * 1024 * 1024)))
      assert.deepStrictEqual(yield* store.list({ after: "", limit: 1 }), [])
      const result = yield* run("x".repeat(3 * 1024 * 1024))

      assert.strictEqual(error.message, "The input is not valid: it has 9437186 bytes; at most 8388608 are allowed")
      assert.strictEqual(result.status._tag, "Completed")
    }))
})
