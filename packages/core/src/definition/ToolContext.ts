/**
 * What a tool's handler can ask of the run it is called from.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { CallKey, RunId, ThreadId } from "../values/Ids.ts"
import type { Json } from "../values/Json.ts"

/**
 * Service that the runtime provides to a handler for the time of one call. It
 * never appears among the requirements of an agent. Once the call has ended,
 * `ask`, `once`, `emit` and `fatal` of a service that was kept die with an error
 * that says so, and write nothing.
 *
 * @category services
 * @since 0.1.0
 */
export class ToolContext extends Context.Service<ToolContext, {
  /** Thread of the run that makes the call. */
  readonly threadId: ThreadId

  /** The run that makes the call. */
  readonly runId: RunId

  /** Where the call stands in its run. */
  readonly callKey: CallKey

  /** The id that the provider gave the call, made unique in its thread. */
  readonly toolCallId: string

  /** How deep the run stands: 0 for a run with no parent. */
  readonly depth: number

  /** How much deeper the run may delegate. */
  readonly depthLeft: number

  /** Whose the run is, if it is anybody's. */
  readonly tenant: string | undefined

  /** The same text whenever this call runs again, and no other call's. */
  readonly idempotencyKey: string

  /**
   * The epoch of the run's lease: a fencing token. Whoever takes the run over
   * has a higher one, so a system that refuses a lower epoch than the last it
   * has seen for this thread refuses a process that was frozen and wakes up.
   */
  readonly epoch: number

  /** The context of the run. See {@link context}. */
  readonly context: <A, E, RD, RE>(schema: Schema.Codec<A, E, RD, RE>) => Effect.Effect<A, never, RD>

  /** Asks a person. See {@link ask}. */
  readonly ask: <A, E, RD, RE>(
    question: string,
    options: { readonly answer: Schema.Codec<A, E, RD, RE> }
  ) => Effect.Effect<A, never, RD | RE>

  /** Runs an effect once for this call. See {@link once}. */
  readonly once: <A, X, RD, RE, E, R>(
    name: string,
    schema: Schema.Codec<A, X, RD, RE>,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | RD | RE>

  /** Fails the run. See {@link fatal}. */
  readonly fatal: (reason: string) => Effect.Effect<never>

  /** Shows progress. See {@link emit}. */
  readonly emit: (value: Json) => Effect.Effect<void>
}>()("~mandate/ToolContext") {}

/**
 * The idempotency key of this call: the same whenever the call runs again
 * after a crash, and no other call's.
 *
 * @category getters
 * @since 0.1.0
 */
export const idempotencyKey: Effect.Effect<string, never, ToolContext> = Effect.map(
  ToolContext,
  (context) => context.idempotencyKey
)

/**
 * Gets the context that the run was started with, by a schema.
 *
 * **Details**
 *
 * With the schema that the agent declares (`withContext`) this is the value
 * that its runs are given. Any other schema decodes the JSON of that value, so
 * a tool that several agents share can name the fields that it needs. Each
 * child has what its own schema made of its parent's context.
 *
 * **Gotchas**
 *
 * It is a defect of the handler where the agent declares no context, as
 * postures do, or where the context is no value of the schema; the model then
 * reads that the tool failed.
 *
 * **Example** (A tool that knows whose run it is called from)
 *
 * ```ts
 * import { AgentBuilder, Mandate, ToolContext } from "@mandate/core"
 * import { ScriptedModel, Step } from "@mandate/testing"
 * import { Effect, Schema } from "effect"
 * import * as Tool from "effect/ai/Tool"
 * import * as Toolkit from "effect/ai/Toolkit"
 *
 * const User = Schema.Struct({ userId: Schema.String, language: Schema.String })
 *
 * const clerk = AgentBuilder.make("clerk")
 *   .withContext(User)
 *   .withInstructions(({ language }) => `Answer in ${language}.`)
 *   .withTools(Toolkit.make(Tool.make("orders", { success: Schema.String })), {
 *     orders: () => Effect.map(ToolContext.context(User), ({ userId }) => `No orders of ${userId}`)
 *   })
 *
 * const program = Effect.gen(function*() {
 *   const agent = yield* clerk.build()
 *   yield* agent.run("What did I order?", { context: { userId: "u-1", language: "Norwegian" } })
 * }).pipe(Effect.provide([
 *   Mandate.layerMemory,
 *   ScriptedModel.layer({ clerk: [Step.call("orders"), Step.text("Ingenting.")] })
 * ]))
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const context = <A, E, RD, RE>(
  schema: Schema.Codec<A, E, RD, RE>
): Effect.Effect<A, never, ToolContext | RD> => Effect.flatMap(ToolContext, (context) => context.context(schema))

/**
 * Asks a person, and waits for the answer: the run suspends, for as long as it
 * takes.
 *
 * **Details**
 *
 * Without an answer this never returns: the handler's fiber ends, with its
 * finalizers, and nothing in it can catch that. When the run is resumed the
 * handler is entered again, and each `ask` gives the answer that was recorded
 * for its text and answer schema; of equal questions of one call the first
 * gets the first answer. A question that was not asked before is asked anew,
 * and so is one whose answer does not decode.
 *
 * **Gotchas**
 *
 * What a handler does before an `ask` is done again when it is entered again:
 * put it into {@link once}. A second `ask` while one is open is a defect. A
 * handler that cannot be interrupted and catches everything goes on after an
 * `ask`, but whatever it then gives is dropped.
 *
 * @category running
 * @since 0.1.0
 */
export const ask = <A, E, RD, RE>(
  question: string,
  options: { readonly answer: Schema.Codec<A, E, RD, RE> }
): Effect.Effect<A, never, ToolContext | RD | RE> =>
  Effect.flatMap(ToolContext, (context) => context.ask(question, options))

/**
 * Runs an effect once for this call and records what it gave. When the handler
 * is entered again, the recorded value is decoded and the effect does not run.
 *
 * **Details**
 *
 * `name` tells the steps of one call apart. `schema` encodes the value as
 * JSON. A failure is not recorded.
 *
 * **Gotchas**
 *
 * A crash after the effect and before its record runs it again, as it would a
 * whole handler: pass {@link idempotencyKey} on to what must not repeat.
 *
 * @category running
 * @since 0.1.0
 */
export const once = <A, X, RD, RE, E, R>(
  name: string,
  schema: Schema.Codec<A, X, RD, RE>,
  effect: Effect.Effect<NoInfer<A>, E, R>
): Effect.Effect<A, E, R | RD | RE | ToolContext> =>
  Effect.flatMap(ToolContext, (context) => context.once<A, X, RD, RE, E, R>(name, schema, effect))

/**
 * Fails the run, with a reason for its caller. Nothing in the handler can
 * catch it, and the handler's finalizers run.
 *
 * **When to use**
 *
 * Use for what no model can mend: a revoked licence, a broken invariant. An
 * ordinary failure of a tool is its declared failure, which the model reads.
 *
 * @category running
 * @since 0.1.0
 */
export const fatal = (reason: string): Effect.Effect<never, never, ToolContext> =>
  Effect.flatMap(ToolContext, (context) => context.fatal(reason))

/**
 * Publishes a value to whoever watches the run, as a live event. It is not
 * stored, and no model sees it.
 *
 * @category running
 * @since 0.1.0
 */
export const emit = (value: Json): Effect.Effect<void, never, ToolContext> =>
  Effect.flatMap(ToolContext, (context) => context.emit(value))
