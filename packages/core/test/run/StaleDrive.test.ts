import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Tool.make("work", { success: Schema.String }))

// What works never ends in its first lives; in its others it asks.
const workers = (first = 1) => {
  let lives = 0
  const handlers = {
    work: () =>
      Effect.suspend(() => lives++ < first ? Effect.never : ToolContext.ask("Well?", { answer: Schema.String }))
  }
  const child = TypedAgent.text("child", { description: "Works" }).withTools(tools, handlers)
  return {
    alone: AgentBuilder.make("top").withTools(tools, handlers),
    delegating: AgentBuilder.make("top").withSubagents([child])
  }
}

const setUp = Effect.fnUntraced(function*({ make }: Backing, first: Step.Step) {
  const store = yield* make
  const model = yield* ScriptedModel.make({
    top: Script.optional(Script.each([first, Step.text("done")])),
    child: Script.optional(Script.each([Step.calls(Step.call("work")), Step.text("worked")]))
  })
  return { one: Waiting.processesOf(store, model), two: Waiting.processesOf(store, model) }
})

const answer = (id: string) => [Answer.reply(id, Schema.String, "well")]

describe.each(backings)("a process whose run was taken over amid a call that never ends, in $name", (backing) => {
  it.effect.each(
    [
      ["of its own", "alone", Step.calls(Step.call("work")), "0.0:question0"],
      ["of a child", "delegating", Step.calls(Step.textTask("child", "x")), "0.0:child~0.0:question0"]
    ] as const
  )("goes on with it when it is asked to: a call %s", ([, name, first, question]) =>
    Effect.gen(function*() {
      const agent = workers()[name]
      const { one, two } = yield* setUp(backing, first)
      const [waiting, resumed, lost] = yield* one.next(Effect.gen(function*() {
        const here = yield* agent.build()
        const started = yield* here.start("Go", { threadId: "t" })
        const awaiting = yield* Effect.forkChild(Effect.result(started.await), { startImmediately: true })
        yield* backing.pass("1 second")
        const waiting = yield* two.next(Effect.flatMap(agent.build(), (there) => there.recover("t", { force: true })))
        const resuming = yield* Effect.forkChild(here.resume("t", answer(question)), { startImmediately: true })
        yield* backing.pass("1 second")
        return [waiting, yield* Fiber.join(resuming), yield* Fiber.join(awaiting)] as const
      }))

      assert.deepStrictEqual(
        waiting.status._tag === "Suspended" && waiting.status.pending.map(({ id }) => String(id)),
        [
          question
        ]
      )
      assert.deepStrictEqual(resumed.status, { _tag: "Completed", answer: "done" })
      // It was given up when the new drive began, and the run had not ended then.
      assert.strictEqual(lost._tag === "Failure" && lost.failure.reason._tag, "ThreadBusy")
    }))

  it.effect("recovers it when the other process is gone too", () =>
    Effect.gen(function*() {
      const agent = workers(2).alone
      const { one, two } = yield* setUp(backing, Step.calls(Step.call("work")))
      const statuses = yield* one.next(Effect.gen(function*() {
        const here = yield* agent.build()
        yield* here.start("Go", { threadId: "t" })
        yield* backing.pass("1 second")
        yield* two.die(Effect.gen(function*() {
          const there = yield* agent.build()
          yield* Effect.forkScoped(Effect.ignore(there.recover("t", { force: true })), { startImmediately: true })
          yield* backing.pass("1 second")
          return assert.strictEqual((yield* Effect.flip(here.forget("t"))).reason._tag, "ThreadBusy")
        }))
        const recovering = yield* Effect.forkChild(here.recover("t"), { startImmediately: true })
        yield* backing.pass("1 minute")
        return [(yield* here.status("t")).status._tag, (yield* Fiber.join(recovering)).status._tag]
      }))

      assert.deepStrictEqual(statuses, ["Suspended", "Suspended"])
    }))

  it.effect("does not end it when the time that it had here is over", () =>
    Effect.gen(function*() {
      const agent = workers().alone.withBudget({ timeout: "1 minute" })
      const { one, two } = yield* setUp(backing, Step.calls(Step.call("work")))
      const [status, awaited] = yield* one.next(Effect.gen(function*() {
        const here = yield* agent.build()
        const started = yield* here.start("Go", { threadId: "t" })
        const awaiting = yield* Effect.forkChild(started.await, { startImmediately: true })
        yield* backing.pass("30 seconds")
        yield* two.next(Effect.flatMap(agent.build(), (there) => there.recover("t", { force: true })))
        yield* backing.pass("1 hour")
        const exit = awaiting.pollUnsafe()
        return [(yield* here.status("t")).status, exit?._tag === "Success" && exit.value.status] as const
      }))

      assert.strictEqual(status._tag, "Suspended")
      // Who waits for the drive here is told then at the latest.
      assert.deepStrictEqual<unknown>(awaited, status)
    }))

  it.effect("does not cancel it when who waits for it here is interrupted", () =>
    Effect.gen(function*() {
      const agent = workers().alone
      const { one, two } = yield* setUp(backing, Step.calls(Step.call("work")))
      const status = yield* one.next(Effect.gen(function*() {
        const here = yield* agent.build()
        const running = yield* Effect.forkChild(here.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* backing.pass("1 second")
        yield* two.next(Effect.flatMap(agent.build(), (there) => there.recover("t", { force: true })))
        yield* Fiber.interrupt(running)
        return (yield* here.status("t")).status
      }))

      assert.strictEqual(status._tag, "Suspended")
    }))

  it.effect("starts anew on its thread after that was forgotten", () =>
    Effect.gen(function*() {
      const agent = workers().alone
      const { one, two } = yield* setUp(backing, Step.calls(Step.call("work")))
      const status = yield* one.next(Effect.gen(function*() {
        const here = yield* agent.build()
        yield* here.start("Go", { threadId: "t" })
        yield* backing.pass("1 second")
        yield* two.next(Effect.flatMap(agent.build(), (there) => Effect.andThen(there.cancel("t"), there.forget("t"))))
        const running = yield* Effect.forkChild(here.run("Again", { threadId: "t" }), { startImmediately: true })
        yield* backing.pass("1 second")
        return (yield* Fiber.join(running)).status
      }))

      assert.strictEqual(status._tag, "Suspended")
    }))
})
