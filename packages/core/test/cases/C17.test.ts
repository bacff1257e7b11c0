import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunEvent, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Arbitrary, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

// A place in the tree, such as "1.0": the first task of the second one.
const Place = Schema.Struct({ place: Schema.String })
const Report = Schema.Struct({ place: Schema.String, below: Schema.Array(Schema.Unknown) })

const grandchild = TypedAgent.make("grandchild", { description: "Answers", input: Place, report: Report })
const child = TypedAgent.make("child", { description: "Delegates on", input: Place, report: Report })

const family = (bounds: { readonly top: number; readonly child: number }) =>
  AgentBuilder.make("top").withSubagents(
    [child.withSubagents([grandchild], { maxConcurrentChildren: bounds.child, maxTasksPerTurn: 64 })],
    { maxConcurrentChildren: bounds.top, maxDepth: 2, maxTasksPerTurn: 64 }
  )

// Each run reports where it is and what came to it from below, after a time of its own.
const scripts = (widths: { readonly top: number; readonly child: number }, delays: ReadonlyArray<number>) => {
  let asked = 0
  const later = (step: Step.Step): Step.Step => Step.delay(delays[asked++ % delays.length] ?? 0, step)
  const reportOf = (place: string, below: ReadonlyArray<unknown>) =>
    later(Step.report({ place, below: below as ReadonlyArray<string> }))
  const delegate = (to: string, places: ReadonlyArray<string>) =>
    later(Step.calls(...places.map((place) => Step.task(to, { place }))))
  const placeOf = (request: Parameters<Script.Answer>[0]) => {
    const text = Trees.asked(request)
    return (JSON.parse(text.slice(text.indexOf("\n"))) as { readonly place: string }).place
  }
  return {
    top: Script.program((request, { step }) =>
      step === 0 && widths.top > 0
        ? delegate("child", indexes(widths.top).map(String))
        : later(Step.text(JSON.stringify(Trees.outputs(request))))
    ),
    child: Script.program((request, { step }) =>
      step === 0 && widths.child > 0
        ? delegate("grandchild", indexes(widths.child).map((index) => `${placeOf(request)}.${index}`))
        : reportOf(placeOf(request), Trees.outputs(request))
    ),
    grandchild: Script.program((request) => reportOf(placeOf(request), []))
  }
}

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index)

const expected = (widths: { readonly top: number; readonly child: number }) =>
  indexes(widths.top).map((top) => ({
    report: {
      place: `${top}`,
      below: indexes(widths.child).map((index) => ({ report: { place: `${top}.${index}`, below: [] } }))
    }
  }))

// The most runs that each run had live at once, and the calls by which it started them, in order.
const watch = (events: ReadonlyArray<RunEvent.RunEvent>) => {
  const live = new Map<string, number>()
  const peaks = new Map<string, number>()
  const started = new Map<string, Array<string>>()
  for (const event of events) {
    if (event._tag !== "RunStarted" && event._tag !== "RunSettled") continue
    if (event.call === undefined) continue
    const parent = event.threadId.slice(0, event.threadId.lastIndexOf("/"))
    const now = (live.get(parent) ?? 0) + (event._tag === "RunStarted" ? 1 : -1)
    live.set(parent, now)
    peaks.set(parent, Math.max(peaks.get(parent) ?? 0, now))
    if (event._tag === "RunStarted") started.set(parent, [...started.get(parent) ?? [], event.call.key])
  }
  return { peaks, started }
}

const run = Effect.fnUntraced(function*(
  bounds: { readonly top: number; readonly child: number },
  widths: { readonly top: number; readonly child: number }
) {
  const agent = yield* family(bounds).build()
  const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
  yield* TestClock.adjust("10 minutes")
  assert.isDefined(running.pollUnsafe(), "the run has not ended: it is deadlocked")
  const result = yield* Fiber.join(running)
  const { peaks, started } = watch(yield* Trees.durableEvents("t"))

  assert.strictEqual(result.status._tag, "Completed")
  assert.deepStrictEqual(
    result.status._tag === "Completed" ? JSON.parse(result.status.answer) : undefined,
    expected(widths)
  )
  for (const [parent, peak] of peaks) {
    const [bound, width] = parent === "t#0" ? [bounds.top, widths.top] : [bounds.child, widths.child]
    assert.strictEqual(peak, Math.min(bound, width), parent)
  }
  for (const [parent, keys] of started) {
    const width = parent === "t#0" ? widths.top : widths.child
    assert.deepStrictEqual(keys, indexes(width).map((index) => `0.${index}`), parent)
  }
  yield* Trees.noViolations
  return result
})

const count = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const trees = {
  bounds: Schema.Struct({ top: count(1, 3), child: count(1, 3) }),
  widths: Schema.Struct({ top: count(1, 5), child: count(0, 4) }),
  delays: Arbitrary.array(Arbitrary.schema(count(1, 50)), { minLength: 1, maxLength: 7 })
}

describe("C17 One slot on every level", () => {
  it.effect("C17 one slot on every level serves three children with two grandchildren each", () =>
    Effect.gen(function*() {
      yield* run({ top: 1, child: 1 }, { top: 3, child: 2 })

      const model = yield* ScriptedModel.ScriptedModel
      assert.lengthOf(yield* model.requestsOf("child"), 6)
      assert.lengthOf(yield* model.requestsOf("grandchild"), 6)
    }).pipe(Effect.provide(Trees.runtime(scripts({ top: 3, child: 2 }, [10])))))

  it.effect("C17 one slot serves models that answer at once", () =>
    Effect.gen(function*() {
      yield* run({ top: 1, child: 1 }, { top: 3, child: 2 })
    }).pipe(Effect.provide(Trees.runtime(scripts({ top: 3, child: 2 }, [0])))))

  it.effect.prop(
    "C17 whatever the slots, the widths and the times, every call is served in call order and its report comes home",
    trees,
    ({ bounds, delays, widths }) => run(bounds, widths).pipe(Effect.provide(Trees.runtime(scripts(widths, delays)))),
    { arbitrary: { runs: 40 } }
  )

  it.effect("C17 four levels with one slot each end", () =>
    Effect.gen(function*() {
      const levels = ["a", "b", "c", "d"].toReversed().reduce<ReadonlyArray<TypedAgent.TypedAgent<any, any>>>(
        (below, id) => {
          const self = TypedAgent.text(id, { description: "Delegates on" })
          return [below.length === 0 ? self : self.withSubagents(below, { maxConcurrentChildren: 1 })]
        },
        []
      )
      const agent = yield* AgentBuilder.make("top").withSubagents(levels, { maxConcurrentChildren: 1, maxDepth: 4 })
        .build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("10 minutes")

      const model = yield* ScriptedModel.ScriptedModel
      assert.strictEqual((yield* Fiber.join(running)).status._tag, "Completed")
      // 1 + 2 + 4 + 8 runs that delegate and ask twice, 16 that answer.
      assert.lengthOf(yield* model.requests, 15 * 2 + 16)
    }).pipe(Effect.provide(Trees.runtime(
      Object.fromEntries(["top", "a", "b", "c", "d"].map((id, index, ids) => {
        const next = ids[index + 1]
        return [
          id,
          Script.each([
            ...(next === undefined ? [] : [Step.calls(Step.textTask(next, "one"), Step.textTask(next, "two"))]),
            Step.delay(5, Step.text("done"))
          ])
        ]
      }))
    ))))
})
