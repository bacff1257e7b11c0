import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, PromiseRuntime, type RunError, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, ScriptError, Step } from "@mandate/testing"
import { Effect, Layer, Logger, Result, Schedule } from "effect"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")
const scribe = TypedAgent.text("scribe", { description: "Writes" })
const lead = AgentBuilder.make("clerk").withSubagents([scribe])
const secret = "SECRET-4711"
const bug = (): never => {
  throw new TypeError(secret)
}
const bugs: ReadonlyArray<readonly [string, AgentBuilder.AgentBuilder<string>, Script.Scripts]> = [
  [
    "a retry schedule",
    clerk.withRetry(Schedule.while(Schedule.recurs(1), bug)),
    { clerk: Script.optional([Step.fail("overloaded")]) }
  ],
  ["a model client", clerk, { clerk: Script.program(() => Effect.sync(bug)) }]
]

const scripts: ReadonlyArray<readonly [string, AgentBuilder.AgentBuilder<string>, Script.Scripts]> = [
  ["no step", clerk, { clerk: [] }],
  ["no second step", clerk, { clerk: [Step.call("nothing", {})] }],
  ["no agent", clerk, { other: Script.optional([Step.text("x")]) }],
  ["no step of a child", lead, { clerk: Script.optional([Step.taskOf(scribe, { description: "Two" })]), scribe: [] }],
  ["no further attempt", clerk.withRetry(Schedule.recurs(1)), { clerk: [Step.fail("overloaded")] }]
]

/** Closing the runtime reports the mismatch once more, which is not what is tested here. */
const runtimeOf = (scripted: Script.Scripts) =>
  PromiseRuntime.make(Layer.mergeAll(Mandate.layerMemory, Models.layer(scripted), Logger.layer([])))

const rejection = async (agent: AgentBuilder.AgentBuilder<string>, scripted: Script.Scripts, way: "run" | "stream") => {
  const runtime = runtimeOf(scripted)
  const built = await runtime.build(agent)
  const ask = async () => {
    if (way === "run") return void await built.run("Go", { threadId: "t" })
    for await (const event of built.stream("Go", { threadId: "t" })) void event
  }
  const error: RunError.RunError = await ask().then(() => assert.fail("the run ended"), (error) => error)
  await runtime.close().catch(() => undefined)
  return error
}

describe("N10: a call that no step was scripted for", () => {
  for (const [name, agent, scripted] of scripts) {
    for (const way of ["run", "stream"] as const) {
      it(`N10: ${name}: the error of ${way} has the mismatch as its cause, and in its message`, async () => {
        const error = await rejection(agent, scripted, way)

        assert.strictEqual(error.reason._tag, "Defect")
        assert.instanceOf(error.cause, ScriptError.UnscriptedCall)
        const { message } = error.cause as Error
        assert.match(message, /^Unscripted model call of agent/)
        assert.include(error.message, message)
        assert.include(String(error.stack), message)
      })
    }
  }

  for (const [name, agent, scripted] of bugs) {
    for (const way of ["run", "stream"] as const) {
      it(`N10: a bug of ${name} is the cause of the error of ${way}, and its words are not in the message`, async () => {
        const error = await rejection(agent, scripted, way)

        assert.strictEqual(error.reason._tag, "Defect")
        assert.include((error.cause as Error).message, secret)
        assert.notInclude(error.message, secret)
        assert.include(error.message, "see the cause of this error, and the log of the process that drove it")
        assert.notInclude(JSON.stringify(error), secret)
      })
    }
  }

  for (const backing of backings) {
    it.effect(`N10: another process reads that it was a bug, and nothing of the bug, on ${backing.name}`, () =>
      Effect.gen(function*() {
        const store = yield* backing.make
        const model = yield* ScriptedModel.make({ clerk: Script.program(() => Effect.die(new TypeError(secret))) })
        const { next } = Waiting.processesOf(store, model)
        const first = yield* next(
          Effect.flatMap(clerk.build(), (agent) => Effect.flip(agent.run("Go", { threadId: "t" })))
        )
        const seen = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.status("t")))

        assert.include(String((first.cause as Error).message), secret)
        assert.notInclude(JSON.stringify([seen, yield* store.thread("t"), yield* store.events("t", 0)]), secret)
      }).pipe(Effect.provide(Logger.layer([]))))
  }

  it("N10: closing the runtime says which calls differ from the script", async () => {
    const runtime = runtimeOf({ clerk: [Step.text("never asked for")] })
    await runtime.build(clerk)
    const closed = await Effect.runPromise(Effect.result(Effect.tryPromise(() => runtime.close())))

    assert.isTrue(Result.isFailure(closed))
  })
})
