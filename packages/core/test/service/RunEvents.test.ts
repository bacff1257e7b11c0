import { assert, describe, it } from "@effect/vitest"
import { type Ids, Mandate, type RunEvent } from "@mandate/core"
import { Effect, Exit, Queue, Scope } from "effect"
import * as Runtime from "../support/Runtime.ts"

const t = "t" as Ids.ThreadId
const u = "u" as Ids.ThreadId

const origin = {
  rootThreadId: t,
  threadId: t,
  runId: "t#0" as Ids.RunId,
  agentId: "clerk",
  agentPath: ["clerk"],
  depth: 0,
  at: 7
}
const live = (delta: string): RunEvent.RunEvent => ({ ...origin, _tag: "TextDelta", step: 0, attempt: 0, delta })
const durable = (sequence: number): RunEvent.RunEvent => ({ ...origin, _tag: "RunResumed", sequence })

const capacity = 4096

describe("the events of a runtime", () => {
  it.effect("are watched, tree by tree or all of them, until their readers have left", () =>
    Effect.gen(function*() {
      const { events } = yield* Mandate.Mandate
      const watched = () => [t, u].map(events.isWatched)
      const before = watched()
      const ofOne = yield* Effect.scoped(Effect.map(events.subscribe(t), watched))
      const ofAll = yield* Effect.scoped(Effect.map(events.subscribe(), watched))

      assert.deepStrictEqual([before, ofOne, ofAll, watched()], [
        [false, false],
        [true, false],
        [true, true],
        [false, false]
      ])
    }).pipe(Effect.provide(Runtime.layer)))

  it.effect("end with the scope of their reader, who may still read what came before", () =>
    Effect.gen(function*() {
      const { events } = yield* Mandate.Mandate
      const scope = yield* Scope.make()
      const reader = yield* Scope.provide(events.subscribe(t), scope)
      events.publish(t, [durable(1)])
      yield* Scope.close(scope, Exit.void)
      events.publish(t, [durable(2)])

      assert.deepStrictEqual(yield* Queue.takeAll(reader), [durable(1)])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Queue.take(reader))))
    }).pipe(Effect.provide(Runtime.layer)))

  it.effect("that are live are missed by who has 4096 unread, and only by them; durable ones never are", () =>
    Effect.gen(function*() {
      const { events } = yield* Mandate.Mandate
      const slow = yield* events.subscribe(t)
      const quick = yield* events.subscribe(t)
      const first = Array.from({ length: capacity }, (_, n) => live(`${n}`))
      events.publish(t, first)
      const read = yield* Queue.takeAll(quick)
      events.publish(t, [live("a"), live("b"), durable(1), live("c")])
      const rest = yield* Queue.takeAll(slow)
      events.publish(t, [live("d")])
      const last = yield* Queue.takeAll(slow)

      assert.deepStrictEqual(read, first)
      assert.deepStrictEqual(yield* Queue.takeAll(quick), [live("a"), live("b"), durable(1), live("c"), live("d")])
      const missed = (missed: number) => ({ _tag: "EventsMissed", rootThreadId: t, missed, at: 7 })
      assert.deepStrictEqual<unknown>(rest, [...first, missed(2), durable(1)])
      assert.deepStrictEqual<unknown>(last, [missed(1), live("d")])
    }).pipe(Effect.scoped, Effect.provide(Runtime.layer)))
})
