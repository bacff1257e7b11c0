/**
 * Tools of an agent: a toolkit and its handlers, or a toolkit that carries
 * them.
 *
 * @since 0.1.0
 */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ToolkitError } from "../values/ToolkitError.ts"
import * as ValueKind from "../values/ValueKind.ts"
import type { ToolContext } from "./ToolContext.ts"

/**
 * Handlers of a toolkit, by tool name, each free to need services of its own.
 *
 * @category models
 * @since 0.1.0
 */
export type Handlers<Tools extends Record<string, Tool.Any>> = {
  readonly [Name in keyof Tools as Tool.RequiresHandler<Tools[Name]> extends true ? Name : never]: (
    params: Tool.Parameters<Tools[Name]>,
    context: Toolkit.HandlerContext<Tools[Name]>
  ) => Effect.Effect<Tool.Success<Tools[Name]>, Tool.Failure<Tools[Name]>, unknown>
}

/**
 * Services that handlers and the codecs of their tools need, without those
 * that the runtime provides for the time of a call.
 *
 * @category utility types
 * @since 0.1.0
 */
export type HandlersServices<H, Tools extends Record<string, Tool.Any>> = Exclude<
  { readonly [K in keyof H]: ReturnServices<H[K]> }[keyof H] | Tool.HandlerServices<Tools[keyof Tools]>,
  ToolContext | Scope.Scope
>

/**
 * Services that the tools of a toolkit need which carries its handlers,
 * without those that the runtime provides for the time of a call.
 *
 * @category utility types
 * @since 0.1.0
 */
export type ToolkitServices<Tools extends Record<string, Tool.Any>> = Exclude<
  NotAny<Tool.HandlerServices<Tools[keyof Tools]>>,
  ToolContext | Scope.Scope
>

// Tools of which nothing is known need who knows what; `any` would let a missing service pass.
type NotAny<R> = 0 extends 1 & R ? unknown : R

type ReturnServices<F> = F extends (...args: never) => Effect.Effect<infer _A, infer _E, infer R> ? R : never

/**
 * A handler whose types are erased.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyHandler = (
  params: unknown,
  context: Toolkit.HandlerContext<Tool.Any>
) => Effect.Effect<unknown, unknown, unknown>

/**
 * Tools with their handlers, types erased.
 *
 * **Details**
 *
 * `takesEncoded`: the handlers take parameters as the tools' schemas encode
 * them, and decode them.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandledTools {
  readonly tools: ReadonlyArray<Tool.Any>
  readonly handlers: ReadonlyMap<string, AnyHandler>
  readonly takesEncoded: boolean
}

/**
 * Tools of an agent, types erased: those that are known before it is bound,
 * and the effect that gives all of them with their handlers.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolSource {
  readonly known: ReadonlyArray<Tool.Any>
  readonly handled: Effect.Effect<HandledTools, unknown, unknown>
}

/**
 * Takes a toolkit and its handlers apart. Both are copied: what a caller
 * changes in them afterwards changes no agent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (toolkit: Toolkit.Any, handlers: object | Effect.Effect<object, unknown, unknown>): ToolSource => {
  if (!hasTools(toolkit)) return refused("the toolkit must be a Toolkit", toolkit)
  if (!Predicate.isObjectKeyword(handlers)) return refused("the handlers must be an object of functions", handlers)
  const tools = Object.freeze(Object.values(toolkit.tools))
  const handled = (given: object): HandledTools => ({
    tools,
    handlers: new Map(Object.entries(given)),
    takesEncoded: false
  })
  return Object.freeze({
    known: tools,
    handled: isEffect(handlers) ? Effect.map(handlers, handled) : Effect.succeed(handled(handlers))
  })
}

/**
 * Takes a toolkit apart that carries its handlers, or the effect that gives
 * one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromToolkit = (
  toolkit: AnyToolkit | Effect.Effect<AnyToolkit, unknown, unknown>
): ToolSource => {
  if (isEffect(toolkit)) {
    return Object.freeze({
      known: [],
      handled: Effect.flatMap(toolkit, (given) => isToolkit(given) ? Effect.succeed(carried(given)) : notToolkit(given))
    })
  }
  if (!isToolkit(toolkit)) return Object.freeze({ known: [], handled: notToolkit(toolkit) })
  const handled = carried(toolkit)
  return Object.freeze({ known: handled.tools, handled: Effect.succeed(handled) })
}

/**
 * A toolkit that carries its handlers, types erased.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyToolkit = Toolkit.WithHandler<any>

const hasTools = (given: unknown): boolean =>
  Predicate.hasProperty(given, "tools") && Predicate.isObjectKeyword(given.tools)

const isToolkit = (given: unknown): given is AnyToolkit =>
  hasTools(given) && Predicate.hasProperty(given, "handle") && typeof given.handle === "function"

const refusal = (message: string, given: unknown): Effect.Effect<never, ToolkitError> =>
  Effect.fail(
    new ToolkitError({ problems: [{ kind: "InvalidSetting", message: `${message}, not ${ValueKind.of(given)}` }] })
  )

const notToolkit = (given: unknown) =>
  refusal("the toolkit must be one that carries its handlers, or an effect that gives one", given)

const refused = (message: string, given: unknown): ToolSource =>
  Object.freeze({ known: [], handled: refusal(message, given) })

const isEffect = <A extends object>(
  given: A | Effect.Effect<A, unknown, unknown>
): given is Effect.Effect<A, unknown, unknown> => Effect.isEffect(given)

const carried = (toolkit: AnyToolkit): HandledTools => {
  const entries = Object.entries(toolkit.tools as Record<string, Tool.Any>)
  return {
    tools: Object.freeze(entries.map(([, tool]) => tool)),
    handlers: new Map(entries.map(([key, tool]) => [tool.name, handlerOf(toolkit.handle as Handle, key)])),
    takesEncoded: true
  }
}

type Handle = (
  name: string,
  params: unknown,
  toolCallId?: string
) => Effect.Effect<Stream.Stream<Tool.HandlerResult<Tool.Any>, unknown, unknown>, unknown, unknown>

// Every result but the last is progress.
const handlerOf = (handle: Handle, name: string): AnyHandler => (params, context) =>
  Effect.gen(function*() {
    let last: Tool.HandlerResult<Tool.Any> | undefined
    yield* Stream.runForEach(yield* handle(name, params, context.toolCallId), (result) => {
      if (result.preliminary) return context.preliminary(result.result)
      last = result
      return Effect.void
    })
    if (last === undefined) return yield* Effect.die(`the toolkit gave no result for the tool "${name}"`)
    return last.isFailure ? yield* Effect.fail(last.result as unknown) : last.result as unknown
  })
