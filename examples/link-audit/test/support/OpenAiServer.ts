/**
 * A server on this machine that speaks the OpenAI chat completions format, and
 * answers as the scripted model does.
 */
import { Message } from "@mandate/core"
import { Deferred, Effect, Queue, Result, type Scope } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Move } from "../../src/Program.ts"
import * as ScriptedModel from "../../src/ScriptedModel.ts"

type Json = { readonly [key: string]: any }

/** A request that the server got. `closed` is done when its connection closed before it was answered. */
export interface Request {
  readonly agent: "link-audit" | "auditor"
  readonly headers: { readonly [name: string]: unknown }
  readonly body: Json
  readonly closed: Deferred.Deferred<void>
}

/** What the server does with a request: it answers, fails with a status, or never answers. */
export type Behaviour = (request: Request) => "answer" | "hang" | number

export interface OpenAiServer {
  /** Variables that let the command use the server. */
  readonly environment: Readonly<Record<string, string>>
  /** Waits for the next request that was not taken yet. */
  readonly nextRequest: Effect.Effect<Request>
  /** All requests so far. */
  readonly requests: ReadonlyArray<Request>
}

/** The key that the server is called with. */
export const key = "sk-KEY-71c2"

/** A text that is in every body of a failure. */
export const bodyMarker = "BODY-MARKER-90ab"

/** Starts a server that stops with the scope. */
export const start = (behaviour: Behaviour): Effect.Effect<OpenAiServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Request>()
    const requests: Array<Request> = []
    const server = createServer((incoming, response) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Json
        const closed = Deferred.makeUnsafe<void>()
        response.on("close", () => {
          if (!response.writableFinished) Deferred.doneUnsafe(closed, Effect.void)
        })
        const isParent = body["tools"].some((tool: Json) => tool["function"].name === "task_auditor")
        const request: Request = { agent: isParent ? "link-audit" : "auditor", headers: incoming.headers, body, closed }
        requests.push(request)
        Queue.offerUnsafe(queue, request)
        const reaction = behaviour(request)
        if (reaction !== "hang") reply(response, request, reaction)
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
    return {
      environment: {
        MANDATE_MODEL: "openai-compatible/maker/model-1",
        OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
        OPENAI_API_KEY: key
      },
      nextRequest: Queue.take(queue),
      requests
    }
  })

const reply = (response: ServerResponse, { agent, body }: Request, reaction: "answer" | number): void => {
  if (reaction !== "answer") {
    response.writeHead(reaction, { "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message: `${bodyMarker} ${key}`, type: "error" } }))
    return
  }
  const whole = completion(body, Result.getOrThrow(ScriptedModel.programs[agent]!(messages(body))))
  if (body["stream"] !== true) {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(whole))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of chunksOf(whole)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.end("data: [DONE]\n\n")
}

/** A completion in the two pieces that a stream gives it in: the message, then why it ended. */
const chunksOf = ({ choices: [choice], usage, ...rest }: Json): ReadonlyArray<Json> => {
  const { tool_calls: calls, ...message } = choice.message
  const chunk = (delta: Json, finishReason: string | null) => ({
    ...rest,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finishReason }]
  })
  const delta = calls === undefined
    ? message
    : { ...message, tool_calls: calls.map((call: Json, index: number) => ({ index, ...call })) }
  return [chunk(delta, null), { ...chunk({}, choice.finish_reason), usage }]
}

const completion = (body: Json, move: Move): Json => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: body["model"],
  choices: [{
    index: 0,
    message: "text" in move ? { role: "assistant", content: move.text } : {
      role: "assistant",
      content: null,
      tool_calls: move.calls.map((call, index) => ({
        id: `call_${body["messages"].length}_${index}`,
        type: "function",
        function: { name: call.tool, arguments: JSON.stringify(call.arguments) }
      }))
    },
    finish_reason: "text" in move ? "stop" : "tool_calls"
  }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
})

/** The conversation of a request, as far as the programs read it. */
const messages = (body: Json): ReadonlyArray<Message.Message> => {
  const names = new Map<string, string>()
  return body["messages"].flatMap((message: Json): ReadonlyArray<Message.Message> => {
    switch (message["role"]) {
      case "user":
        return [Message.userText(message["content"])]
      case "assistant":
        for (const call of message["tool_calls"] ?? []) names.set(call.id, call.function.name)
        return []
      case "tool": {
        const id = message["tool_call_id"]
        const value = JSON.parse(message["content"])
        const output = { type: "json" as const, value }
        const result = {
          type: "tool-result" as const,
          id,
          name: names.get(id) ?? "",
          output,
          isError: "error" in value
        }
        return [{ role: "tool", content: [result] }]
      }
      default:
        return []
    }
  })
}
