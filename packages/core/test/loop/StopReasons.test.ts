import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Ref, Schedule, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import { ways } from "../support/Ways.ts"

const Report = Schema.Struct({ ok: Schema.Boolean })
const Work = Tool.make("work", { parameters: Schema.Struct({ n: Schema.Number }), success: Schema.Number })

const layers = (steps: Script.Steps) => Layer.mergeAll(Mandate.layerMemory, Models.layer({ clerk: steps }))

/** A text agent whose only tool counts what runs. */
const clerk = Effect.gen(function*() {
  const ran = yield* Ref.make<ReadonlyArray<number>>([])
  const text = AgentBuilder.make("clerk")
    .withRetry(Schedule.recurs(0))
    .withTools(Toolkit.make(Work), { work: ({ n }) => Effect.as(Ref.update(ran, (all) => [...all, n]), n) })
  return { ran, text, typed: text.withOutput(Report) }
})

const requests = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests),
  (all) => all.map(({ request }) => request.messages)
)
const roles = Effect.map(requests, (all) => all.map((messages) => messages.map(({ role }) => role)))

const text = (text: string) => ({ type: "text" as const, text })
const work = (n: number) => Step.call("work", { n })
const ok = { ok: true }

for (const [way, run] of ways) {
  describe(`R6 stop reasons of ${way}`, () => {
    for (const reason of ["stop", "tool-calls", "other", "pause"] as const) {
      it.effect(`${reason}: calls run, and their results go to the next step`, () =>
        Effect.gen(function*() {
          const { ran, text } = yield* clerk
          const { status } = yield* run(yield* text.build(), "Go")

          const [, second] = yield* requests
          assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
          assert.deepStrictEqual(yield* Ref.get(ran), [1])
          assert.deepStrictEqual(Results.all(second ?? []), [
            { name: "work", isError: false, value: 1 },
            {
              name: "work",
              isError: true,
              value: { error: { reason: "InvalidArguments", message: "The arguments are not valid: n: Missing key" } }
            }
          ])
        }).pipe(Effect.provide(layers([
          Step.parts([text("Half an answer"), work(1), Step.call("work")], reason),
          Step.text("done")
        ]))))
    }

    for (const reason of ["stop", "tool-calls", "other"] as const) {
      it.effect(`${reason}: a text is the answer of a text agent`, () =>
        Effect.gen(function*() {
          const { status } = yield* run(yield* (yield* clerk).text.build(), "Go")

          assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
        }).pipe(Effect.provide(layers([Step.parts([text("done")], reason)]))))

      it.effect(`${reason}: a report is the answer of a typed agent`, () =>
        Effect.gen(function*() {
          const { status } = yield* run(yield* (yield* clerk).typed.build(), "Go")

          assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: ok })
        }).pipe(Effect.provide(layers([Step.parts([Step.report(ok)], reason)]))))
    }

    for (const reason of ["stop", "tool-calls"] as const) {
      it.effect(`${reason}: a text that decodes is the answer of a typed agent`, () =>
        Effect.gen(function*() {
          const { status } = yield* run(yield* (yield* clerk).typed.build(), "Go")

          assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: ok })
        }).pipe(Effect.provide(layers([Step.parts([text(JSON.stringify(ok))], reason)]))))
    }

    it.effect("other: a text is no answer of a typed agent, even if it would decode", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).typed.withReasks(0).build(), "Go")

        assert.strictEqual(status._tag, "InvalidReport")
      }).pipe(Effect.provide(layers([Step.parts([text(JSON.stringify(ok))], "other")]))))

    it.effect("pause: the next step follows with nothing added, and the text is no answer", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).text.build(), "Go")

        const [first, second, third] = yield* requests
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(second, [...first ?? [], { role: "assistant", content: [text("Searching")] }])
        assert.deepStrictEqual(third, [...second ?? [], { role: "assistant", content: [text("Still")] }])
      }).pipe(Effect.provide(layers([Step.pause("Searching"), Step.pause("Still"), Step.text("done")]))))

    it.effect("pause: a response with nothing in it leaves no message", () =>
      Effect.gen(function*() {
        yield* run(yield* (yield* clerk).text.build(), "Go")

        assert.deepStrictEqual(yield* roles, [["user"], ["user"]])
      }).pipe(Effect.provide(layers([Step.pause(), Step.text("done")]))))

    it.effect("pause: a text that would decode is no answer of a typed agent, and uses up no re-ask", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).typed.withReasks(0).build(), "Go")

        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: ok })
        assert.deepStrictEqual(yield* roles, [["user"], ["user", "assistant"]])
      }).pipe(Effect.provide(layers([Step.pause(JSON.stringify({ ok: false })), Step.report(ok)]))))

    it.effect("pause: a model that only pauses reaches the step limit", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).text.withMaxSteps(2).build(), "Go")

        assert.deepStrictEqual({ ...status }, { _tag: "StepLimitReached", maxSteps: 2 })
      }).pipe(Effect.provide(layers([Step.pause("Searching"), Step.pause("Searching")]))))

    it.effect("content-filter: the run is blocked at once, and no call of the response runs", () =>
      Effect.gen(function*() {
        const { ran, text: agent } = yield* clerk
        const { status } = yield* run(yield* agent.build(), "Go")

        assert.deepStrictEqual({ ...status }, { _tag: "Blocked", guardrail: "provider", reason: "content-filter" })
        assert.deepStrictEqual(yield* Ref.get(ran), [])
        assert.lengthOf(yield* requests, 1)
      }).pipe(Effect.provide(layers([Step.parts([text("done"), work(1)], "content-filter")]))))

    it.effect("length: calls are answered as not run, and none of them runs", () =>
      Effect.gen(function*() {
        const { ran, text } = yield* clerk
        const { status, usage } = yield* run(yield* text.build(), "Go")

        const [, second] = yield* requests
        const cut = { name: "work", isError: true, value: "not run: the response was cut" }
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(yield* Ref.get(ran), [])
        assert.deepStrictEqual(Results.all(second ?? []), [cut, cut])
        assert.deepStrictEqual(yield* roles, [["user"], ["user", "assistant", "tool"]])
        assert.strictEqual(usage.own.toolCalls, 0)
      }).pipe(Effect.provide(layers([Step.cut("First", work(1), Step.call("work")), Step.text("done")]))))

    it.effect("length: calls do not run when the run is recovered either", () =>
      Effect.gen(function*() {
        const { ran, text } = yield* clerk
        const agent = yield* text.build()
        yield* Effect.flip(run(agent, "Go", "t"))
        const { status } = yield* agent.recover("t")

        const [, second, third] = yield* requests
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(yield* Ref.get(ran), [])
        assert.deepStrictEqual(third, second)
      }).pipe(Effect.provide(layers([
        Step.cut("First", work(1)),
        Step.again(Step.fail("authentication"), Step.text("done"))
      ]))))

    it.effect("length: a report that is whole is answered as not run too", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).typed.build(), "Go")

        const [, second] = yield* requests
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: ok })
        assert.deepStrictEqual(Results.all(second ?? []), [
          { name: "submit_report", isError: true, value: "not run: the response was cut" }
        ])
      }).pipe(Effect.provide(layers([Step.cut(Step.report({ ok: false })), Step.report(ok)]))))

    it.effect("length: a text is refused and asked for again with one user message", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).text.build(), "Go")

        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "short" })
        assert.deepStrictEqual(yield* roles, [["user"], ["user", "assistant", "user"]])
      }).pipe(Effect.provide(layers([Step.cut("A very long ans"), Step.text("short")]))))

    it.effect("length: a text that decodes is no answer of a typed agent", () =>
      Effect.gen(function*() {
        const { status } = yield* run(yield* (yield* clerk).typed.withReasks(0).build(), "Go")

        assert.strictEqual(status._tag, "InvalidReport")
      }).pipe(Effect.provide(layers([Step.cut(JSON.stringify(ok))]))))

    const cuts = {
      "calls, then calls": [Step.cut(work(1)), Step.cut(work(1))],
      "calls, then a text": [Step.cut(work(1)), Step.cut("A very")],
      "a text, then calls": [Step.cut("A very"), Step.cut(work(1))],
      "a blank text, then calls": [Step.text(" "), Step.cut(work(1))]
    }
    for (const [what, steps] of Object.entries(cuts)) {
      it.effect(`length: ${what} use up the one re-ask there is`, () =>
        Effect.gen(function*() {
          const { ran, text } = yield* clerk
          const { status } = yield* run(yield* text.build(), "Go")

          assert.strictEqual(status._tag, "InvalidReport")
          assert.deepStrictEqual(yield* Ref.get(ran), [])
        }).pipe(Effect.provide(layers(steps))))
    }

    const broken: ReadonlyArray<readonly [what: string, step: Step.Step, reason: string]> = [
      ["error with a text", Step.parts([text("done")], "error"), "overloaded"],
      ["error with calls", Step.parts([work(1)], "error"), "overloaded"],
      ["error with nothing", Step.parts([], "error"), "overloaded"],
      ["interrupted with a text", Step.interrupted("done"), "network"],
      ["interrupted with calls", Step.parts([work(1)], "interrupted"), "network"],
      ["no finish part", Step.unfinished("done"), "network"]
    ]
    for (const [what, step, reason] of broken) {
      it.effect(`${what}: a model failure, and nothing of the response is kept`, () =>
        Effect.gen(function*() {
          const { ran, text } = yield* clerk
          const agent = yield* text.build()
          const error = yield* Effect.flip(run(agent, "Go", "t"))
          const recovered = yield* agent.recover("t")

          const [, second] = yield* requests
          assert.strictEqual(error.reason._tag === "ModelFailed" ? error.reason.reason : error.reason._tag, reason)
          assert.deepStrictEqual({ ...recovered.status }, { _tag: "Completed", answer: "mended" })
          assert.deepStrictEqual(yield* Ref.get(ran), [])
          assert.deepStrictEqual(second?.map(({ role }) => role), ["user"])
        }).pipe(Effect.provide(layers([Step.again(step, Step.text("mended"))]))))
    }
  })
}
