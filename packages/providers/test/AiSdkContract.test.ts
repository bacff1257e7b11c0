import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { describe, it } from "@effect/vitest"
import { ModelError } from "@mandate/core"
import { ModelClientContract } from "@mandate/testing"
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test"
import { Effect } from "effect"
import { AiSdk } from "../src/index.ts"
import * as SentParts from "./support/SentParts.ts"
import * as V4Turns from "./support/V4Turns.ts"

const subject: ModelClientContract.Subject = {
  failures: ModelError.ModelErrorReason.literals,
  make: (turns) =>
    Effect.sync(() => {
      let next = 0
      let interrupted = 0
      const take = <A>(
        { abortSignal }: LanguageModelV4CallOptions,
        toResult: (turn: Extract<ModelClientContract.Turn, { readonly _tag: "Respond" }>) => A
      ): Promise<A> => {
        const turn = turns[next++]
        switch (turn?._tag) {
          case "Respond":
            return Promise.resolve(toResult(turn))
          case "Fail":
            return Promise.reject(V4Turns.errors[turn.reason]())
          case "Hang":
            return new Promise((_, reject) =>
              abortSignal?.addEventListener("abort", () => {
                interrupted++
                reject(abortSignal.reason)
              })
            )
          case undefined:
            return Promise.reject(new Error("asked too often"))
        }
      }
      const model = new MockLanguageModelV4({
        provider: "mock",
        modelId: "m-1",
        doGenerate: (options) => take(options, ({ response }) => V4Turns.toResult(response)),
        doStream: (options) =>
          take(options, ({ response }) => ({
            stream: convertArrayToReadableStream([...V4Turns.toStream(response)])
          }))
      })
      return {
        client: AiSdk.make(model),
        sent: Effect.sync(() => [...model.doGenerateCalls, ...model.doStreamCalls].map(SentParts.ofOptions)),
        interrupted: Effect.sync(() => interrupted)
      }
    })
}

describe("ModelClientContract of AiSdk", () => {
  for (const { check, name } of ModelClientContract.properties(subject)) it.effect(name, () => check)
})
