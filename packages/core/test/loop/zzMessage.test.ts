import { it } from "@effect/vitest"
import { AgentBuilder, Mandate, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
it.effect("q", () =>
  Effect.gen(function*() {
    const a = yield* AgentBuilder.make("c").withOutput(
      Schema.Struct({
        pop: Schema.Number,
        n: Schema.Finite,
        i: Schema.Int,
        k: Schema.Literals(["a", "b"]),
        o: Schema.optionalKey(Schema.String),
        d: Schema.Date
      })
    ).withReasks(0).build()
    const r = yield* a.run("x")
    console.log(JSON.stringify(r.status, null, 1))
    const reqs = yield* (yield* ScriptedModel.ScriptedModel).requests
    console.log(JSON.stringify(reqs[0]?.request.tools))
  }).pipe(
    Effect.provide([
      Mandate.layerMemory,
      ScriptedModel.layer({ c: [Step.report({ pop: "secret", n: "secret", i: 1.5, k: "secret", o: 3, d: "secret" })] })
    ])
  ))
