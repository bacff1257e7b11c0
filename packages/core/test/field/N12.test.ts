import { assert, describe, it } from "@effect/vitest"
import * as Core from "@mandate/core"
import { AgentBuilder, ErrorClass, Mandate, ModelError, PromiseRuntime, RunError, TypedAgent } from "@mandate/core"
import * as Postures from "@mandate/core/postures"
import * as Sqlite from "@mandate/core/sqlite"
import { Step } from "@mandate/testing"
import * as Testing from "@mandate/testing"
import { Cause, Effect, Layer, Logger, Schema } from "effect"
import { inspect } from "node:util"
import * as Models from "../support/Models.ts"

const scripted = (...steps: ReadonlyArray<Step.Step>) =>
  PromiseRuntime.make(Layer.mergeAll(
    Mandate.layerMemory,
    Models.layer({ clerk: Testing.Script.optional(steps) }),
    Logger.layer([])
  ))

const clerk = AgentBuilder.make("clerk")

/** The error of a promise. */
const errorOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(() => assert.fail("the promise was fulfilled"), (error) => error as Error)

const verbs: ReadonlyArray<
  readonly [name: string, verb: (agent: PromiseRuntime.PromiseAgent<string>) => Promise<unknown>]
> = [
  ["run", async function callOfUser(agent) {
    await agent.run("Go", { threadId: "t" })
  }],
  ["run of no input", async function callOfUser(agent) {
    await agent.run("")
  }],
  ["run after a wait", async function callOfUser(agent) {
    await Promise.resolve()
    await agent.run("Go", { threadId: "t" })
  }],
  ["start", async function callOfUser(agent) {
    await agent.start("Go", { threadId: "" })
  }],
  ["await of a handle", async function callOfUser(agent) {
    const handle = await agent.start("Go", { threadId: "t" })
    await handle.await()
  }],
  ["resume", async function callOfUser(agent) {
    await agent.resume("t", [])
  }],
  ["recover", async function callOfUser(agent) {
    await agent.recover("t")
  }],
  ["cancel", async function callOfUser(agent) {
    await agent.cancel("t")
  }],
  ["status", async function callOfUser(agent) {
    await agent.status("t")
  }],
  ["history", async function callOfUser(agent) {
    await agent.history("t")
  }],
  ["stream", async function callOfUser(agent) {
    for await (const event of agent.stream("Go", { threadId: "t" })) void event
  }]
]

const failing = Step.fail("authentication")

/** Every class of errors that the packages export. */
const classes: ReadonlyArray<readonly [string, { readonly prototype: Error; readonly identifier: string }]> = [
  Core,
  Postures,
  Sqlite,
  Testing
].flatMap((module) => [...Object.values(module), module])
  .flatMap((part) => typeof part === "object" ? Object.entries(part as object) : [])
  .filter(([, value]) => typeof value === "function" && value.prototype instanceof Error)
  .map(([name, value]) => [name, value] as const)

describe("N12: errors of promises", () => {
  for (const [name, verb] of verbs) {
    it(`N12: the stack of a rejected ${name} has the frames of its caller`, async () => {
      await using runtime = scripted(failing, failing, failing)
      const agent = await runtime.build(clerk)
      const error = await errorOf(verb(agent))

      assert.instanceOf(error, RunError.RunError)
      const { stack = "" } = error
      assert.include(stack.split("\n")[0], `RunError: ${error.message}`)
      assert.match(stack, /callOfUser .*N12\.test\.ts/)
      assert.notMatch(stack, /node_modules[\\/]effect[\\/]/)
      assert.isFalse("cause" in error && error.cause === undefined)
      assert.notInclude(inspect(error), "[cause]")
    })
  }

  it("N12: the stacks of a rejected build, bind and run have the frames of their caller", async () => {
    await using runtime = scripted()
    async function callOfUser(promise: () => Promise<unknown>) {
      await promise()
    }
    const bad = clerk.withMaxSteps(0)
    const typed = TypedAgent.make("", { description: "", input: Schema.String, report: Schema.String })
    for (
      const call of [
        () => runtime.build(bad),
        () => runtime.bind(typed),
        () => runtime.run(Effect.fail(new ModelError.ModelError({ reason: "network", provider: "p", modelId: "m" })))
      ]
    ) {
      assert.match((await errorOf(callOfUser(call))).stack ?? "", /callOfUser .*N12\.test\.ts/)
    }
  })

  it("N12: a runtime whose layer fails rejects each call with that call's frames", async () => {
    const error = new Error("no database")
    await using runtime = PromiseRuntime.make(
      Layer.merge(Mandate.layerMemory, Layer.unwrap(Effect.fail(error))) as Layer.Layer<never, Error> as never
    ) as PromiseRuntime.PromiseRuntime<Mandate.Mandate>
    async function firstCaller() {
      await runtime.run(Effect.void)
    }
    async function secondCaller() {
      await runtime.run(Effect.void)
    }

    assert.match((await errorOf(firstCaller())).stack ?? "", /firstCaller/)
    const second = (await errorOf(secondCaller())).stack ?? ""
    assert.match(second, /secondCaller/)
    assert.notMatch(second, /firstCaller/)
  })

  it("N12: an aborted call rejects with the signal's reason as it is", async () => {
    await using runtime = scripted(Step.hang())
    const agent = await runtime.build(clerk)
    const reason = new Error("enough")
    const { stack } = reason

    assert.strictEqual(await errorOf(agent.run("Go", { signal: AbortSignal.abort(reason) })), reason)
    assert.strictEqual(reason.stack, stack)
  })

  it("N12: console.log shows message, stack and fields of an error, and nothing else", async () => {
    await using runtime = scripted(failing)
    const agent = await runtime.build(clerk)
    const shown = inspect(await errorOf(agent.run("Go", { threadId: "t" })))

    assert.match(shown, /^RunError: The model scripted\/scripted failed/)
    assert.match(shown, /\n {4}at .*N12\.test\.ts/)
    assert.include(shown, "reason: {")
    assert.notMatch(shown, /~mandate|~effect|Symbol\(|_id|plainArgs|\[cause\]|\[stack\]|undefined/)
  })
})

describe("N12: names of errors", () => {
  it("N12: every class of errors is among those that are tested", () => {
    assert.includeMembers(classes.map(([name]) => name), [
      "AgentDefinitionError",
      "DelegateError",
      "ModelError",
      "PostureError",
      "RunError",
      "SqliteError",
      "StoreError",
      "ToolkitError",
      "UnknownModel",
      "UnscriptedCall"
    ])
  })

  for (const [name, { identifier, prototype }] of classes) {
    it(`N12: ${name} has its plain name, and its identifier is kept`, () => {
      assert.strictEqual(prototype.name, name)
      assert.match(identifier, /^~mandate\//)
    })
  }

  it("N12: an error that is encoded has neither its cause nor its stack", () => {
    const error = ErrorClass.withCause(
      new RunError.RunError({ reason: { _tag: "NotSuspended", threadId: "t" } }),
      new Error("SECRET")
    )

    assert.deepStrictEqual(Object.keys(error), ["_tag", "reason"])
    assert.notInclude(JSON.stringify([error, Schema.encodeSync(RunError.RunError)(error)]), "SECRET")
    assert.include(inspect(error), "[cause]: Error: SECRET")
    assert.include(Cause.pretty(Cause.fail(error)), "RunError: The thread \"t\" does not wait for an answer")
  })
})
