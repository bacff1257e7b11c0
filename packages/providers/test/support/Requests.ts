/** Model requests for tests. */
import type { ModelRequest } from "@mandate/core"
import { Message } from "@mandate/core"

export const call: ModelRequest.ModelCall = {
  agentId: "agent",
  agentPath: ["agent"],
  threadId: "thread-1",
  runId: "run-1",
  depth: 0,
  step: 0,
  attempt: 0,
  call: undefined
}

export const weather: ModelRequest.ModelTool = {
  name: "get_weather",
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

/** A request with one user message, the weather tool, and whatever differs. */
export const make = (more: Partial<ModelRequest.ModelRequest> = {}): ModelRequest.ModelRequest => ({
  messages: [Message.userText("How warm is it?")],
  tools: [weather],
  toolChoice: "auto",
  settings: {},
  ...more
})
