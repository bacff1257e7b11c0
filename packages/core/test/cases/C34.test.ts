import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type ModelRequest, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Cause, Effect, Exit, Fiber, Layer, Scheduler, Schema, Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"

const Look = Tool.make("look", { parameters: Schema.Struct({ at: Schema.String }), success: Schema.String })

const agent = (id: string, random: () => number) =>
  TypedAgent.make(id, {
    description: `Looks as ${id}`,
    input: Schema.Struct({ topic: Schema.String }),
    report: Schema.Struct({ found: Schema.String })
  }).withTools(Toolkit.make(Look), {
    look: ({ at }) => Effect.delay(Effect.succeed(`${id} saw ${at}`), Math.floor(random() * 5))
  })

// A small generator of numbers from 0 to 1, so that a round that fails can be run again by its number.
const randomOf = (seed: number) => {
  let state = seed + 1
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

// Fibers yield at any time, and those that are ready go on in any order.
const shuffling = (random: () => number): Scheduler.Scheduler => {
  const mixed = new Scheduler.MixedScheduler()
  return {
    executionMode: "async",
    shouldYield: (fiber) => mixed.shouldYield(fiber) || random() < 0.1,
    makeDispatcher: () => {
      const dispatcher = mixed.makeDispatcher()
      let ready: Array<() => void> = []
      const runAny = () => {
        const at = Math.floor(random() * ready.length)
        ready.splice(at, 1)[0]?.()
      }
      return {
        // As many tasks run as were scheduled, each time any one of those that are ready.
        scheduleTask: (task, priority) => {
          if (priority !== 0) return dispatcher.scheduleTask(task, priority)
          ready.push(task)
          dispatcher.scheduleTask(runAny, priority)
        },
        flush: () => {
          dispatcher.flush()
          ready = []
        }
      }
    }
  }
}

const rounds = 200

const randomly = <A, E>(
  round: number,
  effect: (random: () => number, later: (step: Step.Step) => Step.Step) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const random = randomOf(round)
  const later = (step: Step.Step) => random() < 0.3 ? step : Step.delay(Math.floor(random() * 10), step)
  return Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect(random, later), { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 millis")
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provideService(Scheduler.Scheduler, shuffling(random)))
}

const reports = (request: ModelRequest.ModelRequest) =>
  request.messages.flatMap((message) => message.role === "tool" ? message.content : [])
    .map(({ output }) => output.value)

// Which script a request follows: the words that its assistant and tools have said so far.
const said = ({ request }: ScriptedModel.RecordedRequest): string =>
  JSON.stringify(request.messages.filter(({ role }) => role === "assistant" || role === "tool"))

const script = (name: string, later: (step: Step.Step) => Step.Step) => [
  later(Step.calls(`${name} begins`, Step.call("look", { at: `${name}-1` }))),
  later(Step.call("look", { at: `${name}-2` })),
  later(Step.report({ found: `${name} is done` }))
]

describe("C34 Scripts of runs side by side", () => {
  it.effect(
    `C34 each of two parallel children follows its own script, ${rounds} times in any order`,
    () =>
      Effect.gen(function*() {
        const orders = new Set<string>()
        for (let round = 0; round < rounds; round++) {
          const requests = yield* randomly(round, (random, later) =>
            Effect.gen(function*() {
              const parent = yield* AgentBuilder.make("parent")
                .withSubagents([agent("scout", random), agent("clerk", random)]).build()
              const result = yield* parent.run("Go", { threadId: `t-${round}` })
              assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" }, `round ${round}`)
              return yield* (yield* ScriptedModel.ScriptedModel).requests
            }).pipe(Effect.provide([
              Mandate.layerMemory,
              Models.layer({
                parent: [
                  later(Step.calls(Step.task("scout", { topic: "sea" }), Step.task("clerk", { topic: "land" }))),
                  later(Step.text("done"))
                ],
                scout: script("scout", later),
                clerk: script("clerk", later)
              })
            ])))

          for (const [own, other] of [["scout", "clerk"], ["clerk", "scout"]] as const) {
            const asked = requests.filter(({ call }) => call.agentId === own)
            assert.deepStrictEqual(asked.map(({ call }) => call.step), [0, 1, 2], `round ${round}`)
            assert.include(said(asked[1]!), `${own} saw ${own}-1`)
            assert.include(said(asked[2]!), `${own} saw ${own}-2`)
            for (const request of asked) assert.notInclude(said(request), other, `round ${round}`)
          }
          const [, last] = requests.filter(({ call }) => call.agentId === "parent")
          assert.deepStrictEqual(reports(last!.request), [
            { report: { found: "scout is done" } },
            { report: { found: "clerk is done" } }
          ], `round ${round}`)
          orders.add(requests.map(({ call }) => call.agentId).join())
        }
        // A schedule that never changes would prove nothing.
        assert.isAbove(orders.size, 10)
      }),
    60_000
  )

  it.effect(
    `C34 parallel runs of one agent follow the scripts of their inputs, ${rounds} times in any order`,
    () =>
      Effect.gen(function*() {
        const topics = ["sea", "land", "sky"]
        for (let round = 0; round < rounds; round++) {
          const requests = yield* randomly(round, (random, later) =>
            Effect.gen(function*() {
              const parent = yield* AgentBuilder.make("parent").withSubagents([agent("scout", random)]).build()
              yield* parent.run("Go", { threadId: `t-${round}` })
              return yield* (yield* ScriptedModel.ScriptedModel).requests
            }).pipe(Effect.provide([
              Mandate.layerMemory,
              Models.layer({
                parent: [Step.calls(...topics.map((topic) => Step.task("scout", { topic }))), Step.text("done")],
                scout: Script.byInput((input) => {
                  const topic = topics.find((topic) => input.includes(topic))
                  return topic === undefined ? undefined : script(topic, later)
                })
              })
            ])))

          const [, last] = requests.filter(({ call }) => call.agentId === "parent")
          assert.deepStrictEqual(
            reports(last!.request),
            topics.map((topic) => ({ report: { found: `${topic} is done` } })),
            `round ${round}`
          )
        }
      }),
    60_000
  )

  it.effect(
    "C34 parallel runs of one agent take scripts by the order of their first calls, whatever that order is",
    () =>
      Effect.gen(function*() {
        const ordinals = ["first", "second", "third"]
        const orders = new Set<string>()
        for (let round = 0; round < rounds; round++) {
          const requests = yield* randomly(round, (random, later) =>
            Effect.gen(function*() {
              const parent = yield* AgentBuilder.make("parent")
                .withSubagents([agent("scout", random)], { maxConcurrentChildren: 1 + round % 3 }).build()
              yield* parent.run("Go", { threadId: `t-${round}` })
              return yield* (yield* ScriptedModel.ScriptedModel).requests
            }).pipe(Effect.provide([
              Mandate.layerMemory,
              Models.layer({
                parent: [
                  Step.calls(...["sea", "land", "sky"].map((topic) => Step.task("scout", { topic }))),
                  Step.text("done")
                ],
                scout: Script.runs(...ordinals.map((name) => script(name, later)))
              })
            ])))

          const [, last] = requests.filter(({ call }) => call.agentId === "parent")
          const scouts = requests.filter(({ call }) => call.agentId === "scout")
          const started = [...new Set(scouts.map(({ call }) => call.runId))]
          const names = [0, 1, 2].map((call) => ordinals[started.indexOf(`t-${round}#0/0.${call}#0`)])
          assert.deepStrictEqual(
            reports(last!.request),
            names.map((name) => ({ report: { found: `${name} is done` } })),
            `round ${round}`
          )
          orders.add(names.join())
        }
        assert.isAbove(orders.size, 2)
      }),
    60_000
  )
})

const mismatchOf = (scripts: Script.Scripts) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Layer.merge(Mandate.layerMemory, Models.layer(scripts)), scope)
    const random = randomOf(0)
    yield* Effect.gen(function*() {
      const parent = yield* AgentBuilder.make("parent")
        .withSubagents([agent("scout", random), agent("clerk", random)]).build()
      return yield* Effect.exit(parent.run("Go", { threadId: "t" }))
    }).pipe(Effect.provideContext(context))
    const exit = yield* Effect.exit(Scope.close(scope, Exit.void))
    return Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "no mismatch"
  })

const both = Step.calls(Step.task("scout", { topic: "sea" }), Step.task("clerk", { topic: "land" }))

describe("C34 scripts that do not fit", () => {
  it.effect("C34 a call without a step names its agent, its run and its step", () =>
    Effect.gen(function*() {
      const mismatch = yield* mismatchOf({
        parent: [both],
        scout: [Step.report({ found: "sea" })],
        clerk: [Step.pause()]
      })

      assert.include(mismatch, "Unscripted model call of agent \"clerk\", run \"t#0/0.1#0\", step 1")
      assert.notInclude(mismatch, "agent \"scout\"")
    }))

  it.effect("C34 steps that no call took are reported at the end, by agent", () =>
    Effect.gen(function*() {
      const mismatch = yield* mismatchOf({
        parent: [both, Step.text("done")],
        scout: [Step.report({ found: "sea" }), Step.report({ found: "again" })],
        clerk: [Step.report({ found: "land" })]
      })

      assert.include(mismatch, "scout")
      assert.notInclude(mismatch, "clerk")
      assert.notInclude(mismatch, "Unscripted")
    }))
})
