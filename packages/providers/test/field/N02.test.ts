import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ErrorToken, Mandate, ModelError, ModelRegistry, RunError } from "@mandate/core"
import { Effect, Layer, Logger, References, Schedule, Stream } from "effect"
import { AiError, LanguageModel } from "effect/ai"
import { inspect } from "node:util"
import { AiSdk, EffectAi } from "../../src/index.ts"
import * as Failure from "../../src/v4/Failure.ts"
import * as FailureLog from "../../src/v4/FailureLog.ts"
import * as AiTurns from "../support/AiTurns.ts"
import { apiKey, clients } from "../support/Clients.ts"
import * as FailingServer from "../support/FailingServer.ts"
import * as Ways from "../support/Ways.ts"

const secret = "SECRET-BODY"
const names: ReadonlyMap<string, string> = new Map([
  ["OpenAI responses", "openai.responses/gpt-5"],
  ["OpenAI chat", "openai.chat/gpt-4.1"],
  ["Anthropic", "anthropic.messages/claude-sonnet-4-5"],
  ["Google", "google.generative-ai/gemini-2.5-pro"],
  ["OpenAI compatible", "fake.chat/m-1"]
])

const body = (error: unknown) => JSON.stringify({ error })
const openai = (type: string, code: string | null, param: string | null = null) =>
  body({ message: `${secret} for ${apiKey}`, type, code, param })

type Fault = readonly [name: string, answer: FailingServer.Failing, text: string]

const refused: ReadonlyArray<Fault> = [
  [
    "a 400 that names the parameter",
    { status: 400, body: openai("invalid_request_error", "unsupported_value", "messages[0].role") },
    "invalid-request (HTTP 400, code unsupported_value, type invalid_request_error, parameter messages[0].role)"
  ],
  [
    "a 400 that names the parameter in its message",
    {
      status: 400,
      body: JSON.stringify({
        type: "error",
        error: { type: "invalid_request_error", message: `messages.2.content: ${secret}` }
      })
    },
    "invalid-request (HTTP 400, type invalid_request_error, parameter messages.2.content)"
  ],
  [
    "a 400 that names the parameter in its details",
    {
      status: 400,
      body: body({
        code: 400,
        status: "INVALID_ARGUMENT",
        message: secret,
        details: [{ fieldViolations: [{ field: "contents[0].parts", description: secret }] }]
      })
    },
    "invalid-request (HTTP 400, code INVALID_ARGUMENT, parameter contents[0].parts)"
  ],
  [
    "a 401",
    { status: 401, body: openai("invalid_request_error", "invalid_api_key") },
    "authentication (HTTP 401, code invalid_api_key, type invalid_request_error)"
  ],
  [
    "a 404 of a model",
    { status: 404, body: openai("invalid_request_error", "model_not_found", "model") },
    "invalid-request (HTTP 404, code model_not_found, type invalid_request_error, parameter model)"
  ],
  [
    "a 429",
    { status: 429, headers: { "retry-after": "7" }, body: openai("requests", "rate_limit_exceeded") },
    "rate-limited (HTTP 429, code rate_limit_exceeded, type requests); the provider asks to wait 7 seconds"
  ],
  ["a 500", { status: 500, body: openai("server_error", null) }, "overloaded (HTTP 500, type server_error)"],
  [
    "a 529",
    { status: 529, body: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: secret } }) },
    "overloaded (HTTP 529, type overloaded_error)"
  ],
  [
    "a 502 of HTML",
    { status: 502, headers: { "content-type": "text/html" }, body: `<html>${secret}</html>` },
    "overloaded (HTTP 502)"
  ],
  [
    "a 400 whose codes are texts, or keys",
    { status: 400, body: openai(`${secret} of you`, "sk-secret-9999", "a b") },
    "invalid-request (HTTP 400)"
  ],
  [
    "a body that breaks off",
    { status: 200, body: `{"id":"${secret}`, isReset: true },
    "network (HTTP 200, UND_ERR_SOCKET): the connection failed or broke off"
  ]
]

const misshaped: ReadonlyArray<readonly [name: string, answer: FailingServer.Failing]> = [
  ["another shape", { status: 200, body: `{"hello":"${secret}"}` }],
  ["null", { status: 200, body: "null" }],
  ["a list", { status: 200, body: `["${secret}"]` }],
  ["nothing", { status: 200, body: "" }],
  ["HTML", { status: 200, headers: { "content-type": "text/html" }, body: `<html>${secret}</html>` }],
  [
    "an event of another shape",
    { status: 200, headers: { "content-type": "text/event-stream" }, body: `data: {"hello":"${secret}"}\n\n` }
  ]
]

/** All that is to be seen of an error. */
const everything = (error: Error): string =>
  [error.message, String(error), error.stack, JSON.stringify(error), inspect(error, { depth: null })].join("\n")

for (const { model, name } of clients) {
  for (const [how, way] of Ways.ways) {
    const client = (url: string) => AiSdk.make(model(url))

    describe(`N02: ${name}, ${how}`, () => {
      for (const [what, answer, text] of refused) {
        it.live(`N02: ${what} says what happened, on ${name}, ${how}`, () =>
          Effect.gen(function*() {
            const host = yield* FailingServer.start(answer)
            const error = yield* Effect.flip(way(client(`http://${host}/v1`)))

            assert.strictEqual(error.message, `The model ${names.get(name)} failed, ${text}`)
            for (const hidden of [secret, apiKey, "sk-secret", "How warm"]) {
              assert.notInclude(everything(error), hidden)
            }
          }))
      }

      for (const [what, answer] of misshaped) {
        it.live(`N02: a response of success that holds ${what} is invalid-response, on ${name}, ${how}`, () =>
          Effect.gen(function*() {
            const host = yield* FailingServer.start(answer)
            const error = yield* Effect.flip(way(client(`http://${host}/v1`)))

            assert.strictEqual(error.reason, "invalid-response", error.message)
            assert.notInclude(everything(error), secret)
          }))
      }

      it.live(`N02: a connection that fails says its code and host, on ${name}, ${how}`, () =>
        Effect.gen(function*() {
          const closed = yield* FailingServer.closedPort
          const plain = yield* FailingServer.start({ status: 200, body: "{}" })
          const failed = (url: string) => Effect.map(Effect.flip(way(client(url))), ({ message }) => message)
          const text = (network: string) =>
            `The model ${names.get(name)} failed, network (${network}): the connection failed or broke off`

          assert.strictEqual(yield* failed(`http://${closed}/v1`), text(`ECONNREFUSED ${closed}`))
          assert.strictEqual(yield* failed(`https://${plain}/v1`), text(`ERR_SSL_WRONG_VERSION_NUMBER ${plain}`))
          assert.match(
            yield* failed("https://user:pass@host.invalid/v1?key=secret"),
            /failed, network \((ENOTFOUND|EAI_AGAIN) host\.invalid\): the connection failed or broke off$|failed, [a-z-]+/
          )
        }))
    })
  }
}

describe("N02: what a run says", () => {
  const runOn = (url: string) =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withRetry(Schedule.recurs(0)).build()
      const error = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      return { error, status: yield* agent.status("t") }
    }).pipe(Effect.provide(Layer.merge(
      Mandate.layerMemory,
      ModelRegistry.layer({ default: AiSdk.make(clients[1]!.model(url)) })
    )))

  it.live("N02: the run's error and its stored state have the provider's words, and what to do", () =>
    Effect.gen(function*() {
      const host = yield* FailingServer.start(refused[0]![1])
      const { error, status } = yield* runOn(`http://${host}/v1`)

      assert.strictEqual(
        error.message,
        `The model openai.chat/gpt-4.1 failed, ${refused[0]![2]}. ` +
          "Change the agent or its model and recover the thread \"t\", or cancel its run"
      )
      const expected = {
        status: 400,
        code: "unsupported_value",
        type: "invalid_request_error",
        parameter: "messages[0].role"
      } as const
      assert.deepInclude(error.reason, expected)
      assert.strictEqual(status.status._tag, "Failed")
      if (status.status._tag === "Failed") assert.deepInclude(status.status.reason, expected)
      assert.notInclude(JSON.stringify(status) + everything(error), secret)
    }))

  it.live("N02: the run's error has the code of the network and the host", () =>
    Effect.gen(function*() {
      const closed = yield* FailingServer.closedPort
      const { error } = yield* runOn(`http://${closed}/v1`)

      assert.deepInclude(error.reason, { _tag: "ModelFailed", network: `ECONNREFUSED ${closed}` })
      assert.include(error.message, `Recover the thread "t" to try again, or cancel its run`)
    }))

  it("N02: every reason of a model failure says what to do", () => {
    for (const reason of ModelError.ModelErrorReason.literals) {
      const { message } = new RunError.RunError({
        reason: { _tag: "ModelFailed", threadId: "t", reason, provider: "p", modelId: "m" }
      })

      assert.match(message, /^The model p\/m failed, [a-z-]+\. .*recover the thread "t"/i)
    }
  })

  it.effect("N02: words of a client that are no codes are neither shown nor stored", () =>
    Effect.gen(function*() {
      const error = new ModelError.ModelError({
        reason: "unknown",
        provider: "p",
        modelId: "m",
        code: "it said SECRET",
        type: "sk-secret-4711",
        parameter: "a\nb",
        network: "ECONNREFUSED http://SECRET"
      })
      const client = { provider: "p", modelId: "m", generate: () => Effect.fail(error) }
      const agent = yield* AgentBuilder.make("clerk").build().pipe(
        Effect.provide(Layer.merge(Mandate.layerMemory, ModelRegistry.layer({ default: client })))
      )
      void agent

      assert.strictEqual(error.message, "The model p/m failed, unknown")
    }))
})

describe("N02: short words", () => {
  it("N02: only codes and names pass", () => {
    for (const code of ["insufficient_quota", "INVALID_ARGUMENT", "1302", "a.b-c"]) {
      assert.strictEqual(ErrorToken.code(code), code)
    }
    for (const text of ["", "a b", "a\n", "x".repeat(65), "sk-proj-1", "AIzaSyB", "ghp_abc", "eyJhbGciOi", 7, null]) {
      assert.isUndefined(ErrorToken.code(text))
    }
    assert.strictEqual(ErrorToken.network("ECONNREFUSED [::1]:80"), "ECONNREFUSED [::1]:80")
    assert.isUndefined(ErrorToken.network("ECONNREFUSED https://user:pass@host/"))
  })

  it("N02: the code of a network failure is found however it is wrapped", () => {
    const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED", address: "::1", port: 80 })
    const table: ReadonlyArray<readonly [unknown, string | undefined]> = [
      [new TypeError("fetch failed", { cause: refused }), "ECONNREFUSED [::1]:80"],
      [new TypeError("fetch failed", { cause: new AggregateError([refused]) }), "ECONNREFUSED [::1]:80"],
      [Object.assign(new Error("x"), { code: "ENOTFOUND", hostname: "host.invalid" }), "ENOTFOUND host.invalid"],
      [Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" }), "CERT_HAS_EXPIRED"],
      [Object.assign(new Error("x"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }), "DEPTH_ZERO_SELF_SIGNED_CERT"],
      [new TypeError("fetch failed"), undefined]
    ]
    for (const [error, network] of table) {
      const problem = Failure.classify(error, 0)
      assert.deepStrictEqual([problem.reason, problem.network], ["network", network])
    }
  })
})

describe("N02: the log", () => {
  it.live("N02: has the whole error at level Debug, without keys, and nothing above it", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ fiber, logLevel, message }) => {
        lines.push(`${logLevel} ${String(message)} ${inspect(fiber.getRef(References.CurrentLogAnnotations))}`)
      })
      const host = yield* FailingServer.start(refused[0]![1])
      const ask = Effect.exit(Ways.whole(AiSdk.make(clients[1]!.model(`http://${host}/v1`)))).pipe(
        Effect.provide(Logger.layer([logger]))
      )
      yield* ask
      const above = lines.length
      yield* Effect.provideService(ask, References.MinimumLogLevel, "Debug")

      assert.strictEqual(above, 0)
      const logged = lines.join("\n")
      assert.match(logged, /^Debug The client of a model failed/)
      assert.include(logged, secret)
      assert.include(logged, `http://${host}/v1/chat/completions`)
      assert.notInclude(logged, apiKey)
      assert.notInclude(logged, "How warm")
    }))

  it("N02: does not show what looks like a key", () => {
    for (
      const text of [
        "Bearer abcdef123456",
        "Incorrect API key provided: sk-proj-abcdef123456",
        "https://user:abcdef123456@host/",
        "https://host/?key=abcdef123456&x=1",
        "{\"api_key\":\"abcdef123456\"}",
        "x-api-key: abcdef123456",
        "AIzaabcdef123456"
      ]
    ) {
      assert.notInclude(FailureLog.redact(text), "abcdef123456", text)
    }
  })
})

describe("N02: effect/ai", () => {
  it.effect("N02: says the code, the type and the network of a failure", () =>
    Effect.gen(function*() {
      const refusedError = Object.assign(new Error(secret), { code: "ECONNREFUSED", address: "127.0.0.1", port: 9 })
      const table: ReadonlyArray<readonly [AiError.AiErrorReason, string]> = [
        [
          new AiError.InvalidRequestError({
            http: { response: { status: 400, headers: {} }, body: openai("invalid_request_error", "bad", "model") }
          }),
          "invalid-request (HTTP 400, code bad, type invalid_request_error, parameter model)"
        ],
        [
          new AiError.NetworkError({
            reason: "TransportError",
            method: "POST",
            url: "https://host.test/x?key=1",
            cause: refusedError
          }),
          "network (ECONNREFUSED 127.0.0.1:9): the connection failed or broke off"
        ]
      ]
      for (const [reason, text] of table) {
        const model = yield* LanguageModel.make({
          generateText: () => Effect.fail(AiTurns.errorOf(reason)),
          streamText: () => Stream.fail(AiTurns.errorOf(reason))
        })
        const client = yield* EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
        for (const [, way] of Ways.ways) {
          const error = yield* Effect.flip(way(client))
          assert.strictEqual(error.message, `The model effect-ai/unknown failed, ${text}`)
          assert.notInclude(everything(error), secret)
        }
      }
    }))
})
