import { assert, describe, it } from "@effect/vitest"
import { IdSource } from "@mandate/core"
import { FixedIds } from "@mandate/testing"
import { Effect } from "effect"

const ids = Effect.gen(function*() {
  const { instanceId, threadId } = yield* IdSource
  return [yield* threadId, yield* threadId, yield* instanceId, yield* instanceId]
})

describe("FixedIds", () => {
  it.effect("counts threads and instances from 1", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ids, ["thread-1", "thread-2", "instance-1", "instance-2"])
    }).pipe(Effect.provide(FixedIds.layer)))

  it.effect("counts anew in each build", () =>
    Effect.gen(function*() {
      const once = Effect.provide(ids, FixedIds.layer, { local: true })
      assert.deepStrictEqual(yield* once, yield* once)
    }))
})
