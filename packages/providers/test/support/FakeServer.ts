/**
 * A provider on this machine that speaks the OpenAI chat completions format.
 * The model of a request names what it does with it, see `FakeScenario.ts`.
 */
import { Deferred, Effect, Queue } from "effect"
import type { Scope } from "effect"
import type { ServerResponse } from "node:http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as FakeScenario from "./FakeScenario.ts"

/** A request that the server got. `closed` is done when its connection closed before the response was whole. */
export interface Request {
  readonly path: string
  readonly headers: { readonly [name: string]: unknown }
  readonly body: { readonly [key: string]: any }
  readonly closed: Deferred.Deferred<void>
}

export interface FakeServer {
  /** The base URL for a client. */
  readonly url: string
  /** Waits for the next request that was not taken yet. */
  readonly nextRequest: Effect.Effect<Request>
}

/** Starts a server that stops with the scope. */
export const start: Effect.Effect<FakeServer, never, Scope.Scope> = Effect.gen(function*() {
  const requests = yield* Queue.unbounded<Request>()
  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      const closed = Deferred.makeUnsafe<void>()
      response.on("close", () => {
        if (!response.writableFinished) Deferred.doneUnsafe(closed, Effect.void)
      })
      Queue.offerUnsafe(requests, { path: incoming.url ?? "", headers: incoming.headers, body, closed })
      answer(response, FakeScenario.reply(body))
    })
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return { url: `http://127.0.0.1:${port}/v1`, nextRequest: Queue.take(requests) }
})

const answer = (response: ServerResponse, reply: FakeScenario.Reply): void => {
  if (reply === "nothing") return
  if (reply === "reset") {
    response.writeHead(200, { "content-type": "application/json" })
    response.write("{\"id\":")
    setTimeout(() => response.destroy(), 5)
    return
  }
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
  response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body))
}
