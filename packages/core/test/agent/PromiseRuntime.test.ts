import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  AgentDefinitionError,
  Answer,
  Mandate,
  MemoryRunStore,
  PromiseRuntime,
  RunError,
  RunStore,
  Threads,
  TypedAgent
} from "@mandate/core"
import { FixedIds, Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

const clerk = AgentBuilder.make("clerk")
const researcher = TypedAgent.make("researcher", {
  description: "Researches",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ at: Schema.Date })
})

class Place extends Context.Service<Place, { readonly name: string }>()("test/Place") {}

const runtimeOf = (script: Script.Script) =>
  PromiseRuntime.make(
    Layer.mergeAll(
      Mandate.layerMemory,
      Models.layer({ clerk: script }),
      Layer.succeed(Place, { name: "here" })
    ).pipe(Layer.provide(FixedIds.layer))
  )

const thrownBy = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail("it did not reject")
}

describe("PromiseRuntime", () => {
  it("builds an agent and runs it on a thread", async () => {
    await using runtime = runtimeOf(Script.program((request) => Step.text(`${request.messages.length} messages`)))
    const agent = await runtime.build(clerk)

    const first = await agent.run("Go", { threadId: "t" })
    const second = await agent.run("Go on", { threadId: "t" })

    assert.strictEqual(agent.id, "clerk")
    assert.deepStrictEqual(first.status, { _tag: "Completed", answer: "1 messages" })
    assert.deepStrictEqual(second.status, { _tag: "Completed", answer: "3 messages" })
    assert.deepStrictEqual((await agent.status("t")).status, second.status)
    assert.lengthOf(await agent.history("t"), 2)
    await agent.forget("t")
    assert.deepInclude(await thrownBy(agent.status("t")), { reason: { _tag: "UnknownThread", threadId: "t" } })
  })

  it("runs any other effect with its services, until its signal is given", async () => {
    await using runtime = runtimeOf([Step.text("done")])
    const agent = await runtime.build(clerk)
    await agent.run("Go", { threadId: "t" })
    const listed = await runtime.run(Threads.list())
    const place = await runtime.run(Effect.map(Place, ({ name }) => name))
    const controller = new AbortController()
    const waiting = thrownBy(runtime.run(Effect.never, { signal: controller.signal }))
    controller.abort("enough")

    assert.deepStrictEqual(listed.map(({ state, threadId }) => `${threadId} ${state}`), ["t Settled"])
    assert.strictEqual(place, "here")
    assert.strictEqual(await waiting, "enough")
    assert.deepInclude(await thrownBy(runtime.run(Threads.runs("nobody"))), {
      reason: { _tag: "UnknownThread", threadId: "nobody" }
    })
  })

  it("binds a subagent and gives its typed outcome", async () => {
    await using runtime = PromiseRuntime.make(Layer.merge(
      Mandate.layerMemory,
      Models.layer({ researcher: [Step.report({ at: "1970-01-01T00:00:00.000Z" })] })
    ))
    const bound = await runtime.bind(researcher)
    const outcome = await bound.run({ topic: "tides" })

    assert.deepStrictEqual(outcome._tag === "Reported" ? outcome.report : outcome._tag, { at: new Date(0) })
  })

  it("gives agents the services of its layer", async () => {
    await using runtime = runtimeOf([Step.call("where", {}), Step.text("done")])
    const Where = Tool.make("where", { success: Schema.String })
    const seen: Array<string> = []
    const agent = await runtime.build(clerk.withTools(Toolkit.make(Where), {
      where: () => Effect.map(Place, ({ name }) => `${seen.push(name)}`)
    }))
    await agent.run("Go")

    assert.deepStrictEqual(seen, ["here"])
  })

  it("streams events, the result last", async () => {
    await using runtime = runtimeOf([Step.text("done")])
    const agent = await runtime.build(clerk)
    const tags: Array<string> = []
    for await (const event of agent.stream("Go")) {
      tags.push(event._tag === "RunFinished" ? `${event._tag} ${event.result.status._tag}` : event._tag)
    }

    assert.strictEqual(tags[0], "RunStarted")
    assert.include(tags, "ModelCallCompleted")
    assert.strictEqual(tags.at(-1), "RunFinished Completed")
  })

  it("leaves a run alone when its events are left", async () => {
    await using runtime = runtimeOf([Step.delay("5 millis", Step.text("done"))])
    const agent = await runtime.build(clerk)
    for await (const _ of agent.stream("Go", { threadId: "t" })) break
    await new Promise((resolve) => setTimeout(resolve, 50))

    assert.strictEqual((await agent.status("t")).status._tag, "Completed")
  })

  it("starts a run and gives a handle to it", async () => {
    await using runtime = runtimeOf([Step.delay("5 millis", Step.text("done"))])
    const agent = await runtime.build(clerk)
    const handle = await agent.start("Go", { threadId: "t" })
    const tags: Array<string> = []
    for await (const { _tag } of handle.events) tags.push(_tag)
    const { status } = await handle.await()

    assert.strictEqual(handle.runId, "t#0")
    assert.deepStrictEqual([tags[0], tags.at(-1)], ["RunStarted", "RunSettled"])
    assert.strictEqual(status._tag, "Completed")
  })

  it("suspends on a tool that needs approval, and goes on with the answer", async () => {
    await using runtime = runtimeOf([Step.call("pay", {}), Step.text("done")])
    const paid: Array<string> = []
    const Pay = Tool.make("pay", { needsApproval: true })
    const agent = await runtime.build(clerk.withTools(Toolkit.make(Pay), {
      pay: () => Effect.sync(() => void paid.push("paid"))
    }))
    const { status } = await agent.run("Go", { threadId: "t" })
    assert(status._tag === "Suspended")
    assert.deepStrictEqual(paid, [])
    assert.instanceOf(await thrownBy(agent.resume("t", [Answer.approve("0.7:approval0")])), RunError.RunError)

    const resumed = await agent.resume("t", status.pending.map(({ id }) => Answer.approve(id)))
    assert.deepStrictEqual(resumed.status, { _tag: "Completed", answer: "done" })
    assert.deepStrictEqual(paid, ["paid"])
  })

  it("cancels runs by their handle and by their thread", async () => {
    await using runtime = runtimeOf(Script.each([Step.hang()]))
    const agent = await runtime.build(clerk)
    const handle = await agent.start("Go", { threadId: "t" })
    await handle.cancel()
    assert.strictEqual((await handle.await()).status._tag, "Cancelled")

    const other = await agent.start("Go", { threadId: "u" })
    await agent.cancel("u")
    assert.strictEqual((await other.await()).status._tag, "Cancelled")
  })
})

describe("PromiseRuntime rejections", () => {
  it("are the problems of a definition", async () => {
    await using runtime = runtimeOf([])
    const error = await thrownBy(runtime.build(clerk.withMaxSteps(0)))

    assert.instanceOf(error, AgentDefinitionError.AgentDefinitionError)
    assert.strictEqual(error.problems[0].kind, "InvalidSetting")
    assert.instanceOf(await thrownBy(runtime.bind(researcher.withReasks(9))), AgentDefinitionError.AgentDefinitionError)
  })

  it("are the run errors themselves", async () => {
    await using runtime = runtimeOf([Step.fail("authentication")])
    const agent = await runtime.build(clerk)
    const error = await thrownBy(agent.run("Go", { threadId: "t" }))

    assert.instanceOf(error, RunError.RunError)
    assert.strictEqual(error.reason._tag, "ModelFailed")
    assert.instanceOf(await thrownBy(agent.history("nowhere")), RunError.RunError)
  })

  it("are thrown by the iteration of a stream", async () => {
    await using runtime = runtimeOf([Step.fail("authentication")])
    const agent = await runtime.build(clerk)
    const error = await thrownBy((async () => {
      for await (const _ of agent.stream("Go")) { /* looks at nothing */ }
    })())

    assert.instanceOf(error, RunError.RunError)
    assert.strictEqual(error.reason._tag, "ModelFailed")
  })

  it("are what the layer failed with", async () => {
    const broken = Layer.effectDiscard(Effect.fail("no database"))
    await using runtime = PromiseRuntime.make(
      Layer.mergeAll(Mandate.layerMemory, Models.layer({}), broken)
    )

    assert.strictEqual(await thrownBy(runtime.build(clerk)), "no database")
  })

  it("are the signal's reason, once the run is cancelled", async () => {
    await using runtime = runtimeOf([Step.hang()])
    const agent = await runtime.build(clerk)
    const controller = new AbortController()
    const reason = new Error("enough")
    const running = agent.run("Go", { threadId: "t", signal: controller.signal })
    setTimeout(() => controller.abort(reason), 5)

    assert.strictEqual(await thrownBy(running), reason)
    assert.strictEqual((await agent.status("t")).status._tag, "Cancelled")
  })

  it("come before anything starts when the signal is aborted already", async () => {
    await using runtime = runtimeOf([])
    const agent = await runtime.build(clerk)

    assert.strictEqual(await thrownBy(agent.run("Go", { threadId: "t", signal: AbortSignal.abort("no") })), "no")
    assert.instanceOf(await thrownBy(agent.status("t")), RunError.RunError)
  })

  it("are the signal's reason for a recovery, which is cancelled", async () => {
    await using runtime = runtimeOf([Step.again(Step.fail("authentication"), Step.hang())])
    const agent = await runtime.build(clerk)
    await thrownBy(agent.run("Go", { threadId: "t" }))
    const signal = AbortSignal.timeout(10)

    assert.strictEqual(await thrownBy(agent.recover("t", { signal })), signal.reason)
    assert.strictEqual((await agent.status("t")).status._tag, "Cancelled")
  })
})

describe("PromiseRuntime.close", () => {
  // Two runtimes, one after the other, on one store and one model.
  const processes = (script: Script.Script) =>
    Effect.gen(function*() {
      const store = yield* Effect.provide(RunStore.RunStore, MemoryRunStore.layer)
      const model = yield* ScriptedModel.make({ clerk: script })
      return () =>
        PromiseRuntime.make(Layer.merge(
          Mandate.layer.pipe(
            Layer.provide(Layer.succeed(RunStore.RunStore, store)),
            Layer.provide(Mandate.layerConfig({ cancelGrace: 0, closeGrace: 0 }))
          ),
          Models.layerOf(model)
        ))
    })

  it.live("leaves open runs to be recovered, and rejects what waits for them", () =>
    Effect.gen(function*() {
      const process = yield* processes([Step.again(Step.hang(), Step.text("done"))])
      yield* Effect.promise(async () => {
        const first = process()
        const agent = await first.build(clerk)
        const running = thrownBy(agent.run("Go", { threadId: "t" }))
        await new Promise((resolve) => setTimeout(resolve, 10))
        await first.close()
        assert.deepStrictEqual(
          await running,
          new RunError.RunError({ reason: { _tag: "IncompleteRun", threadId: "t" } })
        )

        await using second = process()
        const again = await second.build(clerk)
        assert.strictEqual((await again.status("t")).status._tag, "Running")
        assert.deepStrictEqual((await again.recover("t")).status, { _tag: "Completed", answer: "done" })
      })
    }).pipe(Effect.scoped))

  it("refuses every later call, and may be called again", async () => {
    const runtime = runtimeOf([])
    const agent = await runtime.build(clerk)
    await runtime.close()
    await runtime.close()
    await runtime[Symbol.asyncDispose]()

    const errors = [
      await thrownBy(runtime.build(clerk)),
      await thrownBy(agent.run("Go")),
      await thrownBy(agent.stream("Go")[Symbol.asyncIterator]().next())
    ]
    for (const error of errors) assert.include(String(error), "The runtime is closed")
  })

  it("ends what agents acquired when they were built", async () => {
    const log: Array<string> = []
    const Look = Tool.make("look")
    const tools = Toolkit.make(Look)
    const acquired = Effect.andThen(
      Effect.acquireRelease(Effect.sync(() => log.push("open")), () => Effect.sync(() => log.push("closed"))),
      tools.pipe(Effect.provide(tools.toLayer({ look: () => Effect.sync(() => void log.push("used")) })))
    )
    const runtime = runtimeOf([Step.call("look", {}), Step.text("done")])
    const agent = await runtime.build(clerk.withToolkit(acquired))
    await agent.run("Go")
    await runtime.close()

    assert.deepStrictEqual(log, ["open", "used", "closed"])
  })
})
