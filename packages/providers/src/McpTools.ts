/**
 * Tools of an MCP server as tools of agents.
 *
 * @since 0.1.0
 */
import { ToolkitError } from "@mandate/core"
import type * as AiError from "effect/ai/AiError"
import type * as McpClient from "effect/ai/McpClient"
import type { McpClientError, ToolError } from "effect/ai/McpClientError"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/**
 * What a model is told about a call that failed: `ToolError` with the words of
 * the tool, or why the server could not be asked, in words of our own.
 *
 * @category schemas
 * @since 0.1.0
 */
export const McpFailure = Schema.Struct({
  error: Schema.Struct({ reason: Schema.String, message: Schema.String })
})

/**
 * A tool of an MCP server.
 *
 * @category models
 * @since 0.1.0
 */
export type McpTool = Tool.Tool<string, {
  readonly parameters: typeof Schema.Unknown
  readonly success: typeof Schema.String
  readonly failure: typeof McpFailure
  readonly failureMode: "error"
}>

/**
 * Makes the tools that `McpClient.toolkit` lists a toolkit for `withToolkit`,
 * whose failures a model can read.
 *
 * **Details**
 *
 * A result is its text; a result of another kind is the failure
 * `UnsupportedError`. A call that is interrupted is cancelled at the server.
 * Given to `withToolkit` as it is, `McpClient.toolkit` would show a model all
 * that a failure holds, headers and files in base64 among it.
 *
 * **Gotchas**
 *
 * The tools are those that the server had when the agent was bound. What the
 * server says of them reaches the model: connect to servers that you trust.
 * `build` fails when the tools cannot be listed. A server that dies later fails
 * each call, and the run goes on.
 *
 * **Example** (A server on standard input and output)
 *
 * ```ts
 * import { AgentBuilder } from "@mandate/core"
 * import { McpTools } from "@mandate/providers"
 * import { Effect } from "effect"
 * import { McpClient, McpProtocol } from "effect/ai"
 * import { ChildProcess } from "effect/process"
 *
 * // Provide `NodeServices.layer` of `@effect/platform-node` for the process.
 * const Files = McpClient.layerStdio({
 *   name: "my-app",
 *   version: "1.0.0",
 *   command: ChildProcess.make("npx", ["-y", "@modelcontextprotocol/server-filesystem", "."]),
 *   protocol: McpProtocol.v2025_11_25
 * })
 *
 * // The prefix tells the tools of two servers apart.
 * const listed = Effect.flatMap(McpClient.McpClient, (client) => McpClient.toolkit(client, "files_"))
 * const clerk = AgentBuilder.make("clerk").withToolkit(McpTools.from(listed))
 *
 * // The server lives as long as what its layer is provided to.
 * export const program = Effect.gen(function*() {
 *   const agent = yield* clerk.build()
 *   return yield* agent.run("What is in README.md?")
 * }).pipe(Effect.provide(Files))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = <R>(
  listed: Effect.Effect<Listed, McpClientError, R>
): Effect.Effect<Toolkit.WithHandler<Record<string, McpTool>>, ToolkitError.ToolkitError, R> =>
  Effect.mapBoth(listed, { onSuccess: readable, onFailure: unlisted })

/**
 * What `McpClient.toolkit` gives.
 *
 * @category models
 * @since 0.1.0
 */
export type Listed = Effect.Success<ReturnType<typeof McpClient.toolkit>>

// Results carry their tool only as a type, and in these toolkits failures are never results.
type Handle = (
  ...args: Parameters<Listed["handle"]>
) => Effect.Effect<Stream.Stream<Tool.HandlerResult<McpTool>, McpClientError | AiError.AiError>, AiError.AiError>

const readable = ({ handle, tools }: Listed): Toolkit.WithHandler<Record<string, McpTool>> => ({
  tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, tool.setFailure(McpFailure)])),
  handle: (...call) =>
    Effect.map((handle as unknown as Handle)(...call), (results) => Stream.mapError(results, failure))
})

const failure = (error: McpClientError | AiError.AiError): typeof McpFailure.Type | AiError.AiError =>
  error._tag === "McpClientError"
    ? {
      error: {
        reason: error.reason._tag,
        message: error.reason._tag === "ToolError" ? words(error.reason) : sentences[error.reason._tag]
      }
    }
    : error

const words = ({ result }: ToolError): string => {
  const text = result.content.flatMap((block) => block.type === "text" ? [block.text] : []).join("\n").toWellFormed()
  if (text.trim() === "") return "The tool failed without saying why"
  return text.length > maxWords ? `${text.slice(0, maxWords).toWellFormed()}…` : text
}

const maxWords = 8_192

const sentences = {
  TransportError: "The connection to the server failed",
  ProtocolError: "The server refused the call",
  HttpError: "The server answered with an HTTP error",
  UnsupportedError: "The result is of a kind that cannot be shown",
  ClosedError: "The connection to the server is closed",
  TimeoutError: "The server did not answer in time",
  LimitError: "The message is too large",
  ConfigurationError: "The connection is not set up as it should be",
  ValidationError: "The arguments or the result are not valid"
}

const unlisted = ({ reason }: McpClientError): ToolkitError.ToolkitError =>
  new ToolkitError.ToolkitError({
    problems: [
      reason._tag === "ConfigurationError"
        // The one configuration error of a listing names a tool.
        ? { kind: "InvalidToolName", message: `${reason.description.slice(0, 200).toWellFormed()}` }
        : { kind: "HandlersFailed", message: `the tools of an MCP server could not be listed: ${reason._tag}` }
    ]
  })
