import { assert, describe, it } from "@effect/vitest"
import type { ModelError } from "@mandate/core"
import { Cause, Effect, Exit } from "effect"
import { inspect } from "node:util"
import { AiSdk } from "../src/index.ts"
import { apiKey, clients } from "./support/Clients.ts"
import * as ProviderServer from "./support/ProviderServer.ts"
import * as Ways from "./support/Ways.ts"

type Expected = Partial<Pick<ModelError.ModelError, "status" | "retryAfter">> & {
  readonly reasons: ReadonlyArray<ModelError.ModelErrorReason>
  readonly isRetryable: boolean
}

type Fault = readonly [name: string, reaction: ProviderServer.Reaction, expected: Expected]

const refuse = (
  status: number,
  type: Extract<ProviderServer.Reaction, { _tag: "refuse" }>["type"],
  headers: { readonly [name: string]: string } = {}
): ProviderServer.Reaction => ({ _tag: "refuse", status, type, headers })

const passing = (...reasons: ReadonlyArray<ModelError.ModelErrorReason>): Expected => ({ reasons, isRetryable: true })
const lasting = (...reasons: ReadonlyArray<ModelError.ModelErrorReason>): Expected => ({ reasons, isRetryable: false })

const both: ReadonlyArray<Fault> = [
  [
    "429 with retry-after",
    refuse(429, "rate", { "retry-after": "7" }),
    { ...passing("rate-limited"), status: 429, retryAfter: 7_000 }
  ],
  [
    "429 with retry-after-ms",
    refuse(429, "rate", { "retry-after-ms": "1500", "retry-after": "2" }),
    { ...passing("rate-limited"), status: 429, retryAfter: 1_500 }
  ],
  ["401", refuse(401, "key"), { ...lasting("authentication"), status: 401 }],
  ["400", refuse(400, "request"), { ...lasting("invalid-request"), status: 400 }],
  ["500", refuse(500, "server"), { ...passing("overloaded"), status: 500 }],
  ["529", refuse(529, "overloaded"), { ...passing("overloaded"), status: 529 }],
  ["a body that is cut", { _tag: "body", text: `{ "id": "${ProviderServer.marker}` }, passing("invalid-response")],
  [
    "a body of another shape",
    { _tag: "body", text: JSON.stringify({ hello: ProviderServer.marker }) },
    passing("invalid-response", "overloaded", "network")
  ],
  ["a connection that is reset in the body", { _tag: "reset" }, { ...passing("network") }]
]

const streamedOnly: ReadonlyArray<Fault> = [
  ["an error in the middle", { _tag: "interrupt" }, passing("overloaded")],
  ["a stream that just ends", { _tag: "stop" }, passing("network")]
]

const cases = (client: string): ReadonlyArray<readonly [how: string, way: Ways.Way, fault: Fault]> => {
  // Google says the same of a limit per minute and of a quota that is used up.
  const quota: Fault = [
    "a quota",
    refuse(429, "quota"),
    client === "Google"
      ? { ...passing("rate-limited"), status: 429 }
      : { ...lasting("quota-exceeded"), status: 429 }
  ]
  return [
    ...Ways.ways.flatMap(([how, way]) => [...both, quota].map((fault) => [how, way, fault] as const)),
    ...streamedOnly.map((fault) => ["streamed", Ways.streamed, fault] as const)
  ]
}

for (const { model, name } of clients) {
  describe(`AiSdk on ${name}, failing`, () => {
    for (const [how, way, [fault, reaction, { isRetryable, reasons, ...expected }]] of cases(name)) {
      it.live(`tells ${fault}, ${how}, and holds nothing of what was sent or received`, () =>
        Effect.gen(function*() {
          const server = yield* ProviderServer.start(() => reaction)
          const exit = yield* Effect.exit(way(AiSdk.make(model(server.url))))

          assert.isTrue(Exit.isFailure(exit))
          if (!Exit.isFailure(exit)) return
          const error = Cause.squash(exit.cause) as ModelError.ModelError
          assert.strictEqual(error._tag, "ModelError")
          assert.include(reasons, error.reason)
          assert.strictEqual(error.isRetryable, isRetryable)
          assert.deepInclude(error, expected)
          assert.strictEqual(server.requests.length, 1)
          const everything = [
            JSON.stringify(error),
            error.message,
            String(exit.cause),
            Cause.pretty(exit.cause),
            inspect(exit, { depth: null, showHidden: true })
          ].join("\n")
          for (const secret of [server.url, apiKey, "sk-secret", ProviderServer.marker, "How warm", "Bearer"]) {
            assert.notInclude(everything, secret)
          }
        }))
    }
  })
}
