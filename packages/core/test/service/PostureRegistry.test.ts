import { assert, describe, it } from "@effect/vitest"
import { type Posture, PostureRegistry } from "@mandate/core"
import { Array as Arr, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"

const input = (name: string, instructions = "Do it."): Posture.PostureInput => ({
  name,
  description: "Does it",
  instructions
})

const withRegistry = <A, E>(
  use: (registry: PostureRegistry.PostureRegistry["Service"]) => Effect.Effect<A, E>,
  layer = PostureRegistry.layer()
) => Effect.provide(Effect.flatMap(PostureRegistry.PostureRegistry, use), layer)

const shown = (change: PostureRegistry.PostureChange): string =>
  PostureRegistry.PostureChange.match(change, {
    Added: ({ posture }) => `+ ${posture.name}: ${posture.instructions}`,
    Changed: ({ posture, previous }) => `~ ${posture.name}: ${previous.instructions} > ${posture.instructions}`,
    Removed: ({ posture }) => `- ${posture.name}: ${posture.instructions}`
  })

describe("PostureRegistry", () => {
  it.effect("lists postures sorted by name, whatever order they came in", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        yield* registry.put(input("alpha"))
        yield* registry.put(input("Beta"))

        assert.deepStrictEqual((yield* registry.list).map(({ name }) => name), ["Beta", "alpha", "gamma", "zeta"])
      }), PostureRegistry.layer([input("zeta"), input("gamma")])))

  it.effect("replaces by name", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        yield* registry.put(input("a", "First"))
        const second = yield* registry.put(input("a", "Second"))

        assert.strictEqual(yield* registry.get("a"), second)
        assert.strictEqual(second.instructions, "Second")
        assert.lengthOf(yield* registry.list, 1)
      })
    ))

  it.effect("fails with the names it knows", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(registry.get("__proto__"))

        assert.instanceOf(error, PostureRegistry.UnknownPosture)
        assert.strictEqual(error.message, "There is no posture \"__proto__\"; known postures: a, b")
      }), PostureRegistry.layer([input("b"), input("a")])))

  it.effect("removes, and says whether there was one", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        assert.isTrue(yield* registry.remove("a"))
        assert.isFalse(yield* registry.remove("a"))
        assert.deepStrictEqual(yield* registry.list, [])
        assert.isTrue(Exit.isFailure(yield* Effect.exit(registry.get("a"))))
      }), PostureRegistry.layer([input("a")])))

  it.effect("publishes what was added, changed and removed, in order and without gap, however slow the reader is", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        const reader = yield* registry.changes.pipe(
          Stream.tap(() => Effect.yieldNow),
          Stream.take(204),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* registry.put(input("a", "1"))
        yield* registry.put(input("a", "1"))
        yield* registry.put(input("a", "2"))
        yield* registry.remove("a")
        yield* registry.remove("a")
        for (const n of Arr.range(1, 200)) yield* registry.put(input("b", `${n}`))
        yield* registry.remove("b")

        assert.deepStrictEqual([...yield* Fiber.join(reader)].map(shown), [
          "+ a: 1",
          "~ a: 1 > 2",
          "- a: 2",
          "+ b: 1",
          ...Arr.range(2, 200).map((n) => `~ b: ${n - 1} > ${n}`),
          "- b: 200"
        ])
      })
    ))

  it.effect("gives every reader every change from its own start on", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        const read = (count: number) =>
          Effect.forkChild(Stream.runCollect(Stream.take(registry.changes, count)), { startImmediately: true })
        const early = yield* read(2)
        yield* registry.put(input("a"))
        const late = yield* read(1)
        yield* registry.put(input("b"))

        assert.deepStrictEqual([...yield* Fiber.join(early)].map(shown), ["+ a: Do it.", "+ b: Do it."])
        assert.deepStrictEqual([...yield* Fiber.join(late)].map(shown), ["+ b: Do it."])
      })
    ))

  it.effect("refuses a posture that is not valid, and changes nothing", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        const before = yield* registry.list
        const error = yield* Effect.flip(registry.put({ ...input("a", "Other"), maxSteps: 0 }))

        assert.deepStrictEqual(error.problems, [
          { posture: "a", field: "maxSteps", message: "Expected a positive whole number" }
        ])
        assert.deepStrictEqual(yield* registry.list, before)
      }), PostureRegistry.layer([input("a")])))

  it.effect("refuses a report schema that is not registered, or has no JSON form", () =>
    withRegistry((registry) =>
      Effect.gen(function*() {
        const problemOf = (report: string) =>
          Effect.map(Effect.flip(registry.put({ ...input("a"), report })), ({ problems }) => problems[0]!.message)

        assert.strictEqual(
          yield* problemOf("other"),
          "There is no report schema of this name; known: broken, finding"
        )
        assert.include(yield* problemOf("toString"), "There is no report schema of this name")
        assert.match(yield* problemOf("broken"), /^The schema has no JSON form/)
        assert.deepStrictEqual((yield* registry.put({ ...input("a"), report: "finding" })).report, { name: "finding" })
        assert.strictEqual(registry.reportSchema("finding"), Finding)
        assert.isUndefined(registry.reportSchema("toString"))
      }), PostureRegistry.layer([], { schemas: { finding: Finding, broken: Broken } })))

  it.effect("is not built of postures that are not valid, and names all that is wrong", () =>
    Effect.gen(function*() {
      const layer = PostureRegistry.layer([
        { ...input("a"), maxSteps: 0 },
        input("b"),
        { ...input("c"), report: "other" },
        input("b", "Other"),
        ...JSON.parse("[null, 5, {}]")
      ])
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))

      assert.deepStrictEqual(error.problems.map(({ field, posture }) => `${posture} ${field}`), [
        "a maxSteps",
        "c report",
        "b name",
        " ",
        " ",
        " name",
        " description",
        " instructions"
      ])
    }))
})

const Finding = Schema.Struct({ claim: Schema.String })
const Broken = Schema.Struct({ [Symbol.for("key")]: Schema.String })
