import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Deferred, Effect, Fiber, Result, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

type Store = RunStore.RunStore["Service"]

const tools = Toolkit.make(Waiting.gated("pay", {}), Tool.make("work", { success: Schema.String }))
const below = "t#0/0.0"

/** A lead and its child, which works until `release`, or waits for an approval. */
const treeOf = (release: Deferred.Deferred<void>) => {
  const handlers = {
    pay: () => Effect.succeed("paid"),
    work: () => Effect.as(Deferred.await(release), "worked")
  }
  const child = TypedAgent.text("child", { description: "Works" }).withTools(tools, handlers)
  return AgentBuilder.make("lead").withSubagents([child])
}

const states = {
  Running: [Step.call("work"), Step.text("did")],
  Suspended: [Step.call("pay"), Step.text("did")]
} as const

/** The store of a process, from which another one takes the tree whenever it is about to do something, some times. */
const contested = (inner: Store, operations: ReadonlyArray<keyof Store>, times: number) => {
  let taken = 0
  const take = Effect.suspend(() =>
    taken++ < times
      ? Effect.asVoid(inner.lease("t", { holder: `thief-${taken}`, now: taken, ttl: 1_000_000, force: true }))
      : Effect.void
  )
  const store = new Proxy(inner, {
    get: (target, name: keyof Store) => {
      const method = target[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
      return operations.includes(name)
        ? (...args: ReadonlyArray<unknown>) => Effect.andThen(take, method(...args))
        : method
    }
  })
  return { store, taken: () => Math.min(taken, times) }
}

/** A store whose answers are refused some times, as if another process had answered first. */
const refusing = (inner: Store, times: number): Store => {
  let refused = 0
  return {
    ...inner,
    answer: (...args) =>
      Effect.suspend(() =>
        refused++ < times ? Effect.fail(new RunStore.Fenced({ runId: "t#0" })) : inner.answer(...args)
      )
  }
}

const variants = backings.flatMap((backing) =>
  (Object.keys(states) as ReadonlyArray<keyof typeof states>).flatMap((state) =>
    [1, 2, 7].map((times) => ({ backing, state, times, name: backing.name }))
  )
)

/** A tree in a state, left by a process that drives it on while `body` runs in another one. */
const inState = <A, E>(
  inner: Store,
  state: keyof typeof states,
  body: (lead: ReturnType<typeof treeOf>, processes: Waiting.Processes) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const release = yield* Deferred.make<void>()
    const lead = treeOf(release)
    const processes = yield* Waiting.processes(inner, {
      lead: Script.optional([Step.textTask("child", "x"), Step.text("done")]),
      child: Script.optional([...states[state]])
    })
    const first = yield* Effect.forkChild(
      Effect.result(processes.next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))),
      { startImmediately: true }
    )
    if (state === "Running") yield* processes.model.awaitCalls(2)
    else yield* Fiber.join(first)
    const result = yield* body(lead, processes)
    yield* Deferred.succeed(release, undefined)
    return { result, first: yield* Fiber.join(first) }
  })

describe.each(variants)(
  "X10 in $name, a tree that is $state and that another process takes $times times",
  (variant) => {
    const { backing, state, times } = variant

    it.effect("X10 is cancelled, whoever has it meanwhile", () =>
      Effect.gen(function*() {
        const inner = yield* backing.make
        const { store, taken } = contested(inner, ["close"], times)
        yield* inState(inner, state, (lead, { model }) =>
          Waiting.processesOf(store, model).next(Effect.flatMap(lead.build(), (agent) =>
            agent.cancel("t"))))

        const runs = [...yield* inner.thread("t"), ...yield* inner.thread(below)]
        assert.deepStrictEqual(runs.map(({ outcome, state }) => [state, JSON.parse(outcome!)._tag]), [
          ["Settled", "Cancelled"],
          ["Settled", "Cancelled"]
        ])
        assert.strictEqual(taken(), times)
      }).pipe(Effect.scoped))

    it.effect("X10 loses one child that is cancelled, whoever has it meanwhile", () =>
      Effect.gen(function*() {
        const inner = yield* backing.make
        const { store } = contested(inner, ["close"], times)
        yield* inState(inner, state, (lead, { model }) =>
          Waiting.processesOf(refusing(store, times), model).next(
            Effect.flatMap(lead.build(), (agent) => agent.cancel("t", { child: below }))
          ))

        const [child] = yield* inner.thread(below)
        assert.deepStrictEqual([child!.state, JSON.parse(child!.outcome!)._tag], ["Settled", "Cancelled"])
      }).pipe(Effect.scoped))
  }
)

describe.each(backings)("X10 two processes in $name that cancel one tree at once", ({ make }) => {
  it.effect("X10 both succeed, and its runs end once", () =>
    Effect.gen(function*() {
      const inner = yield* make
      const { result } = yield* inState(inner, "Running", (lead, { next }) => {
        const cancel = next(Effect.flatMap(lead.build(), (agent) => Effect.result(agent.cancel("t"))))
        return Effect.all([cancel, cancel, cancel], { concurrency: "unbounded" })
      })

      assert.isTrue(result.every(Result.isSuccess))
      const settled = (yield* inner.events("t", 0)).filter(({ json }) => json.includes("RunSettled"))
      assert.lengthOf(settled, 2)
    }).pipe(Effect.scoped))
})
