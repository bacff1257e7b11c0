import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { AiSdk } from "../src/index.ts"
import { clients } from "./support/Clients.ts"
import * as ProviderServer from "./support/ProviderServer.ts"
import * as Requests from "./support/Requests.ts"
import * as Ways from "./support/Ways.ts"
import type { Turn } from "./support/wire/Wire.ts"

const answering = (turn: Turn) => ProviderServer.start(() => ({ _tag: "turn", turn }))
const call = (name: string, args: string, id = "call_1") => ({ id, name, arguments: args })
const weather: Turn = {
  reasoning: "They ask.",
  text: "I look it up",
  calls: [call("get_weather", "{\"city\":\"Oslo\"}"), call("get_weather", "{\"city\":\"Rome\"}", "call_2")]
}

for (const { model, name } of clients) {
  describe(`AiSdk on ${name}`, () => {
    it.live("streams the same response that it gives whole, deltas first", () =>
      Effect.gen(function*() {
        const server = yield* answering(weather)
        const client = AiSdk.make(model(server.url))

        const whole = yield* Ways.whole(client)
        const streamed = yield* Ways.streamed(client)
        const pieces = yield* Stream.runCollect(client.stream!(Requests.make(), Requests.call))

        assert.deepStrictEqual(streamed.parts, whole.parts)
        assert.strictEqual(streamed.finishReason, "tool-calls")
        assert.deepStrictEqual(streamed.usage, whole.usage)
        assert.deepInclude(whole.usage.inputTokens, { total: 10, cacheRead: 3 })
        assert.strictEqual(whole.usage.outputTokens.total, 5)
        const text = pieces.map((piece) => piece.type === "text-delta" ? piece.delta : "").join("")
        const inputs = pieces.filter((piece) => piece.type === "tool-input-delta")
        const written = (id: string) => inputs.map((piece) => piece.id === id ? piece.delta : "").join("")
        assert.strictEqual(text, "I look it up")
        assert.strictEqual(written("call_1"), "{\"city\":\"Oslo\"}")
        assert.strictEqual(written("call_2"), "{\"city\":\"Rome\"}")
        assert.isTrue(inputs.every((piece) => piece.name === "get_weather"))
      }))

    for (const [how, way] of Ways.ways) {
      it.live(`says that a response was cut, ${how}`, () =>
        Effect.gen(function*() {
          const server = yield* answering({ text: "Half", isCut: true })
          const response = yield* way(AiSdk.make(model(server.url)))

          assert.strictEqual(response.finishReason, "length")
        }))

      it.live(`gives calls of tools that were not offered, and arguments that are not JSON, ${how}`, () =>
        Effect.gen(function*() {
          const server = yield* answering({
            calls: [call("launch", "{}"), call("get_weather", "{\"city\": 4", "call_2")]
          })
          const { parts } = yield* way(AiSdk.make(model(server.url)))

          assert.deepInclude(parts[0], { type: "tool-call", id: "call_1", name: "launch" })
          assert.deepInclude(parts[1], { type: "tool-call", id: "call_2", name: "get_weather" })
          assert.include(JSON.stringify(parts[1]), "city")
        }))
    }

    it.live("aborts a whole response when the call is interrupted", () =>
      Effect.gen(function*() {
        const server = yield* ProviderServer.start(() => ({ _tag: "hang" }))
        const fiber = yield* Effect.forkChild(Ways.whole(AiSdk.make(model(server.url))))
        const { closed } = yield* server.nextRequest

        yield* Fiber.interrupt(fiber)

        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        yield* Effect.timeout(Deferred.await(closed), "500 millis")
      }))

    it.live("aborts a streamed response when the call is interrupted in its middle", () =>
      Effect.gen(function*() {
        const server = yield* ProviderServer.start(() => ({ _tag: "hang" }))
        const stream = AiSdk.make(model(server.url)).stream!(Requests.make(), Requests.call)
        const begun = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          Stream.runForEach(stream, () => Deferred.succeed(begun, undefined))
        )
        const { closed } = yield* server.nextRequest
        yield* Deferred.await(begun)

        yield* Fiber.interrupt(fiber)

        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        yield* Effect.timeout(Deferred.await(closed), "500 millis")
      }))

    it.live("aborts a streamed response when its reader leaves", () =>
      Effect.gen(function*() {
        const server = yield* ProviderServer.start(() => ({ _tag: "hang" }))
        const stream = AiSdk.make(model(server.url)).stream!(Requests.make(), Requests.call)

        const pieces = yield* Stream.runCollect(Stream.take(stream, 1))

        assert.deepStrictEqual(pieces, [{ type: "text-delta", delta: "Half of a" }])
        const { closed } = yield* server.nextRequest
        yield* Effect.timeout(Deferred.await(closed), "500 millis")
      }))
  })
}
