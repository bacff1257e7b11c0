/** A server that answers every request with 401, and shows what it was asked. */
import { Effect, Queue } from "effect"
import type { Scope } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface RefusingServer {
  readonly url: string
  readonly nextRequest: Effect.Effect<{ readonly path: string; readonly headers: IncomingHttpHeaders }>
}

/** Starts a server that stops with the scope. */
export const start: Effect.Effect<RefusingServer, never, Scope.Scope> = Effect.gen(function*() {
  const requests = yield* Queue.unbounded<{ readonly path: string; readonly headers: IncomingHttpHeaders }>()
  const server = createServer((incoming, response) => {
    Queue.offerUnsafe(requests, { path: incoming.url ?? "", headers: incoming.headers })
    incoming.resume()
    response.writeHead(401, { "content-type": "application/json" }).end("{}")
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () => Effect.sync(() => server.closeAllConnections())
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  return { url: `http://127.0.0.1:${port}`, nextRequest: Queue.take(requests) }
})
