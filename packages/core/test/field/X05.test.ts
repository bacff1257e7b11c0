import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunError, Threads } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Stream } from "effect"
import { backings } from "../support/Backings.ts"
import { leaks, notOptions } from "../support/NotOptions.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")

/** What narrows a listing by a string, and is none: SQLite would take some of these for "any tenant". */
const notStrings: ReadonlyArray<readonly [given: string, value: unknown]> = [
  ["null", null],
  ["an array", ["A"]],
  ["an array", []],
  ["an object", {}],
  ["an object", { tenant: "A" }],
  ["0", 0],
  ["1", 1],
  ["NaN", Number.NaN],
  ["true", true],
  ["false", false],
  ["a bigint", 1n],
  ["a symbol", Symbol("A")],
  ["a function", () => "A"],
  ["a Map", new Map()],
  ["a Date", new Date(0)],
  ["an Uint8Array", new Uint8Array([65])],
  ["a Promise", Promise.resolve("A")],
  ["a String", new String("A")]
]

/** Every way to list, with the filter that it is given. */
const listings: ReadonlyArray<
  readonly [name: string, list: (filter: any) => Effect.Effect<unknown, RunError.RunError, any>]
> = [
  ["Threads.list", (filter) => Threads.list(filter)],
  ["Threads.all", (filter) => Stream.runCollect(Threads.all(filter))],
  ["Threads.pending", (filter) => Stream.runCollect(Threads.pending(filter))]
]

const refused = (error: RunError.RunError, field: string) => {
  assert.strictEqual(error._tag, "RunError")
  assert.strictEqual(error.reason._tag, "InvalidInput")
  if (error.reason._tag !== "InvalidInput") return ""
  assert.strictEqual(error.reason.field, field)
  assert.isFalse(leaks(error.message), error.message)
  return error.reason.issues.join("; ")
}

for (const backing of backings) {
  describe(`X05 Filters of threads, in ${backing.name}`, () => {
    const within = <A, E>(use: (next: Waiting.Processes["next"]) => Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        const { next } = yield* Waiting.processes(yield* backing.make, { clerk: Script.each([Step.text("done")]) })
        yield* next(Effect.flatMap(clerk.build(), (agent) =>
          Effect.all([
            agent.run("hello", { threadId: "a", tenant: "A" }),
            agent.run("hello", { threadId: "b", tenant: "B" }),
            agent.run("hello", { threadId: "c" })
          ])))
        return yield* use(next)
      })

    it.effect.each(listings)(
      "X05 %s lists no thread for a tenant, agent or place that is not a string",
      ([, list]) =>
        within((next) =>
          Effect.gen(function*() {
            for (const key of ["tenant", "agentId", "after"]) {
              for (const [given, value] of notStrings) {
                const error = yield* Effect.flip(next(list({ [key]: value })))
                assert.strictEqual(refused(error, "filter"), `${key} must be a string, not ${given}`)
              }
            }
          })
        )
    )

    it.effect.each(listings)(
      "X05 %s refuses a filter that is not a plain object with known keys",
      ([, list]) =>
        within((next) =>
          Effect.gen(function*() {
            for (const [says, value] of notOptions) {
              assert.match(refused(yield* Effect.flip(next(list(value))), "filter"), says)
            }
          })
        )
    )

    it.effect.each(listings)(
      "X05 %s refuses limits, times and states of another kind",
      ([, list]) =>
        within((next) =>
          Effect.gen(function*() {
            for (
              const filter of [
                { limit: null },
                { limit: "10" },
                { limit: 1n },
                { limit: -1 },
                { limit: 1001 },
                { stoppedBefore: null },
                { stoppedBefore: "2026-01-01" },
                { stoppedBefore: new Date(0) },
                { stoppedBefore: Number.NaN },
                { states: null },
                { states: "Settled" },
                { states: ["settled"] },
                { states: [null] },
                { states: { 0: "Settled" } }
              ]
            ) {
              assert.notStrictEqual(refused(yield* Effect.flip(next(list(filter))), "filter"), "")
            }
          })
        )
    )

    it.effect("X05 A tenant that is a string lists its own threads alone", () =>
      within((next) =>
        Effect.gen(function*() {
          const ids = (filter?: Threads.ThreadFilter) =>
            Effect.map(next(Threads.list(filter)), (threads) => threads.map(({ threadId }) => threadId))
          assert.deepStrictEqual(yield* ids({ tenant: "A" }), ["a"])
          assert.deepStrictEqual(yield* ids({ tenant: "'; DROP TABLE threads; --" }), [])
          assert.deepStrictEqual(yield* ids(undefined), ["a", "b", "c"])
        })
      ))

    it.effect("X05 Threads.events refuses options of another kind, and runs and events a thread id", () =>
      within((next) =>
        Effect.gen(function*() {
          const events = (threadId: any, options: any) => next(Stream.runHead(Threads.events(threadId, options)))
          for (const [says, value] of notOptions) {
            assert.match(refused(yield* Effect.flip(events("a", value)), "options"), says)
          }
          for (const after of [null, "0", -1, 1.5, Number.NaN, [], {}]) {
            assert.match(
              refused(yield* Effect.flip(events("a", { after })), "options"),
              /^after must be a whole number/
            )
          }
          for (const [, value] of notStrings) {
            assert.strictEqual(refused(yield* Effect.flip(events(value, undefined)), "thread id"), "it is not a text")
            assert.strictEqual(
              refused(yield* Effect.flip(next(Threads.runs(value as string))), "thread id"),
              "it is not a text"
            )
          }
        })
      ))
  })
}
