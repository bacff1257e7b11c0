/**
 * What waits for a call that delegates, and what a call waits for.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ToolContext } from "../definition/ToolContext.ts"
import * as Ids from "../values/Ids.ts"

/**
 * What waits for a call that the run of a thread makes: the threads from this
 * one up, and the runs in whose slots they are.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (threadId: string): ReadonlyArray<string> => {
  const threads = Ids.lineOf(threadId)
  return [...threads, ...threads.filter(Ids.isChildThread).map((child) => child.slice(0, child.lastIndexOf("/")))]
}

/**
 * What waits for a call that is made from code: in the handler of a tool what
 * waits for the run which called the tool; elsewhere nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const current: Effect.Effect<ReadonlyArray<string>> = Effect.contextWith((context: Context.Context<never>) => {
  const call = Context.getOption(context, ToolContext)
  return Effect.succeed(call._tag === "None" ? [] : of(call.value.threadId))
})

/**
 * A call's place among the others of its run: it stands in the queue for a slot
 * until it has entered one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly queue: () => string | undefined
  readonly entered: () => void
}

/**
 * The place of a call of a run, which has no slot yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const place = (runId: string): Place => {
  let hasSlot = false
  return {
    queue: () => hasSlot ? undefined : runId,
    entered: () => {
      hasSlot = true
    }
  }
}
