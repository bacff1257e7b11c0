import { assert, describe, it } from "@effect/vitest"
import { MemoryRunStore, type RunRow, RunStore } from "@mandate/core"
import { RunStoreContract } from "@mandate/testing"
import { Effect, Exit, Layer } from "effect"
import { readFaults } from "./storeFaults/readFaults.ts"
import { treeFaults } from "./storeFaults/treeFaults.ts"
import { whole } from "./storeFaults/whole.ts"
import { writeFaults } from "./storeFaults/writeFaults.ts"

/** A store whose data outlives it: every layer that is built gives the same one, or one made of it. */
const lasting = (
  connect: (store: RunStore.RunStore["Service"]) => RunStore.RunStore["Service"] = (store) => store
): RunStoreContract.Subject => ({
  make: Effect.sync(() => {
    const store = MemoryRunStore.make()
    return Layer.sync(RunStore.RunStore, () => connect(store))
  }),
  reopens: true,
  shares: true
})

/** A store in memory with a fault. */
const faulty = (breaks: (store: RunStore.RunStore["Service"]) => RunStore.RunStore["Service"]) => ({
  make: Effect.succeed(Layer.sync(RunStore.RunStore, () => breaks(whole(MemoryRunStore.make()))))
})

/** The names of the properties that a subject does not have. */
const broken = (subject: RunStoreContract.Subject) =>
  Effect.map(
    Effect.filter(
      RunStoreContract.properties(subject),
      ({ check }) => Effect.map(Effect.exit(check), Exit.isFailure)
    ),
    (properties) => properties.map(({ name }) => name)
  )

describe("RunStoreContract", () => {
  it.effect("finds nothing wrong with the store in memory", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* broken(lasting()), [])
      assert.deepStrictEqual(yield* broken(lasting(whole)), [])
    }), 30_000)

  it("gives every property a name of its own, and those of data that lasts only to stores whose data does", () => {
    const namesOf = (more: Partial<RunStoreContract.Subject>) =>
      RunStoreContract.properties({ make: Effect.succeed(MemoryRunStore.layer), ...more }).map(({ name }) => name)
    const least = namesOf({})
    const all = namesOf({ reopens: true, shares: true })

    assert.strictEqual(new Set(all).size, all.length)
    assert.isTrue(least.every((name) => !/^(reopening|two connections): /.test(name)))
    assert.deepStrictEqual(all.filter((name) => !/^(reopening|two connections): /.test(name)), least)
    assert.deepStrictEqual(namesOf({ reopens: true }), all.filter((name) => !name.startsWith("two connections: ")))
    assert.deepStrictEqual(namesOf({ shares: true }), all.filter((name) => !name.startsWith("reopening: ")))
  })

  for (const [fault, { breaks, found }] of Object.entries({ ...writeFaults, ...treeFaults, ...readFaults })) {
    it.effect(`finds a store that ${fault}`, () =>
      Effect.gen(function*() {
        const names = yield* broken(faulty(breaks))

        assert.include(names, found)
      }), 30_000)
  }

  it.effect("finds a store that loses what it had when it is opened again", () =>
    Effect.gen(function*() {
      const names = yield* broken({ make: Effect.succeed(MemoryRunStore.layer), reopens: true })

      assert.include(
        names,
        "reopening: keeps all that was acknowledged: rows in every state, records, children, events and leases"
      )
      assert.include(names, "reopening: gives no epoch twice, over deleting and opening")
    }))

  it.effect("finds connections that do not see each other", () =>
    Effect.gen(function*() {
      const names = yield* broken({ make: Effect.succeed(MemoryRunStore.layer), shares: true })

      assert.include(names, "two connections: reads through one at once what the other has written")
    }))

  it.effect("finds a connection that remembers what it has read once", () =>
    Effect.gen(function*() {
      const names = yield* broken(lasting((store) => {
        const known = new Map<string, RunRow.LoadedRun | undefined>()
        const inner = whole(store)
        return {
          ...inner,
          append: (fence, batch) => Effect.tap(inner.append(fence, batch), () => Effect.sync(() => known.clear())),
          load: (runId) =>
            known.has(runId)
              ? Effect.sync(() => known.get(runId))
              : Effect.tap(inner.load(runId), (run) => Effect.sync(() => known.set(runId, run)))
        }
      }))

      assert.include(names, "two connections: reads through one at once what the other has written")
    }))

  it.effect("says what was expected and what was found", () =>
    Effect.gen(function*() {
      const { breaks, found } = writeFaults["overwrites a record that is inserted again"]!
      const property = RunStoreContract.properties(faulty(breaks)).find(({ name }) => name === found)!
      const violation = yield* Effect.flip(property.check)

      assert.strictEqual(
        violation.message,
        [
          "not as expected: the records",
          "expected: [{\"json\":\"1\",\"key\":\"m/0\"},{\"json\":\"2\",\"key\":\"t/0.1\"},{\"json\":\"4\",\"key\":\"t/0.0\"}]",
          "actual:   [{\"json\":\"3\",\"key\":\"m/0\"},{\"json\":\"5\",\"key\":\"t/0.1\"},{\"json\":\"4\",\"key\":\"t/0.0\"}]"
        ].join("\n")
      )
    }))

  it.effect("says so when no place for a store is made, or the store does not open", () =>
    Effect.gen(function*() {
      const first = (subject: RunStoreContract.Subject) => Effect.flip(RunStoreContract.properties(subject)[0]!.check)
      const noPlace = yield* first({ make: Effect.fail("no disk") })
      const noStore = yield* first({ make: Effect.succeed(Layer.effect(RunStore.RunStore, Effect.fail("no table"))) })

      assert.deepStrictEqual([noPlace.problem, noPlace.actual], ["no place for a store is made", "no disk"])
      assert.deepStrictEqual([noStore.problem, noStore.actual], ["the store does not open", "no table"])
    }))
})
