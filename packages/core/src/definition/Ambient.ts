/**
 * What of its surroundings a run, and a handler, may see.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { ToolContext } from "./ToolContext.ts"

const ambient = [
  Clock.Clock,
  Random.Random,
  Tracer.Tracer,
  Tracer.ParentSpan,
  Logger.CurrentLoggers,
  References.MinimumLogLevel,
  References.TracerEnabled
] as const

/**
 * The clock, the randomness, the tracer with its span, and the loggers.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pick = Context.pick(...ambient)

/**
 * The services that a handler brings along: those it was given with, without
 * what is of the place it was given in, or of one call.
 *
 * @category combinators
 * @since 0.1.0
 */
export const brought = (given: Context.Context<never>): Context.Context<never> =>
  Context.omit(...ambient, ToolContext, Scope.Scope)(given as Context.Context<ToolContext | Scope.Scope>)
