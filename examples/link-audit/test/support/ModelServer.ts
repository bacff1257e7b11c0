/**
 * A provider on this machine that answers as the scripted model does, in the
 * format of whichever client asks.
 */
import { Message } from "@mandate/core"
import { Result } from "effect"
import type * as ProviderServer from "../../../../packages/providers/test/support/ProviderServer.ts"
import type { Turn } from "../../../../packages/providers/test/support/wire/Wire.ts"
import type { Call, Move } from "../../src/Program.ts"
import * as ScriptedModel from "../../src/ScriptedModel.ts"

export {
  marker as bodyMarker,
  type ProviderServer as ModelServer,
  type Request,
  start
} from "../../../../packages/providers/test/support/ProviderServer.ts"

/** The key that the server is called with. The body of every failure holds it too. */
export const key = "sk-secret-4711"

/** A model of each client, and what the names of the client's variables begin with. */
export const models: ReadonlyArray<readonly [name: string, prefix: string]> = [
  ["openai/gpt-5", "OPENAI"],
  ["openai-chat/gpt-4.1", "OPENAI"],
  ["anthropic/claude-sonnet-4-5", "ANTHROPIC"],
  ["google/gemini-2.5-pro", "GOOGLE_GENERATIVE_AI"],
  ["openai-compatible/maker/model-1", "OPENAI"]
]

/** Variables that let the command use a model on a server. */
export const environment = (
  [name, prefix]: readonly [name: string, prefix: string],
  { url }: ProviderServer.ProviderServer
): Readonly<Record<string, string>> => ({
  MANDATE_MODEL: name,
  [`${prefix}_BASE_URL`]: url,
  [`${prefix}_API_KEY`]: key
})

/** Whether a request is one of the parent, the only agent that delegates. */
export const isParent = ({ tools }: ProviderServer.Request): boolean => tools.includes("task_auditor")

/** Whether a request is one of the child that audits a file. */
export const isAbout = (path: string) => (request: ProviderServer.Request): boolean =>
  !isParent(request) && request.prompt.includes(path)

/** A failure with a status, of which nothing may be shown. */
export const refuse = (status: 401 | 500): ProviderServer.Reaction => ({
  _tag: "refuse",
  status,
  type: status === 401 ? "key" : "server"
})

/** The answer of the scripted model; a refusal where its program cannot go on. */
export const answer = (request: ProviderServer.Request): ProviderServer.Reaction =>
  Result.match(nextMove(request), {
    onSuccess: (move) => ({ _tag: "turn", turn: turnOf(move, request.results.length) }),
    onFailure: () => ({ _tag: "refuse", status: 400, type: "request" })
  })

/** Plays the program from the first message on, so that each result is told the call it belongs to. */
const nextMove = (request: ProviderServer.Request): Result.Result<Move, string> =>
  Result.gen(function*() {
    const program = ScriptedModel.programs[isParent(request) ? "link-audit" : "auditor"]!
    const messages: Array<Message.Message> = [Message.userText(request.prompt)]
    let move = yield* program(messages)
    for (let rest = request.results; rest.length > 0;) {
      const calls = "calls" in move ? move.calls : []
      if (calls.length === 0 || calls.length > rest.length) return yield* Result.fail("not a result for each call")
      messages.push({ role: "tool", content: calls.map((call, index) => resultOf(call, rest[index]!)) })
      rest = rest.slice(calls.length)
      move = yield* program(messages)
    }
    return move
  })

/** Ids are made of the number of results so far, so that no conversation has one twice. */
const turnOf = (move: Move, results: number): Turn =>
  "text" in move ? move : {
    calls: move.calls.map((call, index) => ({
      id: `call_${results}_${index}`,
      name: call.tool,
      arguments: JSON.stringify(call.arguments)
    }))
  }

const resultOf = ({ tool }: Call, text: string): Message.ToolResultPart => {
  const given = JSON.parse(text)
  // Google's client sends a result beside the name of its tool.
  const value = "name" in given ? given.content ?? given.error : given
  return { type: "tool-result", id: "", name: tool, output: { type: "json", value }, isError: "error" in value }
}
