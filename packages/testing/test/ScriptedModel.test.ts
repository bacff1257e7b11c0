import { assert, describe, it } from "@effect/vitest"
import { Message, ModelRegistry } from "@mandate/core"
import { Script, ScriptedModel, ScriptError, Step } from "@mandate/testing"
import { Cause, Effect, Exit, Fiber, Random, Ref } from "effect"
import { asking, at, textOf } from "./calling.ts"

const texts = (...texts: ReadonlyArray<string>) => texts.map(Step.text)

/** The defects that a use of a scripted model ends with. */
const defectsOf = <E>(
  scripts: Script.Scripts,
  use: (model: ScriptedModel.ScriptedModel["Service"]) => Effect.Effect<unknown, E>
) =>
  ScriptedModel.ScriptedModel.pipe(
    Effect.flatMap(use),
    Effect.provide(ScriptedModel.layer(scripts)),
    Effect.exit,
    Effect.map((exit) =>
      Exit.isSuccess(exit)
        ? []
        : exit.cause.reasons.flatMap((reason) => Cause.isDieReason(reason) ? [reason.defect] : [])
    )
  )

const mismatchIn = (defects: ReadonlyArray<unknown>) =>
  defects.find((defect) => defect instanceof ScriptError.ScriptMismatch)

describe("ScriptedModel", () => {
  it.effect("takes each attempt of each step in order", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({ clerk: [Step.fail("overloaded"), ...texts("again", "then")] })

      assert.strictEqual((yield* Effect.flip(textOf(client, at("clerk", "t#0", 0, 0)))).reason, "overloaded")
      assert.strictEqual(yield* textOf(client, at("clerk", "t#0", 0, 1)), "again")
      assert.strictEqual(yield* textOf(client, at("clerk", "t#0", 1, 0)), "then")
    }))

  it.effect("gives a step again when the same run asks for it again, and takes no further one", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.fail("overloaded"), ...texts("first", "second")] })
      const drive = [at("clerk", "t#0", 0, 0), at("clerk", "t#0", 0, 1)]
      const run = Effect.forEach(drive, (call) => Effect.result(textOf(model.client, call)))

      assert.deepStrictEqual(yield* run, yield* run)
      assert.strictEqual(yield* textOf(model.client, at("clerk", "t#0", 1)), "second")
      assert.strictEqual(yield* textOf(model.client, at("clerk", "t#0", 1)), "second")
      assert.deepStrictEqual(yield* model.unusedSteps, [])
      assert.strictEqual(yield* model.calls, 6)
    }))

  it.effect("gives runs their steps by start order", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({ clerk: Script.runs(texts("a0", "a1"), texts("b0", "b1")) })
      const calls = [at("clerk", "late#0"), at("clerk", "early#0"), at("clerk", "early#0", 1), at("clerk", "late#0", 1)]
      assert.deepStrictEqual(yield* Effect.forEach(calls, (call) => textOf(client, call)), ["a0", "b0", "b1", "a1"])
    }))

  it.effect("gives each run the same steps", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({ clerk: Script.each(texts("a", "b")) })
      const calls = [at("clerk", "t#0"), at("clerk", "t#1"), at("clerk", "t#0", 1), at("clerk", "t#1", 1)]
      assert.deepStrictEqual(yield* Effect.forEach(calls, (call) => textOf(client, call)), ["a", "a", "b", "b"])
    }))

  it.effect("chooses the steps of a run by its last user message", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({
        clerk: Script.byInput((input) => texts(`${input}-0`, `${input}-1`))
      })
      const request = {
        ...asking("old"),
        messages: [Message.userText("old"), { role: "assistant" as const, content: [] }, Message.userText("new")]
      }

      assert.strictEqual(yield* textOf(client, at("clerk", "t#0"), request), "new-0")
      assert.strictEqual(yield* textOf(client, at("clerk", "t#0", 1), asking("other")), "new-1")
    }))

  it.effect("answers every call by a program", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        clerk: Script.program((_, { runId, step }) => Effect.succeed(Step.text(`${runId} ${step}`)))
      })
      const calls = [at("clerk", "t#0"), at("clerk", "t#0", 7), at("clerk", "t#1", 2)]

      const answers = yield* Effect.forEach(calls, (call) => textOf(model.client, call))
      assert.deepStrictEqual(answers, ["t#0 0", "t#0 7", "t#1 2"])
      assert.deepStrictEqual(yield* model.unusedSteps, [])
    }))

  it.effect("scripts an agent that a run is handed to by that agent's own script", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({ desk: texts("desk"), refunds: texts("refunds") })
      assert.strictEqual(yield* textOf(client, at("desk", "t#0", 0)), "desk")
      assert.strictEqual(yield* textOf(client, at("refunds", "t#0", 1)), "refunds")
    }))

  it.effect("falls back to the beginnings of an agent id with slashes", () =>
    Effect.gen(function*() {
      const { client } = yield* ScriptedModel.make({
        "desk/triage": Script.runs([Step.call("find")], texts("second")),
        "desk/triage/s-3": texts("third")
      })
      const { parts: [part] } = yield* client.generate(asking("go"), at("desk/triage/s-1", "a#0"))

      assert.deepInclude(part, { id: "call-desk-triage-0-0-0" })
      assert.strictEqual(yield* textOf(client, at("desk/triage/s-2", "b#0")), "second")
      assert.strictEqual(yield* textOf(client, at("desk/triage/s-3", "c#0")), "third")
    }))

  // C34
  it.effect("never lets parallel runs take each other's steps, however they are scheduled", () =>
    Effect.gen(function*() {
      for (let seed = 0; seed < 200; seed++) {
        const model = yield* ScriptedModel.make({
          parent: texts("p0", "p1"),
          scout: Script.byInput((input) => texts(`${input}0`, `${input}1`, `${input}2`)),
          clerk: texts("c0", "c1", "c2")
        })
        const run = (agentId: string, runId: string, input: string, steps: number) =>
          Effect.forEach(
            Array.from({ length: steps }, (_, step) => step),
            (step) =>
              Random.nextIntBetween(0, 4).pipe(
                Effect.flatMap((yields) => Effect.forEach(Array.from({ length: yields }), () => Effect.yieldNow)),
                Effect.andThen(textOf(model.client, at(agentId, runId, step), asking(input)))
              )
          )

        const answers = yield* Effect.all([
          run("parent", "t#0", "go", 2),
          run("scout", "t#0/0.0#0", "x", 3),
          run("scout", "t#0/0.1#0", "y", 3),
          run("clerk", "t#0/0.2#0", "z", 3)
        ], { concurrency: "unbounded" }).pipe(Random.withSeed(seed))

        assert.deepStrictEqual(answers, [["p0", "p1"], ["x0", "x1", "x2"], ["y0", "y1", "y2"], ["c0", "c1", "c2"]])
        assert.deepStrictEqual(yield* model.unusedSteps, [])
      }
    }))

  it.effect("records requests as they were, deeply frozen", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: texts("a"), scout: texts("b") })
      const messages = [Message.userText("go")]
      const call = at("clerk", "t#0")

      yield* model.client.generate({ ...asking(""), messages }, call)
      messages.push(Message.userText("more"))
      yield* model.client.generate(asking("look"), at("scout", "t#1"))

      const requests = yield* model.requests
      assert.deepStrictEqual(requests, [
        { request: asking("go"), call },
        { request: asking("look"), call: at("scout", "t#1") }
      ])
      assert.deepStrictEqual(yield* model.requestsOf("scout"), requests.slice(1))
      const isFrozen = (value: unknown): boolean =>
        typeof value !== "object" || value === null || Object.isFrozen(value) && Object.values(value).every(isFrozen)
      assert.isTrue(requests.every(isFrozen))
    }))

  it.effect("waits until calls have arrived", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: Script.each([Step.hang()]) })
      const waiting = yield* Effect.forkChild(model.awaitCalls(2), { startImmediately: true })

      yield* Effect.forkChild(textOf(model.client, at("clerk", "t#0")), { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* Effect.forkChild(textOf(model.client, at("clerk", "t#1")), { startImmediately: true })

      yield* Fiber.join(waiting)
      yield* model.awaitCalls(1)
    }))

  it.effect("has begun the step of a call when a wait for it ends", () =>
    Effect.gen(function*() {
      const begun = yield* Ref.make(false)
      const step = () => Effect.as(Ref.set(begun, true), Step.hang())
      const model = yield* ScriptedModel.make({ clerk: [step] })
      yield* Effect.forkChild(textOf(model.client, at("clerk", "t#0")))

      yield* model.awaitCalls(1)

      assert.isTrue(yield* Ref.get(begun))
    }))

  it.effect("is the model of every id and the default", () =>
    Effect.gen(function*() {
      const registry = yield* ModelRegistry.ModelRegistry
      const { client } = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(yield* registry.get(undefined), client)
      assert.strictEqual(yield* registry.get("any"), client)
    }).pipe(Effect.provide(ScriptedModel.layer({}))))

  it.effect("is shared by the layers of one model", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: texts("a", "b") })
      const ask = (step: number) =>
        ModelRegistry.ModelRegistry.pipe(
          Effect.flatMap((registry) => registry.get("any")),
          Effect.flatMap((client) => textOf(client, at("clerk", "t#0", step))),
          Effect.provide(ScriptedModel.layerOf(model), { local: true })
        )

      assert.deepStrictEqual([yield* ask(0), yield* ask(1), yield* ask(1)], ["a", "b", "b"])
    }))
})

describe("ScriptedModel at the end of its scope", () => {
  it.effect("is content when every step was taken", () =>
    Effect.gen(function*() {
      const defects = yield* defectsOf({ clerk: texts("a") }, ({ client }) => textOf(client, at("clerk", "t#0")))
      assert.deepStrictEqual(defects, [])
    }))

  it.effect("reports steps that are left over by agent and run", () =>
    Effect.gen(function*() {
      const scripts = {
        clerk: texts("a", "b", "c"),
        scout: Script.runs(texts("a"), texts("b", "c")),
        twin: Script.each(texts("a", "b")),
        idle: Script.each(texts("a")),
        chooser: Script.byInput(() => texts("a", "b")),
        program: Script.program(() => Step.text("a"))
      }
      const calls = [at("clerk", "t#0"), at("scout", "t#1"), at("twin", "t#2"), at("twin", "t#3"), at("chooser", "t#4")]
      const defects = yield* defectsOf(scripts, ({ client }) => Effect.forEach(calls, (call) => textOf(client, call)))

      assert.lengthOf(defects, 1)
      assert.strictEqual(
        mismatchIn(defects)?.message,
        [
          "The calls differ from the script:",
          "- Agent \"clerk\", run 0 (\"t#0\"): 2 of 3 steps left over",
          "- Agent \"scout\", run 1 (never started): 2 of 2 steps left over",
          "- Agent \"twin\", run 0 (\"t#2\"): 1 of 2 steps left over",
          "- Agent \"twin\", run 1 (\"t#3\"): 1 of 2 steps left over",
          "- Agent \"idle\", run 0 (never started): 1 of 1 steps left over",
          "- Agent \"chooser\", run 0 (\"t#4\"): 1 of 2 steps left over",
          "Script.optional(script) allows steps to be left over; Script.program(answer) leaves none."
        ].join("\n")
      )
    }))

  it.effect("allows an optional script to leave steps over", () =>
    Effect.gen(function*() {
      const scripts = { clerk: Script.optional(texts("a", "b")), scout: Script.optional(Script.each(texts("a"))) }
      const defects = yield* defectsOf(scripts, ({ client }) => textOf(client, at("clerk", "t#0")))
      assert.deepStrictEqual(defects, [])
    }))

  it.effect("leaves leftovers out when the scope closes with a failure", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* defectsOf({ clerk: texts("a") }, () => Effect.fail("wrong")), [])
    }))

  it.effect("names agent, run and step of an unscripted call, also when the call's defect was swallowed", () =>
    Effect.gen(function*() {
      const scripts = {
        clerk: texts("a"),
        scout: Script.optional(Script.runs(texts("a"))),
        chooser: Script.byInput(() => undefined)
      }
      const defects = yield* defectsOf(scripts, ({ client }) =>
        Effect.forEach(
          [
            at("clerk", "t#0"),
            at("clerk", "t#0", 1),
            at("clerk", "t#1", 0, 2),
            at("chooser", "t#2"),
            at("ghost", "t#3", 4)
          ],
          (call) => Effect.exit(textOf(client, call))
        ))

      assert.lengthOf(defects, 1)
      assert.strictEqual(
        mismatchIn(defects)?.message,
        [
          "The calls differ from the script:",
          "- Unscripted model call of agent \"clerk\", run \"t#0\", step 1: all 1 steps scripted for run 0 (by start order) are taken",
          "- Unscripted model call of agent \"clerk\", run \"t#1\", step 0, attempt 2: this is run 1 (by start order), and only 1 are scripted",
          "- Unscripted model call of agent \"chooser\", run \"t#2\", step 0: the script chose no steps for the input of run 0 (by start order)",
          "- Unscripted model call of agent \"ghost\", run \"t#3\", step 4: the agent has no script; there are scripts for clerk, scout, chooser"
        ].join("\n")
      )
    }))

  it.effect("makes an unscripted call a defect, and forgets no part of it", () =>
    Effect.gen(function*() {
      const defects = yield* defectsOf({}, ({ client }) => textOf(client, at("ghost", "t#0", 3)))
      const fields = { agentId: "ghost", runId: "t#0", step: 3, attempt: 0 }

      assert.lengthOf(defects, 2)
      assert.deepInclude({ ...defects.find((defect) => defect instanceof ScriptError.UnscriptedCall) }, fields)
      assert.deepInclude({ ...mismatchIn(defects)?.unscripted[0] }, fields)
    }))
})
