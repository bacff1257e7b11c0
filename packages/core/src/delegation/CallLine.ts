/**
 * What waits for a call that is made from code.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ToolContext } from "../definition/ToolContext.ts"
import * as Ids from "../values/Ids.ts"

/**
 * The threads that wait for a call made here: in the handler of a tool, that of
 * the run which called the tool and those above it; elsewhere none.
 *
 * @category getters
 * @since 0.1.0
 */
export const current: Effect.Effect<ReadonlyArray<string>> = Effect.contextWith((context: Context.Context<never>) => {
  const call = Context.getOption(context, ToolContext)
  return Effect.succeed(call._tag === "None" ? [] : Ids.lineOf(call.value.threadId))
})
