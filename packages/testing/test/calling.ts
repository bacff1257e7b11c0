import type { ModelClient, ModelRequest } from "@mandate/core"
import { Message } from "@mandate/core"
import { Effect, Stream } from "effect"

/** Where a call stands: agent, run, step, attempt. */
export const at = (agentId: string, runId: string, step = 0, attempt = 0): ModelRequest.ModelCall => ({
  agentId,
  agentPath: [agentId],
  threadId: runId.slice(0, runId.indexOf("#")),
  runId,
  depth: 0,
  step,
  attempt,
  call: undefined
})

/** A request with one user message. */
export const asking = (text: string): ModelRequest.ModelRequest => ({
  messages: [Message.userText(text)],
  tools: [],
  toolChoice: "auto",
  settings: {}
})

/** The text of a whole response. */
export const textOf = (
  client: ModelClient.ModelClient,
  call: ModelRequest.ModelCall,
  request: ModelRequest.ModelRequest = asking("go")
) => Effect.map(client.generate(request, call), ({ parts }) => Message.text(parts))

/** The streamed response. */
export const streamOf = (client: ModelClient.ModelClient, call: ModelRequest.ModelCall) =>
  client.stream === undefined ? Stream.die("the client does not stream") : client.stream(asking("go"), call)
