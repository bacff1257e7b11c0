import { assert, describe, it } from "@effect/vitest"
import { DelegateRuntime } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Exit, Fiber, Latch } from "effect"
import { backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const delegate = (task: string) => Step.call("delegate", { posture: "worker", task })

const scripts: Script.Scripts = {
  deep: Script.optional([Step.calls(delegate("a"), delegate("b"), delegate("a")), Step.text("dug")]),
  worker: Script.optional(Script.each([Step.calls(Step.call("read")), Step.delay(5, Step.text("worked"))])),
  broken: Script.optional([Step.fail("authentication")])
}

const postures = [posture("deep", { allowedTools: ["delegate"] }), posture("worker"), posture("broken")]

const moments = ["before", "after"] as const

describe.each(backings)("a call from code that is interrupted, in $name", ({ make, pass }) => {
  /** Interrupts a call right before or after the store's `n`th operation. */
  const play = Effect.fnUntraced(function*(name: string, moment: (typeof moments)[number], n: number) {
    const recorded = Sessions.recording(yield* make)
    const reached = yield* Latch.make()
    let operations = 0
    const store = Trees.around(recorded.store, (_, done) =>
      Effect.suspend(() => {
        if (++operations !== n) return done
        return moment === "before" ? Effect.andThen(reached.open, done) : Effect.tap(done, () => reached.open)
      }))
    const model = yield* ScriptedModel.make(scripts)
    const exit = yield* Effect.gen(function*() {
      const running = yield* Effect.forkChild(DelegateRuntime.run({ posture: name, task: "Work" }), {
        startImmediately: true
      })
      yield* Effect.forkChild(Effect.andThen(reached.await, Fiber.interrupt(running)), { startImmediately: true })
      yield* pass("1 minute")
      return yield* Fiber.await(running)
    }).pipe(Effect.provide(PostureLives.process(store, "process", model, postures)))
    const open = yield* recorded.store.list({ after: "", limit: 10 })
    return { exit, operations, committed: recorded.committed, open }
  })

  it.effect.each(["worker", "deep", "broken"].flatMap((name) => moments.map((moment) => [name, moment] as const)))(
    "P6 has its one complete and leaves nothing open, whenever it happens: %s, %s each operation of the store",
    ([name, moment]) =>
      Effect.gen(function*() {
        const whole = yield* Effect.scoped(play(name, moment, Number.POSITIVE_INFINITY))
        assert.isTrue(Exit.isSuccess(whole.exit))
        assert.notInclude(Sessions.ends(whole.committed), "cancelled")

        const seen = new Set<string>()
        for (let n = 1; n <= whole.operations; n++) {
          const { committed, exit, open } = yield* Effect.scoped(play(name, moment, n))
          assert.deepStrictEqual(open, [], `open after operation ${n}`)
          assert.isTrue(Exit.isSuccess(exit) || Exit.hasInterrupts(exit), `the end after operation ${n}`)
          const ends = Sessions.ends(committed)
          for (const end of ends) seen.add(end)
          // A caller that got no value hears that its run was cancelled, or that it had just come to its end.
          if (name === "worker" && Exit.hasInterrupts(exit) && ends.length > 0 && n < whole.operations) {
            assert.deepStrictEqual(ends, ["cancelled"], `the end after operation ${n}`)
          }
        }
        if (name !== "broken") assert.include([...seen], "cancelled")
      })
  )
})

describe.each(backings)("a call from code that another process works on, in $name", ({ make, pass }) => {
  it.effect("is busy for one that would recover it, and is taken over by force alone", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make({
        worker: Script.optional([Step.again(Step.hang(), Step.text("worked"))])
      })
      const begun = <A, E>(instance: string, effect: Effect.Effect<A, E, PostureLives.Services>) =>
        Effect.forkChild(Effect.provide(effect, PostureLives.process(store, instance, model, postures)), {
          startImmediately: true
        })
      const first = yield* begun("first", Effect.exit(DelegateRuntime.run({ posture: "worker", task: "Work" })))
      yield* pass("1 second")
      const [open] = yield* store.list({ after: "", limit: 10 })
      const second = yield* begun("second", Effect.flip(DelegateRuntime.recover(open!.threadId)))
      yield* pass("1 minute")
      const third = yield* begun("third", DelegateRuntime.recover(open!.threadId, { force: true }))
      yield* pass("1 minute")

      assert.strictEqual((yield* Fiber.join(second)).reason._tag, "ThreadBusy")
      assert.deepInclude(yield* Fiber.join(third), { status: "success", result: "worked" })
      yield* Fiber.interrupt(first)
    }))
})
