/** A server on this machine that answers every request with the same failure. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Failing {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  readonly body: string
  /** The connection breaks after the body. */
  readonly isReset?: boolean
}

/** Starts a server that stops with the scope, and gives its host with the port. */
export const start = ({ body, headers, isReset, status }: Failing): Effect.Effect<string, never, Scope.Scope> => {
  const server = createServer((incoming, response) => {
    incoming.resume()
    incoming.on("end", () => {
      response.writeHead(status, { "content-type": "application/json", ...headers })
      if (isReset !== true) return void response.end(body)
      response.write(body)
      setTimeout(() => response.destroy(), 20)
    })
  })
  return Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(hostOf(server.address() as AddressInfo))))
    }),
    () => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )
}

/** A host and port of this machine that nobody listens on. */
export const closedPort: Effect.Effect<string> = Effect.callback((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const host = hostOf(server.address() as AddressInfo)
    server.close(() => resume(Effect.succeed(host)))
  })
})

const hostOf = ({ port }: AddressInfo): string => `127.0.0.1:${port}`
