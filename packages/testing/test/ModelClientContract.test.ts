import { assert, describe, it } from "@effect/vitest"
import type { Json, Message, ModelClient } from "@mandate/core"
import { ModelError } from "@mandate/core"
import { ModelClientContract, Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Result, Stream } from "effect"

const toStep = (turn: ModelClientContract.Turn | undefined): Step.Step => {
  switch (turn?._tag) {
    case "Respond": {
      const { finishReason, parts, usage: { inputTokens, outputTokens } } = turn.response
      return Step.withUsage(Step.parts(parts, finishReason), {
        ...(inputTokens.total === undefined ? {} : { input: inputTokens.total }),
        ...(inputTokens.cacheRead === undefined ? {} : { cacheRead: inputTokens.cacheRead }),
        ...(inputTokens.cacheWrite === undefined ? {} : { cacheWrite: inputTokens.cacheWrite }),
        ...(outputTokens.total === undefined ? {} : { output: outputTokens.total }),
        ...(outputTokens.reasoning === undefined ? {} : { reasoning: outputTokens.reasoning })
      })
    }
    case "Fail":
      return Step.fail(turn.reason)
    case "Hang":
      return Step.hang()
    case undefined:
      return Step.defect("asked too often")
  }
}

/** As clients send them: an object, whatever the model wrote. */
const argumentsOf = (text: string): Json.Json =>
  Result.try(() => JSON.parse(text) as Json.Json).pipe(
    Result.filterOrFail((value) => typeof value === "object" && !Array.isArray(value), () => "no object"),
    Result.getOrElse((): Json.Json => ({}))
  )

const toSentPart = (
  role: Message.Message["role"],
  part: Message.AssistantPart
): ReadonlyArray<ModelClientContract.SentPart> => {
  const metadata = part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata }
  switch (part.type) {
    case "text":
      return [{ type: "text", role: role as "user", text: part.text, ...metadata }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...metadata }]
    case "tool-call":
      return [{ type: "call", id: part.id, name: part.name, arguments: argumentsOf(part.arguments), ...metadata }]
    case "tool-result":
      return [{
        type: "result",
        id: part.id,
        name: part.name,
        output: part.output.value,
        isError: part.isError,
        ...metadata
      }]
    default:
      return []
  }
}

const scripted: ModelClientContract.Subject = {
  failures: ModelError.ModelErrorReason.literals,
  make: Effect.fnUntraced(function*(turns) {
    let next = 0
    const model = yield* ScriptedModel.make({ agent: Script.program(() => toStep(turns[next++])) })
    return {
      client: model.client,
      sent: Effect.map(model.requests, (all) =>
        all.map(({ request }) => ({
          tools: request.tools.map(({ name }) => name),
          parts: request.messages.flatMap((message) =>
            message.role === "system"
              ? [{ type: "text" as const, role: message.role, text: message.content }]
              : message.content.flatMap((part) => toSentPart(message.role, part))
          )
        }))),
      interrupted: Effect.map(model.interrupted, (all) => all.length)
    }
  })
}

/** The scripted subject with a client that does something wrong. */
const broken = (
  change: (client: ModelClient.ModelClient) => Partial<ModelClient.ModelClient>
): ModelClientContract.Subject => ({
  ...scripted,
  make: (turns) =>
    Effect.map(scripted.make(turns), (made) => ({ ...made, client: { ...made.client, ...change(made.client) } }))
})

const brokenProperties = (subject: ModelClientContract.Subject) =>
  Effect.map(
    Effect.filter(ModelClientContract.properties(subject), ({ check }) => Effect.isFailure(check)),
    (all) => all.map(({ name }) => name)
  )

describe("ModelClientContract of the scripted model", () => {
  for (const { check, name } of ModelClientContract.properties(scripted)) it.effect(name, () => check)
})

describe("ModelClientContract", () => {
  it("gives every property a name of its own, and the stream's only to clients that stream", () => {
    const names = ModelClientContract.properties(scripted).map(({ name }) => name)
    const whole = ModelClientContract.properties({ ...scripted, streams: false }).map(({ name }) => name)

    assert.strictEqual(new Set(names).size, names.length)
    assert.isTrue(whole.every((name) => name.startsWith("generate ")))
    assert.deepStrictEqual(names.filter((name) => name.startsWith("generate ")), whole)
  })

  it.effect("finds a client that loses text", () =>
    Effect.gen(function*() {
      const names = yield* brokenProperties(broken((client) => ({
        generate: (request, call) =>
          Effect.map(client.generate(request, call), (response) => ({
            ...response,
            parts: response.parts.map((part) => part.type === "text" ? { ...part, text: part.text.trim() } : part)
          }))
      })))

      assert.deepStrictEqual(names, ["generate gives text as it is"])
    }))

  it.effect("finds a client that asks again", () =>
    Effect.gen(function*() {
      const names = yield* brokenProperties(broken((client) => ({
        generate: (request, call) => Effect.retry(client.generate(request, call), { times: 1 })
      })))

      assert.deepStrictEqual(
        names,
        ModelError.ModelErrorReason.literals.map((reason) =>
          `generate fails with ${reason}, without a text of the provider, and does not ask again`
        )
      )
    }))

  it.effect("finds a client that tells what its provider said", () =>
    Effect.gen(function*() {
      const names = yield* brokenProperties({
        ...broken((client) => ({
          generate: (request, call) =>
            Effect.mapError(client.generate(request, call), ({ modelId, provider, reason }) =>
              new ModelError.ModelError({ modelId, provider, reason, detail: ModelClientContract.secret }))
        })),
        failures: ["overloaded"]
      })

      assert.deepStrictEqual(names, [
        "generate fails with overloaded, without a text of the provider, and does not ask again"
      ])
    }))

  it.effect("finds a client that cannot be interrupted", () =>
    Effect.gen(function*() {
      const names = yield* brokenProperties(broken((client) => ({
        generate: (request, call) => Effect.flatMap(Effect.forkDetach(client.generate(request, call)), Fiber.join)
      })))

      assert.deepStrictEqual(names, ["generate gives the call up when it is interrupted"])
    }))

  it.effect("finds a stream without a finish, and one that goes on after it", () =>
    Effect.gen(function*() {
      const unfinished = yield* brokenProperties(broken((client) => ({
        stream: (request, call) => Stream.filter(client.stream!(request, call), ({ type }) => type !== "finish")
      })))
      const doubled = yield* brokenProperties(broken((client) => ({
        stream: (request, call) => Stream.flatMap(client.stream!(request, call), (piece) => Stream.make(piece, piece))
      })))

      assert.include(unfinished, "stream ends with the finish, which comes once")
      assert.include(doubled, "stream ends with the finish, which comes once")
      assert.include(doubled, "stream gives in pieces what it gives whole")
    }))
})
