/**
 * Tools of an MCP server as tools of agents.
 *
 * @since 0.1.0
 */
import { ToolkitError } from "@mandate/core"
import type * as AiError from "effect/ai/AiError"
import type * as McpClient from "effect/ai/McpClient"
import type { McpClientError } from "effect/ai/McpClientError"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as McpResult from "./tools/McpResult.ts"
import * as ToolNames from "./tools/ToolNames.ts"
import * as ToolOutcome from "./tools/ToolOutcome.ts"

export type { NameOptions } from "./tools/ToolNames.ts"

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
  readonly success: typeof ToolOutcome.TextOutcome
  readonly failure: typeof McpFailure
  readonly failureMode: "error"
}>

/**
 * Makes the tools of an MCP server a toolkit for `withToolkit`.
 *
 * **Details**
 *
 * `source` is a client of the server, or an effect that gives one.
 *
 * A model is shown the text of a result, and its images, audio and resources as
 * files; a client of a model that takes no such file sends a note in its place.
 * Structured content is shown as JSON where there is no text. A result that
 * cannot be read is a note as well: the tool has run, and an error would have
 * the model call it again. A tool that says it failed is the failure
 * `ToolError`, with its words. A call that is interrupted is cancelled at the
 * server.
 *
 * Names become ones that providers take: `fs.read` is `fs_read` for a model, and
 * `fs.read` for the server. `options` has a prefix and names of your own choice,
 * see {@link NameOptions}. Two tools that would have one name are a problem of
 * the definition.
 *
 * The toolkit that `McpClient.toolkit` gives is taken too. It has refused other
 * names before, and says of a result with other content than text only that
 * there was one.
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
 * const tools = McpTools.from(McpClient.McpClient, { prefix: "files_" })
 * const clerk = AgentBuilder.make("clerk").withToolkit(tools)
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
export const from = <R = never>(
  source: McpClient.McpClient | Effect.Effect<McpClient.McpClient | Listed, McpClientError, R>,
  options?: ToolNames.NameOptions
): Effect.Effect<Toolkit.WithHandler<Record<string, McpTool>>, ToolkitError.ToolkitError, R> =>
  Effect.flatMap(
    isReadable(source)
      ? Effect.mapError(Effect.isEffect(source) ? source : Effect.succeed(source), unlisted)
      : Effect.fail(noClient),
    (given) => {
      if (hasMethod(given, "callTool")) return ofClient(given as McpClient.McpClient, options)
      return hasMethod(given, "handle") ? ofListed(given as Listed, options) : Effect.fail(noClient)
    }
  )

// Code without types may give anything.
const hasMethod = (given: unknown, name: string): boolean =>
  isReadable(given) && Predicate.hasProperty(given, name) && typeof given[name] === "function"

// Not a proxy that throws.
const isReadable = (given: unknown): boolean => Result.isSuccess(Result.try(() => Effect.isEffect(given)))

const noClient = new ToolkitError.ToolkitError({
  problems: [{
    kind: "InvalidSetting",
    message: "the source of the tools must be an McpClient, what McpClient.toolkit gives, or an effect of one"
  }]
})

/**
 * What `McpClient.toolkit` gives.
 *
 * @category models
 * @since 0.1.0
 */
export type Listed = Effect.Success<ReturnType<typeof McpClient.toolkit>>

const ofClient = Effect.fnUntraced(function*(client: McpClient.McpClient, options: ToolNames.NameOptions | undefined) {
  const named = yield* names(yield* Effect.mapError(client.listTools(), unlisted), options)
  const tools = named.map(({ name, tool }) => toolOf(name, tool))
  const handlers = Object.fromEntries(named.map(({ name, tool }) => [
    name,
    (params: unknown) =>
      client.callTool({ tool, arguments: params as { readonly [key: string]: unknown } }).pipe(
        Effect.matchEffect({
          onSuccess: (result) =>
            result.isError === true
              ? Effect.fail(toolError(McpResult.words(result)))
              : Effect.succeed(McpResult.make(result)),
          onFailure: afterCall
        })
      )
  ]))
  const toolkit = Toolkit.make(...tools)
  return yield* Effect.provideContext(toolkit, yield* toolkit.toHandlers(handlers))
})

const ofListed = Effect.fnUntraced(function*({ handle, tools }: Listed, options: ToolNames.NameOptions | undefined) {
  const named = yield* names(Object.values(tools), options)
  const run = handle as unknown as Handle
  const made = named.map(({ name, tool }) =>
    toolOf(name, { name, description: tool.description, inputSchema: jsonSchemaOf(tool) })
  )
  const handlers = Object.fromEntries(named.map(({ name, tool }) => [
    name,
    (params: unknown) =>
      Effect.flatMap(run(tool.name, params), Stream.runLast).pipe(
        Effect.matchEffect({
          onSuccess: (last) =>
            Effect.succeed(
              McpResult.make({
                content: last._tag === "Some" ? [{ type: "text", text: String(last.value.result) }] : []
              })
            ),
          onFailure: afterCall
        })
      )
  ]))
  const toolkit = Toolkit.make(...made)
  return yield* Effect.provideContext(toolkit, yield* toolkit.toHandlers(handlers))
})

const toolOf = (name: string, { description, inputSchema }: Described): McpTool =>
  Tool.dynamic(name, {
    description,
    parameters: inputSchema,
    success: ToolOutcome.TextOutcome,
    failure: McpFailure,
    toModelOutput: ToolOutcome.toModelOutput
  }).annotate(Tool.Strict, false)

interface Described {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: { readonly [key: string]: unknown }
}

const jsonSchemaOf = (tool: Tool.Any): Described["inputSchema"] =>
  (Tool.isDynamic(tool) ? tool.jsonSchema : undefined) as Described["inputSchema"] | undefined ?? { type: "object" }

const names = <A extends { readonly name: string }>(
  tools: ReadonlyArray<A>,
  options: ToolNames.NameOptions | undefined
) =>
  Effect.mapError(
    Effect.fromResult(ToolNames.make(tools, options)),
    (problems) => new ToolkitError.ToolkitError({ problems })
  )

// Results carry their tool only as a type, and in these toolkits failures are never results.
type Handle = (
  name: string,
  params: unknown
) => Effect.Effect<
  Stream.Stream<{ readonly result: unknown }, McpClientError | AiError.AiError>,
  AiError.AiError
>

type Failure = typeof McpFailure.Type

// The arguments were checked before: what is not valid now is the result of a tool that has run.
const afterCall = (
  error: McpClientError | AiError.AiError
): Effect.Effect<ToolOutcome.ToolOutcome<string>, Failure> => {
  if (error._tag !== "McpClientError") return Effect.die(error)
  const { reason } = error
  switch (reason._tag) {
    case "ToolError":
      return Effect.fail(toolError(McpResult.words(reason.result)))
    case "UnsupportedError":
    case "ValidationError":
      return Effect.succeed(new ToolOutcome.ToolOutcome(unreadable))
    default:
      return Effect.fail({ error: { reason: reason._tag, message: sentences[reason._tag] } })
  }
}

const unreadable = "The call succeeded. Its result is of a kind that cannot be shown, and was left out."

const toolError = (words: string): Failure => ({
  error: {
    reason: "ToolError",
    message: words.length > maxWords ? `${words.slice(0, maxWords).toWellFormed()}…` : words
  }
})

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
