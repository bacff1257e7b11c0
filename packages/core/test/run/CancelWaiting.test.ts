import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, RunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as CrashingStore from "../support/CrashingStore.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const family = (ran: Array<string>) => {
  const pay = Toolkit.make(Waiting.gated("pay", {}))
  const grandchild = TypedAgent.text("grandchild", { description: "Pays" })
    .withTools(pay, { pay: () => Effect.sync(() => `paid ${ran.push("pay")}`) })
  const child = TypedAgent.text("child", { description: "Delegates" }).withSubagents([grandchild])
  return AgentBuilder.make("top").withSubagents([child], { maxDepth: 2 })
}

const scripts: Script.Scripts = {
  top: [Step.calls(Step.textTask("child", "a"), Step.textTask("child", "b")), Step.text("done")],
  child: Script.each([Step.calls(Step.textTask("grandchild", "pay")), Step.text("child done")]),
  grandchild: Script.optional(Script.each([Step.calls(Step.call("pay")), Step.text("grandchild done")]))
}

const cancelled = { error: { reason: "Cancelled", message: "The subagent was cancelled" } }

const suspended = Effect.fnUntraced(function*(store: RunStore.RunStore["Service"], ran: Array<string>) {
  const optional = Object.fromEntries(Object.entries(scripts).map(([id, script]) => [id, Script.optional(script)]))
  const { model, next } = yield* Waiting.processes(store, optional)
  const agent = family(ran).build()
  yield* next(Effect.flatMap(agent, (built) => built.run("Go", { threadId: "t" })))
  return { agent, model, next }
})

const ends = (store: RunStore.RunStore["Service"]) => Effect.provideService(Trees.ends("t"), RunStore.RunStore, store)

describe.each(backings)("cancel of what waits, in $name", ({ make, pass }) => {
  it.effect("of one child is its call's answer, and the run goes on with what else waits", () =>
    Effect.gen(function*() {
      const store = yield* make
      const ran: Array<string> = []
      const { agent, model, next } = yield* suspended(store, ran)
      const pending = yield* next(Effect.gen(function*() {
        const built = yield* agent
        yield* built.cancel("t", { child: "t#0/0.0" })
        yield* pass("1 second")
        const { status } = yield* built.status("t")
        return status._tag === "Suspended" ? status.pending.map(({ id }) => String(id)) : [status._tag]
      }))
      assert.deepStrictEqual(pending, ["0.1:child~0.0:child~0.0:approval0"])
      const last = yield* next(Effect.flatMap(agent, (built) => built.resume("t", [Answer.approve(pending[0]!)])))

      assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      const [, second] = yield* model.requestsOf("top")
      assert.deepStrictEqual(Trees.outputs(second!.request), [cancelled, { report: "child done" }])
      assert.deepStrictEqual(ran, ["pay"])
      assert.deepStrictEqual(yield* ends(store), {
        "t#0": "Completed",
        "t#0/0.0#0": "Cancelled",
        "t#0/0.0#0/0.0#0": "Cancelled",
        "t#0/0.1#0": "Completed",
        "t#0/0.1#0/0.0#0": "Completed"
      })
    }))

  it.effect("of a grandchild is heard by its own caller alone", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { agent, model, next } = yield* suspended(store, [])
      yield* next(Effect.gen(function*() {
        const built = yield* agent
        yield* built.cancel("t", { child: "t#0/0.1#0/0.0" })
        yield* pass("1 second")
      }))

      const heard = (yield* model.requestsOf("child")).filter(({ call }) => call.step === 1)
      assert.deepStrictEqual(heard.map(({ call, request }) => [call.runId as string, Trees.outputs(request)]), [
        ["t#0/0.1#0", [cancelled]]
      ])
      assert.strictEqual((yield* ends(store))["t#0/0.1#0"], "Completed")
    }))

  it.effect("of the last child that waits lets the run end by itself", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { agent, next } = yield* suspended(store, [])
      const status = yield* next(Effect.gen(function*() {
        const built = yield* agent
        yield* built.cancel("t", { child: "t#0/0.0" })
        yield* pass("1 second")
        yield* built.cancel("t", { child: "t#0/0.1" })
        yield* pass("1 second")
        return (yield* built.status("t")).status
      }))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
    }))

  it.effect("of one child can be cut off at any write, and done again", () =>
    Effect.gen(function*() {
      for (let n = 1; n <= 4; n++) {
        const inner = yield* make
        const { agent, model, next } = yield* suspended(inner, [])
        const crashing = CrashingStore.crashing(inner, n)
        const process = Waiting.processesOf(crashing.store, model)
        const dying = yield* Effect.forkChild(
          process.next(
            Effect.flatMap(agent, (built) => Effect.andThen(built.cancel("t", { child: "t#0/0.0" }), Effect.never))
          ),
          { startImmediately: true }
        )
        yield* pass("1 minute")
        yield* Fiber.interrupt(dying)
        const status = yield* next(Effect.gen(function*() {
          const built = yield* agent
          if ((yield* built.status("t")).status._tag === "Running") {
            yield* Effect.forkChild(built.recover("t"), { startImmediately: true })
            yield* pass("1 minute")
          }
          yield* built.cancel("t", { child: "t#0/0.0" })
          yield* pass("1 second")
          const { status } = yield* built.status("t")
          return status._tag === "Suspended" ? status.pending.map(({ id }) => String(id)) : status._tag
        }))

        assert.deepStrictEqual(status, ["0.1:child~0.0:child~0.0:approval0"], `after a crash at write ${n}`)
        assert.strictEqual((yield* ends(inner))["t#0/0.0#0"], "Cancelled")
      }
    }))

  it.effect("of one child has the run go on though who asked for it is interrupted", () =>
    Effect.gen(function*() {
      const slow = Trees.around(yield* make, (name, done) =>
        name === "close" ? Effect.andThen(Effect.sleep("1 second"), done) : done)
      const { agent, next } = yield* suspended(slow, [])
      const pending = yield* next(Effect.gen(function*() {
        const built = yield* agent
        const cancelling = yield* Effect.forkChild(built.cancel("t", { child: "t#0/0.0" }), { startImmediately: true })
        yield* pass(500)
        cancelling.interruptUnsafe()
        yield* pass("1 minute")
        const { status } = yield* built.status("t")
        return status._tag === "Suspended"
          ? status.pending.map(({ id }) =>
            String(id)
          )
          : status._tag
      }))

      assert.deepStrictEqual(pending, ["0.1:child~0.0:child~0.0:approval0"])
    }))

  it.effect("of one child gives the thread back where the run cannot be gone on with", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { agent, model, next } = yield* suspended(store, [])
      let isClosed = false
      const failing = Trees.around(store, (name, done) => {
        if (name === "close") return Effect.tap(done, () => Effect.sync(() => isClosed = true))
        return Effect.suspend(() => {
          if (name !== "load" || !isClosed) return done
          isClosed = false
          return Effect.fail(new RunStore.StoreError({ operation: name }))
        })
      })
      yield* Waiting.processesOf(failing, model).next(Effect.gen(function*() {
        const built = yield* agent
        const { reason } = yield* Effect.flip(built.cancel("t", { child: "t#0/0.0" }))
        // This process is there, and renews its leases.
        const recovering = yield* Effect.forkChild(next(Effect.flatMap(agent, (built) => built.recover("t"))), {
          startImmediately: true
        })
        yield* pass("1 minute")

        assert.strictEqual(reason._tag, "StoreFailed")
        assert.strictEqual((yield* Fiber.join(recovering)).status._tag, "Suspended")
      }))
    }))

  it.effect("of one child lets nothing begin again that fails the run beside it", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {
        top: [Step.calls(Step.textTask("payer", "pay"), Step.call("stop"))],
        payer: Script.optional([Step.calls(Step.call("pay"))])
      })
      let entered = 0
      const payer = TypedAgent.text("payer", { description: "Pays" })
        .withTools(Toolkit.make(Waiting.gated("pay", {})), { pay: () => Effect.succeed("paid") })
      const agent = AgentBuilder.make("top").withSubagents([payer]).withTools(Toolkit.make(Tool.make("stop")), {
        stop: () =>
          Effect.gen(function*() {
            entered++
            yield* Effect.sleep("10 seconds")
            return yield* ToolContext.fatal("it cannot go on")
          })
      }).build()
      const reason = yield* next(Effect.gen(function*() {
        const built = yield* agent
        const running = yield* Effect.forkChild(Effect.flip(built.run("Go", { threadId: "t" })), {
          startImmediately: true
        })
        yield* pass("5 seconds")
        yield* built.cancel("t", { child: "t#0/0.0" })
        yield* pass("1 minute")
        return (yield* Fiber.join(running)).reason
      }))

      assert.strictEqual(reason._tag, "ToolFatal")
      assert.strictEqual(entered, 1)
    }))

  it.effect("of the whole run settles all that waits", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { agent, model, next } = yield* suspended(store, [])
      yield* next(Effect.flatMap(agent, (built) => built.cancel("t")))

      assert.deepStrictEqual([...new Set(Object.values(yield* ends(store)))], ["Cancelled"])
      assert.strictEqual(yield* model.calls, 5)
      const { reason } = yield* next(
        Effect.flatMap(agent, (built) => Effect.flip(built.resume("t", [Answer.approve("0.0:approval0")])))
      )
      assert.strictEqual(reason._tag, "NotSuspended")
    }))
})

describe("cancel of one child from another process", () => {
  it.effect("is heard by the process that drives its parent, which goes on", () =>
    Effect.gen(function*() {
      const store = MemoryRunStore.make()
      const { model, next } = yield* Waiting.processes(store, {
        top: [Step.calls(Step.textTask("child", "a"), Step.textTask("child", "b")), Step.text("done")],
        child: Script.byInput((input) => [Step.delay(input === "a" ? "10 seconds" : "1 second", Step.text(input))])
      })
      const agent = family([]).build()
      const [{ pass }] = backings as readonly [(typeof backings)[number]]
      const driving = yield* Effect.forkChild(
        next(Effect.flatMap(agent, (built) => built.run("Go", { threadId: "t" }))),
        { startImmediately: true }
      )
      yield* pass("5 seconds")
      yield* next(Effect.flatMap(agent, (built) => built.cancel("t", { child: "t#0/0.0" })))
      yield* pass("10 seconds")
      const result = yield* Fiber.join(driving)

      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(Trees.outputs((yield* model.requestsOf("top"))[1]!.request), [cancelled, { report: "b" }])
    }))
})
