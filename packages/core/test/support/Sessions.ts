/** What stores are told of the sub-sessions of postures. */
import { assert } from "@effect/vitest"
import { Mandate, RunEvent, type RunStore } from "@mandate/core"
import { Effect, Queue, Schema } from "effect"
import * as Trees from "./Trees.ts"

type Store = RunStore.RunStore["Service"]
type Events = Parameters<Store["close"]>[1]

/** A store that keeps every event it commits, of runs that are gone too. */
export const recording = (store: Store) => {
  const committed: Array<RunEvent.RunEvent> = []
  const keep = (events: Events) => {
    for (const { json } of events) committed.push(decode({ ...JSON.parse(json), sequence: committed.length + 1 }))
  }
  const kept = <A, E>(events: Events, done: Effect.Effect<A, E>) =>
    Effect.tap(done, () => Effect.sync(() => keep(events)))
  const writes: Partial<Store> = {
    open: (run, lease, events) =>
      Effect.tap(
        store.open(run, lease, events),
        (opened) => Effect.sync(() => opened._tag === "Started" ? keep(events(opened.runId)) : undefined)
      ),
    create: (parent, run, lease, events) =>
      Effect.tap(
        store.create(parent, run, lease, events),
        ({ created }) => Effect.sync(() => created ? keep(events) : undefined)
      ),
    append: (fence, batch) => kept(batch.events, store.append(fence, batch)),
    suspend: (fence, to, events) => kept(events, store.suspend(fence, to, events)),
    fail: (fence, to, events) => kept(events, store.fail(fence, to, events)),
    settle: (fence, settlement, events, keep) => kept(events, store.settle(fence, settlement, events, keep)),
    reopen: (fence, events) => kept(events, store.reopen(fence, events)),
    close: (runs, events) => kept(events, store.close(runs, events)),
    answer: (threadId, lease, runs, events) => kept(events, store.answer(threadId, lease, runs, events))
  }
  const recorded = new Proxy(store, {
    get: (target, name) => {
      const operation = Reflect.get(writes, name) ?? Reflect.get(target, name)
      return typeof operation === "function" ? operation.bind(target) : operation
    }
  })
  return { store: recorded, committed: committed as ReadonlyArray<RunEvent.RunEvent> }
}

const decode = Schema.decodeUnknownSync(RunEvent.RunEvent)

/**
 * How each sub-session ended, in the order they started. Fails unless each has
 * one start and one complete, and all its events have its agent id and depth.
 */
export const ends = (events: ReadonlyArray<RunEvent.RunEvent>): ReadonlyArray<string> => {
  const starts = Trees.tagged(events, "DelegateStart")
  const completes = Trees.tagged(events, "DelegateComplete")
  assert.strictEqual(completes.length, starts.length, "as many completes as starts")
  assert.strictEqual(new Set(starts.map(({ subSessionId }) => subSessionId)).size, starts.length, "one start each")
  return starts.map(({ _tag, at: _, sequence: __, ...pair }) => {
    const [complete, ...more] = completes.filter(({ subSessionId }) => subSessionId === pair.subSessionId)
    assert.isDefined(complete, `a complete of ${pair.subSessionId}`)
    assert.lengthOf(more, 0)
    assert.deepInclude(complete, pair)
    const agentId = `delegate/${pair.posture}/${pair.subSessionId}`
    assert.strictEqual(pair.threadId, pair.subSessionId)
    for (const event of events) {
      if (!("depth" in event) || event.threadId !== pair.subSessionId) continue
      assert.deepStrictEqual([event._tag, event.agentId, event.depth], [event._tag, agentId, pair.depth])
    }
    return complete!.status
  })
}

/** Runs an effect and gives all events that are published meanwhile. */
export const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const { events } = yield* Mandate.Mandate
    const queue = yield* events.subscribe()
    const value = yield* effect
    return { value, events: yield* Queue.clear(queue) }
  }))
