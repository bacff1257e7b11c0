/**
 * A provider on this machine that speaks the formats of OpenAI (responses and
 * chat completions), Anthropic and Google, whole and streaming. The path of a
 * request tells its format.
 */
import { Deferred, Effect, Queue } from "effect"
import type { Scope } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Anthropic from "./wire/Anthropic.ts"
import * as Google from "./wire/Google.ts"
import * as OpenAiChat from "./wire/OpenAiChat.ts"
import * as OpenAiResponses from "./wire/OpenAiResponses.ts"
import type { Asked, Event, Format, Json, Refusal, Turn } from "./wire/Wire.ts"

/** A text that is in everything the server sends in a failure. */
export const marker = "BODY-MARKER-7f3a"

/** A request that the server got. `closed` is done when its connection closed before the response was whole. */
export interface Request extends Asked {
  readonly path: string
  readonly headers: { readonly [name: string]: unknown }
  readonly body: Json
  readonly closed: Deferred.Deferred<void>
}

/**
 * What the server does with a request.
 *
 * - a turn: it answers
 * - `refuse`: it fails with a status
 * - `body`: it sends this text with status 200; streaming, as the data of one event
 * - `events`: streaming, it sends these events and ends, or breaks the connection
 * - `reset`: it sends the beginning of an answer, and the connection breaks
 * - `stop`: streaming, it sends the beginning of an answer and ends
 * - `interrupt`: streaming, it sends the beginning of an answer, and an error
 * - `hang`: it sends the beginning of a streamed answer, or nothing, and never more
 */
export type Reaction =
  | { readonly _tag: "turn"; readonly turn: Turn }
  | {
    readonly _tag: "refuse"
    readonly status: number
    readonly type: Refusal["type"]
    readonly headers?: { readonly [name: string]: string }
  }
  | { readonly _tag: "body"; readonly text: string }
  | { readonly _tag: "events"; readonly of: (format: Format) => ReadonlyArray<Event>; readonly isReset?: boolean }
  | { readonly _tag: "reset" | "stop" | "interrupt" | "hang" }

export interface ProviderServer {
  readonly url: string
  /** All requests so far. */
  readonly requests: ReadonlyArray<Request>
  /** Waits for the next request that was not taken yet. */
  readonly nextRequest: Effect.Effect<Request>
}

/** Starts a server that stops with the scope. */
export const start = (
  react: (request: Request) => Reaction | Promise<Reaction>
): Effect.Effect<ProviderServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Request>()
    const requests: Array<Request> = []
    const server = createServer((incoming, response) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Json
        const path = incoming.url ?? ""
        const format = formats.find((known) => known.path.test(path))
        if (format === undefined) return void response.writeHead(404).end()
        const closed = Deferred.makeUnsafe<void>()
        response.on("close", () => {
          if (!response.writableFinished) Deferred.doneUnsafe(closed, Effect.void)
        })
        const request = { ...format.read(body, path), path, headers: incoming.headers, body, closed }
        requests.push(request)
        Queue.offerUnsafe(queue, request)
        void Promise.resolve(react(request)).then((reaction) => answer(response, format, request.isStream, reaction))
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
    return { url: `http://127.0.0.1:${port}/v1`, requests, nextRequest: Queue.take(queue) }
  })

const formats: ReadonlyArray<Format> = [
  OpenAiResponses.format,
  OpenAiChat.format,
  Anthropic.format,
  Google.format
]

const answer = (response: ServerResponse, format: Format, isStream: boolean, reaction: Reaction): void => {
  const begin = (status: number, headers: { readonly [name: string]: string } = {}) =>
    response.writeHead(status, {
      "content-type": isStream && status === 200 ? "text/event-stream" : "application/json",
      "x-request-id": status === 200 ? "req-1" : marker,
      ...headers
    })
  switch (reaction._tag) {
    case "turn":
      begin(200)
      return void response.end(
        isStream
          ? format.events(reaction.turn).map(toText).join("")
          : JSON.stringify(format.whole(reaction.turn))
      )
    case "refuse": {
      begin(reaction.status, reaction.headers)
      const message = `${marker} for sk-secret-4711`
      return void response.end(JSON.stringify(format.refusal({ type: reaction.type, message }, reaction.status)))
    }
    case "body":
      begin(200)
      return void response.end(isStream ? `data: ${reaction.text}\n\n` : reaction.text)
    case "events":
      begin(200)
      response.write(reaction.of(format).map(toText).join(""))
      return void (reaction.isReset === true ? setTimeout(() => response.destroy(), 20) : response.end())
    case "hang":
      if (!isStream) return
      begin(200)
      return void response.write(beginning(format))
    case "reset":
      begin(200)
      response.write(isStream ? beginning(format) : "{\"id\":")
      return void setTimeout(() => response.destroy(), 5)
    case "stop":
      begin(200)
      return void response.end(beginning(format))
    case "interrupt":
      begin(200)
      return void response.end(beginning(format) + toText(format.interruption(marker)))
  }
}

const toText = ({ data, event }: Event): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

// Half of what a streamed text is: its first piece, and no end of any kind.
const beginning = (format: Format): string => {
  const events = format.events({ text: "Half of an answer" })
  const half = events.findIndex(({ data }) => JSON.stringify(data).includes("\"n answer\""))
  return events.slice(0, half).map(toText).join("")
}
