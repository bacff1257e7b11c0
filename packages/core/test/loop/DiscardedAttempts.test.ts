import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type RunEvent } from "@mandate/core"
import { type Script, Step } from "@mandate/testing"
import { Effect, Layer, Ref, Schedule, Stream } from "effect"
import * as Models from "../support/Models.ts"

const clerk = AgentBuilder.make("clerk")
const layers = (scripts: Script.Scripts) => Layer.mergeAll(Mandate.layerMemory, Models.layer(scripts))

const shown = (events: ReadonlyArray<RunEvent.RunEvent | { readonly _tag: "RunFinished" }>) =>
  events.flatMap((event) =>
    event._tag === "TextDelta"
      ? [`${event.step}.${event.attempt} ${event.delta.trim()}`]
      : event._tag === "ModelAttemptDiscarded"
      ? [`${event.step}.${event.attempt} discarded: ${event.reason}`]
      : event._tag === "ModelCallCompleted"
      ? [`${event.step} completed`]
      : []
  )

describe("Streamed attempts that fail", () => {
  it.effect("a streamed attempt that fails after its first delta is discarded before the next one shows anything", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withRetry(Schedule.recurs(2)).build()
      const events = yield* Stream.runCollect(agent.stream("Go", { threadId: "t" }))

      const finished = events.at(-1)
      assert.deepStrictEqual(shown(events), [
        "0.0 Tides",
        "0.0 rise",
        "0.0 discarded: overloaded",
        "0.1 Tides",
        "0.1 discarded: network",
        "0.2 Tides",
        "0.2 fall",
        "0 completed"
      ])
      assert.deepStrictEqual(finished?._tag === "RunFinished" && { ...finished.result.status }, {
        _tag: "Completed",
        answer: "Tides fall"
      })
    }).pipe(Effect.provide(layers({
      clerk: [Step.streamError("Tides rise", "overloaded"), Step.unfinished("Tides"), Step.text("Tides fall")]
    }))))

  it.effect("the last attempt of a run that fails is discarded too", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withRetry(Schedule.recurs(0)).build()
      const seen = yield* Ref.make<ReadonlyArray<RunEvent.RunEvent>>([])
      const error = yield* agent.stream("Go", { threadId: "t" }).pipe(
        Stream.runForEach((event) =>
          event._tag === "RunFinished" ? Effect.void : Ref.update(seen, (all) => [...all, event])
        ),
        Effect.flip
      )

      assert.strictEqual(error.reason._tag, "ModelFailed")
      assert.deepStrictEqual(shown(yield* Ref.get(seen)), ["0.0 Tides", "0.0 discarded: authentication"])
    }).pipe(Effect.provide(layers({ clerk: [Step.streamError("Tides", "authentication")] }))))
})
