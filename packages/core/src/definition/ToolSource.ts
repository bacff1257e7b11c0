/**
 * Tools of an agent: a toolkit and its handlers.
 *
 * @since 0.1.0
 */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
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
 * Tools and the effect that gives their handlers, types erased.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolSource {
  readonly tools: ReadonlyArray<Tool.Any>
  readonly handlers: Effect.Effect<ReadonlyMap<string, AnyHandler>, unknown, unknown>
}

/**
 * Takes a toolkit and its handlers apart. Both are copied: what a caller
 * changes in them afterwards changes no agent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (toolkit: Toolkit.Any, handlers: object | Effect.Effect<object, unknown, unknown>): ToolSource =>
  Object.freeze({
    tools: Object.freeze(Object.values(toolkit.tools)),
    handlers: isEffect(handlers) ? Effect.map(handlers, byName) : Effect.succeed(byName(handlers))
  })

const isEffect = (
  handlers: object | Effect.Effect<object, unknown, unknown>
): handlers is Effect.Effect<object, unknown, unknown> => Effect.isEffect(handlers)

const byName = (handlers: object): ReadonlyMap<string, AnyHandler> => new Map(Object.entries(handlers))
