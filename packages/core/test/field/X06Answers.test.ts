import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Options } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import { leaks, notPlain } from "../support/NotOptions.ts"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", { note: Schema.optionalKey(Schema.Unknown) })
const id = "0.0:approval0"

/** A run that waits for an approval. */
const waiting = Effect.fnUntraced(function*({ make }: (typeof backings)[number]) {
  const store = yield* make
  const { next } = yield* Waiting.processes(store, {
    clerk: Script.optional([Step.call("pay"), Step.text("done")])
  })
  const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })
  yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
  return {
    store,
    resume: (answers: unknown) => next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", answers as never)))
  }
})

const thrower = () => {
  throw new Error("secret-of-the-getter")
}
const nested = () => {
  let value: unknown = null
  for (let depth = 0; depth < 100_000; depth++) value = [value]
  return value
}
const circle: Array<unknown> = []
circle.push(circle)
const getter = (name: string, rest: object) =>
  Object.defineProperty({ ...rest }, name, { get: thrower, enumerable: true })

/** What is given in place of answers. */
const wrong: ReadonlyArray<readonly [what: string, answers: unknown]> = [
  ["nothing", undefined],
  ...notPlain.filter(([, value]) => !Array.isArray(value)).map(([given, value]) => [given, value] as const),
  ["no answer", []],
  ["a promise of an answer", [Promise.resolve(Answer.approve(id))]],
  ["a list that throws", new Proxy([], { get: thrower })],
  ["an id that throws", [getter("id", { _tag: "Approve" })]],
  ["a kind that throws", [getter("_tag", { id })]],
  ["a reason that throws", [getter("reason", { _tag: "Reject", id })]],
  ["arguments that throw inside", [Answer.edit(id, getter("note", {}))]],
  ["arguments that are nested without end", [Answer.edit(id, { note: nested() })]],
  ["arguments that hold themselves", [Answer.edit(id, { note: circle })]],
  ["arguments with a map", [Answer.edit(id, { note: new Map() })]],
  ["arguments that are none", [Answer.edit(id, undefined)]],
  ["an id of another kind", [Answer.approve(5 as never)]],
  ["an id that is missing", [Answer.approve(undefined as never)]],
  ["a reason of another kind", [Answer.reject(id, null as never)]],
  ["a reason that is misspelt", [{ _tag: "Reject", id, reson: "no" }]],
  ["a kind in another case", [{ _tag: "approve", id }]],
  ["an approval with arguments, which was meant to be an edit", [{ ...Answer.approve(id), arguments: { note: 1 } }]],
  ["an approval with a reason, which was meant to be a refusal", [{ ...Answer.approve(id), reason: "no" }]],
  ["an edit with a value", [{ ...Answer.edit(id, {}), value: 1 }]]
]

describe.each(backings)("X06 Answers, in $name", (backing) => {
  it.effect("X06 that are not valid are refused with their issues, and the run waits on", () =>
    Effect.gen(function*() {
      const { resume, store } = yield* waiting(backing)
      const before = [yield* store.load("t#0"), yield* store.events("t", 0)]
      for (const [what, answers] of wrong) {
        const refused = yield* Effect.flip(resume(answers))
        assert.strictEqual(refused._tag, "RunError", what)
        const { reason } = refused as { readonly reason: { readonly _tag: string } }
        assert.include(["InvalidInput", "InvalidAnswer"], reason._tag, what)
        assert.isFalse(leaks(refused.message), refused.message)
      }
      assert.deepStrictEqual([yield* store.load("t#0"), yield* store.events("t", 0)], before)
      assert.deepStrictEqual((yield* resume([Answer.approve(id)])).status, { _tag: "Completed", answer: "done" })
    }))
})

describe("X06 Answer.reply", () => {
  it("X06 throws InvalidOptions for what is no schema", () => {
    for (const schema of [undefined, null, 5, "string", {}, String]) {
      assert.throws(
        () => Answer.reply(id, schema as never, "x" as never),
        Options.InvalidOptions,
        /answer (must be a schema|is required)/
      )
    }
  })
})
