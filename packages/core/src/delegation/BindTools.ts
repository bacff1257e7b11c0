/**
 * Builds the tools of a definition with their handlers, and compiles them.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AnyHandler, HandledTools, ToolSource } from "../definition/ToolSource.ts"
import type { LoopTool } from "../loop/Drive.ts"
import * as HandlerTool from "../loop/HandlerTool.ts"
import type * as JsonCodec from "../values/JsonCodec.ts"
import * as JsonSchemaCodec from "../values/JsonSchemaCodec.ts"
import { ToolkitError } from "../values/ToolkitError.ts"
import { codec, orReport, type Report } from "./BindCodec.ts"
import type { Found } from "./DefinitionCheck.ts"

/**
 * Tools that were built, or could not be. Without handlers, `problems` says
 * why.
 *
 * @category models
 * @since 0.1.0
 */
export interface Built {
  readonly tools: ReadonlyArray<Tool.Any>
  readonly handlers: ReadonlyMap<string, AnyHandler> | undefined
  readonly takesEncoded: boolean
  readonly problems: ReadonlyArray<Found>
}

/**
 * A tool as the loop runs it, and the codec of its result.
 *
 * @category models
 * @since 0.1.0
 */
export interface Compiled {
  readonly tool: LoopTool
  readonly result: JsonCodec.JsonCodec<unknown>
}

/**
 * Runs the effect that gives handlers, or tools with handlers.
 *
 * **Details**
 *
 * A `ToolkitError` speaks for itself. Any other failure is logged and named
 * without its text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const build = <R>(context: Context.Context<R>, source: ToolSource): Effect.Effect<Built> =>
  Effect.provideContext(source.handled as Effect.Effect<HandledTools>, context).pipe(
    Effect.map((handled): Built => ({ ...handled, problems: [] })),
    Effect.catchCause((cause) =>
      Effect.map(failure(source, cause), (problems): Built => ({ ...none(source), problems }))
    )
  )

/**
 * Compiles tools, and reports what is wrong with them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (built: Built, report: Report): ReadonlyArray<Compiled> => {
  report(built.problems)
  return built.tools.flatMap((tool) => {
    const handler = built.handlers?.get(tool.name)
    if (built.handlers !== undefined && handler === undefined) {
      report([{ kind: "MissingHandler", message: `the tool "${tool.name}" has no handler` }])
    }
    const codecs = compileCodecs(tool, built.takesEncoded, report)
    return handler === undefined ? [] : [{ tool: HandlerTool.make(tool, codecs, handler), result: codecs.success }]
  })
}

const none = ({ known }: ToolSource): Omit<Built, "problems"> => ({
  tools: known,
  handlers: undefined,
  takesEncoded: false
})

const failure = (
  { known }: ToolSource,
  cause: Cause.Cause<unknown>
): Effect.Effect<ReadonlyArray<Found>> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof ToolkitError) return Effect.succeed(error.problems)
  const what = known.length === 0 ? "the tools of a toolkit" : `the handlers of ${names(known)}`
  return Effect.as(Effect.logError("Handlers could not be built", cause), [
    { kind: "HandlersFailed", message: `${what} could not be built; see the log` }
  ])
}

const names = (tools: ReadonlyArray<Tool.Any>): string => tools.map((tool) => `"${tool.name}"`).join(", ")

const compileCodecs = (tool: Tool.Any, takesEncoded: boolean, report: Report): HandlerTool.ToolCodecs => {
  const of = (what: string) => `${what} of the tool "${tool.name}"`
  const jsonSchema = Tool.isDynamic(tool) ? tool.jsonSchema : undefined
  const results = {
    success: codec(tool.successSchema, of("result"), report),
    failure: codec(tool.failureSchema, of("failure"), report)
  }
  if (jsonSchema !== undefined) {
    return { parameters: orReport(JsonSchemaCodec.make(jsonSchema), of("parameters"), report), ...results }
  }
  return {
    parameters: codec(tool.parametersSchema, of("parameters"), report),
    // What stands in the way of this one was reported for the whole schema.
    encoded: takesEncoded ? codec(Schema.toEncoded(tool.parametersSchema), of("parameters"), () => {}) : undefined,
    ...results
  }
}
