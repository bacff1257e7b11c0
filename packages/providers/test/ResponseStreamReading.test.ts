import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV4 } from "ai/test"
import { Effect, Exit, Fiber, Logger, References, Stream } from "effect"
import { AiSdk } from "../src/index.ts"
import * as MockStream from "./support/MockStream.ts"
import * as Requests from "./support/Requests.ts"

const text = (id: string, ...deltas: ReadonlyArray<string>) => [
  { type: "text-start", id },
  ...deltas.map((delta) => ({ type: "text-delta", id, delta })),
  { type: "text-end", id }
]

describe("ResponseStream, running", () => {
  it.effect("reads no further than it is asked", () =>
    Effect.gen(function*() {
      const endless = function*() {
        yield { type: "text-start", id: "0" }
        for (;;) yield { type: "text-delta", id: "0", delta: "word " }
      }
      const { client, source } = MockStream.streaming(endless())

      const taken = yield* Stream.runCollect(Stream.take(client.stream!(Requests.make(), Requests.call), 3))

      assert.strictEqual(taken.length, 3)
      assert.isAtMost(source.reads, 5)
      assert.isTrue(source.isCancelled)
    }))

  it.effect("gives a response up that grows without end", () =>
    Effect.gen(function*() {
      const piece = "x".repeat(1024 * 1024)
      const endless = function*() {
        for (let index = 0;; index++) yield { type: "text-delta", id: "0", delta: index % 2 === 0 ? piece : "" }
      }
      const { client, source } = MockStream.streaming(endless())

      const error = yield* Effect.flip(Stream.runDrain(client.stream!(Requests.make(), Requests.call)))

      assert.strictEqual(error.reason, "invalid-response")
      assert.isAtMost(source.reads, 130)
    }))

  it.effect("gives the signal to the client and aborts it when interrupted, also before the stream is there", () =>
    Effect.gen(function*() {
      const signals: Array<AbortSignal | undefined> = []
      const never = new MockLanguageModelV4({
        doStream: ({ abortSignal }) => {
          signals.push(abortSignal)
          return new Promise(() => undefined)
        }
      })
      const { client, model } = MockStream.streaming([], "hang")
      const first = yield* Effect.forkChild(MockStream.collect({ client: AiSdk.make(never) }), {
        startImmediately: true
      })
      const second = yield* Effect.forkChild(MockStream.collect({ client }), { startImmediately: true })
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
      signals.push(model.doStreamCalls[0]?.abortSignal)
      assert.deepStrictEqual(signals.map((signal) => signal?.aborted), [false, false])

      yield* Fiber.interruptAll([first, second])

      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(first)))
      assert.deepStrictEqual(signals.map((signal) => signal?.aborted), [true, true])
    }))

  it.effect("cancels a stream that comes after the call was given up", () =>
    Effect.gen(function*() {
      let give: (value: unknown) => void = () => undefined
      let isCancelled = false
      const model = new MockLanguageModelV4({ doStream: (() => new Promise((resolve) => give = resolve)) as never })
      const fiber = yield* Effect.forkChild(MockStream.collect({ client: AiSdk.make(model) }), {
        startImmediately: true
      })
      yield* Fiber.interrupt(fiber)

      give({ stream: new ReadableStream({ cancel: () => void (isCancelled = true) }) })
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))

      assert.isTrue(isCancelled)
    }))

  it.effect("reads to the end after the finish, as middleware expects", () =>
    Effect.gen(function*() {
      const { client, source } = MockStream.streaming([...text("0", "a"), MockStream.finish(), { type: "ping" }])

      const all = yield* MockStream.collect({ client })

      assert.strictEqual(all.filter(({ type }) => type === "finish").length, 1)
      assert.strictEqual(source.reads, 6)
    }))

  it.effect("logs the names of what a client left out, at level Debug, and nothing more", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => lines.push(line))
      const warnings = [{ type: "unsupported", feature: "topK", details: "SECRET" }, {
        type: "other",
        message: "SECRET"
      }]
      const stream = MockStream.collect(
        MockStream.streaming([{ type: "stream-start", warnings }, ...text("0", "a"), MockStream.finish()])
      ).pipe(Effect.provide(Logger.layer([logger])))

      yield* stream
      assert.deepStrictEqual(lines, [])
      yield* Effect.provideService(stream, References.MinimumLogLevel, "Debug")

      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], "unsupported topK")
      assert.notInclude(lines[0], "SECRET")
    }))
})
