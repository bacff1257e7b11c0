/**
 * Identifiers of agents, threads, runs, calls and interrupts.
 *
 * **Details**
 *
 * Ids inside a run come from positions, never from clocks or randomness:
 *
 * ```text
 * tides-1                      thread, chosen by the application
 * tides-1#0                    its first run
 * 2.1                          call key: step 2, call 1 of that step
 * tides-1#0/2.1                thread of the child that this call started
 * tides-1#0/2.1#0              the child's run
 * 2.1:approval0                interrupt of a call
 * 0.0:child~0.0:approval0      the same, seen from the parent
 * ```
 *
 * No other module knows the separators.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Schema for the id of an agent, unique within the family it runs in: 1 to 52
 * ASCII letters, digits, `_` or `-`. The limit leaves room for the prefix of
 * the task tool that is named after the agent (providers allow 64).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AgentId = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[a-zA-Z0-9_-]{1,52}$/)),
  Schema.brand("~mandate/AgentId")
)

/**
 * Id of an agent.
 *
 * @category models
 * @since 0.1.0
 */
export type AgentId = typeof AgentId.Type

/**
 * Schema for a thread id that an application chooses: 1 to 128 ASCII letters,
 * digits, `_`, `.`, `:` or `-`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ApplicationThreadId = Schema.String.pipe(Schema.check(Schema.isPattern(/^[a-zA-Z0-9_.:-]{1,128}$/)))

/**
 * Schema for any thread id: an application's, or a child's, which is
 * `<parent run id>/<call key>`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ThreadId = Schema.NonEmptyString.pipe(Schema.brand("~mandate/ThreadId"))

/**
 * Id of a thread: one conversation.
 *
 * @category models
 * @since 0.1.0
 */
export type ThreadId = typeof ThreadId.Type

/**
 * Schema for a run id: `<thread id>#<n>`, n counting the runs of the thread
 * from 0.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunId = Schema.NonEmptyString.pipe(Schema.brand("~mandate/RunId"))

/**
 * Id of a run: one input on a thread and all that follows until its outcome.
 *
 * @category models
 * @since 0.1.0
 */
export type RunId = typeof RunId.Type

/**
 * Schema for a call key: `<step>.<index>`, both counted from 0.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallKey = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^(0|[1-9]\d*)\.(0|[1-9]\d*)$/)),
  Schema.brand("~mandate/CallKey")
)

/**
 * Where a tool call stands in its run.
 *
 * @category models
 * @since 0.1.0
 */
export type CallKey = typeof CallKey.Type

/**
 * The `n`th run of a thread, counted from 0.
 *
 * @category constructors
 * @since 0.1.0
 */
export const runId = (threadId: string, n: number): RunId => `${threadId}#${n}` as RunId

/**
 * The key of a tool call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const callKey = (step: number, index: number): CallKey => `${step}.${index}` as CallKey

/**
 * Orders two calls of one run: by step, then by index.
 *
 * @category getters
 * @since 0.1.0
 */
export const compareCalls = (a: CallKey, b: CallKey): number => {
  const [stepA = 0, indexA = 0] = a.split(".").map(Number)
  const [stepB = 0, indexB = 0] = b.split(".").map(Number)
  return stepA - stepB || indexA - indexB
}

/**
 * The thread of the child that a task call of `parent` starts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const childThreadId = (parent: RunId, call: CallKey): ThreadId => `${parent}/${call}` as ThreadId

/**
 * The run of the child that a task call of `parent` starts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const childRunId = (parent: RunId, call: CallKey): RunId => runId(childThreadId(parent, call), 0)

/**
 * A thread and those above it, the root last.
 *
 * @category getters
 * @since 0.1.0
 */
export const lineOf = (threadId: string): ReadonlyArray<string> => {
  const line = [threadId]
  for (let at = threadId.lastIndexOf("/"); at >= 0; at = threadId.lastIndexOf("/", at - 1)) {
    line.push(threadId.slice(0, threadId.lastIndexOf("#", at)))
  }
  return line
}

/**
 * Whether a thread id belongs to a child.
 *
 * @category getters
 * @since 0.1.0
 */
export const isChildThread = (threadId: string): boolean => threadId.includes("/")

/**
 * Schema for what an interrupt waits for.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InterruptKind = Schema.Literals(["approval", "question", "breakpoint", "uncertain"])

/**
 * What an interrupt waits for.
 *
 * @category models
 * @since 0.1.0
 */
export type InterruptKind = typeof InterruptKind.Type

/**
 * Schema for the id of an interrupt as the run that waits names it:
 * `<call key>:<kind><n>`, n counted in that call from 0.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InterruptId = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^(0|[1-9]\d*)\.(0|[1-9]\d*):(approval|question|breakpoint|uncertain)(0|[1-9]\d*)$/)),
  Schema.brand("~mandate/InterruptId")
)

/**
 * Id of an interrupt, within the run that waits.
 *
 * @category models
 * @since 0.1.0
 */
export type InterruptId = typeof InterruptId.Type

/**
 * Schema for the id of an interrupt as an application sees it: the calls that
 * lead from its agent down to the run that waits, then the interrupt's own id.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompositeId = Schema.String.pipe(
  Schema.check(Schema.isPattern(
    /^((0|[1-9]\d*)\.(0|[1-9]\d*):child~)*(0|[1-9]\d*)\.(0|[1-9]\d*):(approval|question|breakpoint|uncertain)(0|[1-9]\d*)$/
  )),
  Schema.brand("~mandate/CompositeId")
)

/**
 * Id of an interrupt, from the agent that an application called.
 *
 * @category models
 * @since 0.1.0
 */
export type CompositeId = typeof CompositeId.Type

/**
 * The `n`th interrupt of a kind in one call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const interruptId = (call: CallKey, kind: InterruptKind, n: number): InterruptId =>
  `${call}:${kind}${n}` as InterruptId

/**
 * The call that waits on an interrupt.
 *
 * @category getters
 * @since 0.1.0
 */
export const callOf = (id: InterruptId): CallKey => id.slice(0, id.indexOf(":")) as CallKey

/**
 * Joins the task calls that lead to a run, outermost first, and an interrupt
 * of that run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const join = (path: ReadonlyArray<CallKey>, interrupt: InterruptId): CompositeId =>
  [...path.map((call) => `${call}:child`), interrupt].join("~") as CompositeId

/**
 * Splits a composite id into the task calls that lead to the run, outermost
 * first, and the interrupt of that run.
 *
 * @category getters
 * @since 0.1.0
 */
export const split = (
  id: CompositeId
): { readonly path: ReadonlyArray<CallKey>; readonly interrupt: InterruptId } => {
  const parts = id.split("~")
  return {
    path: parts.slice(0, -1).map((part) => part.slice(0, -":child".length) as CallKey),
    interrupt: parts[parts.length - 1] as InterruptId
  }
}
