/** AI SDK mock models that stream, for tests. */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { ModelClient, ModelResponse } from "@mandate/core"
import { MockLanguageModelV4 } from "ai/test"
import { Effect, Stream } from "effect"
import { AiSdk } from "../../src/index.ts"
import * as Requests from "./Requests.ts"

type Finish = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>

/** A finish with 1 token in and 2 out, and whatever differs. */
export const finish = (more: Partial<Finish> = {}): Finish => ({
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 2, text: 2, reasoning: undefined }
  },
  ...more
})

/** What became of a stream of the mock: how often it was read, and whether it was cancelled. */
export interface Source {
  reads: number
  isCancelled: boolean
}

/** A model that streams these parts, one a read, and then ends, fails, or never goes on. */
export const streaming = (
  parts: Iterable<unknown>,
  ending: "end" | "hang" | { readonly fails: unknown } = "end"
): { readonly client: ModelClient.ModelClient; readonly source: Source; readonly model: MockLanguageModelV4 } => {
  const source: Source = { reads: 0, isCancelled: false }
  const model = new MockLanguageModelV4({
    provider: "mock",
    modelId: "m-1",
    doStream: () => {
      const iterator = parts[Symbol.iterator]()
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        pull: (controller) => {
          source.reads++
          const next = iterator.next()
          if (next.done !== true) return controller.enqueue(next.value as LanguageModelV4StreamPart)
          if (ending === "end") return controller.close()
          return ending === "hang" ? new Promise(() => undefined) : controller.error(ending.fails)
        },
        cancel: () => {
          source.isCancelled = true
          return new Promise(() => undefined)
        }
      }, { highWaterMark: 0 })
      return Promise.resolve({ stream })
    }
  })
  return { client: AiSdk.make(model), source, model }
}

/** All pieces that a model streams. */
export const collect = ({ client }: { readonly client: ModelClient.ModelClient }) =>
  Stream.runCollect(client.stream!(Requests.make(), Requests.call))

/** The pieces of a stream of these parts that ends with a finish. */
export const pieces = (...parts: ReadonlyArray<unknown>) =>
  Effect.map(collect(streaming([...parts, finish()])), (all) => all.slice(0, -1))

/** The whole parts among some pieces. */
export const partsOf = (all: ReadonlyArray<ModelResponse.ModelStreamPart>) =>
  all.flatMap((piece) => piece.type === "part" ? [piece.part] : [])
