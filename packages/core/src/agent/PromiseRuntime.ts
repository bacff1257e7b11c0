/**
 * Agents for code without Effect: verbs that return promises.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { JsonAgent } from "../delegation/BoundAgent.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { ModelRegistry } from "../service/ModelRegistry.ts"
import type { AgentInput } from "../values/AgentInput.ts"
import * as Options from "../values/Options.ts"
import type { RunResult, TaskOutcome } from "../values/RunResult.ts"
import type { Given } from "../values/TaskRequest.ts"
import type { AgentBuilder } from "./AgentBuilder.ts"
import * as CallerStack from "./CallerStack.ts"
import * as CallSignal from "./CallSignal.ts"
import * as PromiseRuns from "./PromiseRuns.ts"
import type { TypedAgent } from "./TypedAgent.ts"

/**
 * A runtime for code without Effect, with the services `R`.
 *
 * **Details**
 *
 * - `build`, `bind`: compile a definition. They reject with the
 *   `AgentDefinitionError`, or with what the layer failed with
 * - `run`: runs any other effect of the SDK, such as `Threads.list()`,
 *   `Sweep.run()` or `DelegateRuntime.run(...)`, with the services of the
 *   runtime. The signal interrupts it
 * - `close`: interrupts what the runtime drives and leaves those runs open, as
 *   closing a `Mandate` layer does. Promises of verbs that wait for such a run
 *   reject, and every later call does. A process does not end by itself while
 *   a runtime that was used is open
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseRuntime<in R> extends AsyncDisposable {
  readonly build: <O, C>(agent: AgentBuilder<O, R, C>) => Promise<PromiseAgent<O, C>>
  readonly bind: <I, O, C>(agent: TypedAgent<I, O, R, C>) => Promise<PromiseBoundAgent<I, O, C>>
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, R | Mandate | ModelRegistry>,
    options?: PromiseRuns.Cancellable
  ) => Promise<A>
  readonly close: () => Promise<void>
}

/**
 * An agent whose verbs return promises.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseAgent<out O, C = undefined> extends PromiseRuns.PromiseRuns<AgentInput, RunResult<O>, O, C> {}

/**
 * A bound subagent whose verbs return promises.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseBoundAgent<I, out O, C = undefined>
  extends PromiseRuns.PromiseRuns<Given<I>, TaskOutcome<O>, O, C>
{
  /** The same agent for adapters, such as `toAiSdkTool` of `@mandate/providers`. */
  readonly json: JsonAgent
}

/**
 * Makes a runtime of a layer with a runtime and models. The layer is built when
 * it is first needed.
 *
 * **Details**
 *
 * Promises reject with the typed errors themselves: `AgentDefinitionError`,
 * `RunError`. Their stacks end with the frames of the code that called the
 * verb. Everything else that can come of a run is in its result.
 * Tools that are acquired when an agent is bound, such as a connection to an
 * MCP server, live until the runtime closes.
 *
 * **Example** (Without Effect)
 *
 * ```ts
 * import { AgentBuilder, Mandate, PromiseRuntime } from "@mandate/core"
 * import { ScriptedModel, Step } from "@mandate/testing"
 * import { Layer } from "effect"
 *
 * await using runtime = PromiseRuntime.make(Layer.merge(
 *   Mandate.layerMemory,
 *   ScriptedModel.layer({ editor: [Step.text("High water comes twice a day.")] })
 * ))
 * const editor = await runtime.build(AgentBuilder.make("editor").withInstructions("You write."))
 * const { status } = await editor.run("Write about tides", { signal: AbortSignal.timeout(30_000) })
 * console.log(status._tag === "Completed" ? status.answer : status._tag)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <R, E>(
  layer: Layer.Layer<R | Mandate | ModelRegistry, E>
): PromiseRuntime<Services<R>> => {
  const runtime = ManagedRuntime.make(layer)
  let isClosed = false
  // Fibers of the verbs are not the managed runtime's: closing must not interrupt, and so cancel, what they wait for.
  const open = Effect.suspend(() => isClosed ? Effect.die(new Error("The runtime is closed")) : runtime.contextEffect)
  const within = <A, X>(effect: Effect.Effect<A, X, Services<R>>): Effect.Effect<A, X | E> =>
    Effect.flatMap(
      open,
      (context) => Effect.provideContext(effect, Context.add(context, Scope.Scope, runtime.scope))
    )
  const streamWithin = <A, X>(stream: Stream.Stream<A, X>): Stream.Stream<A, X | E> =>
    Stream.unwrap(Effect.map(open, (context) => Stream.provideContext(stream, context)))
  const run = <A, X>(effect: Effect.Effect<A, X, Services<R>>, signal?: AbortSignal): Promise<A> => {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    // Between this and the caller is the verb.
    const caller = CallerStack.capture(run, 1)
    return Effect.runPromiseExit(within(effect), signal === undefined ? undefined : { signal })
      .then((exit) => Exit.isSuccess(exit) ? exit.value : Promise.reject(rejection(exit.cause, signal, caller)))
  }
  const perform: PromiseRuns.Perform = {
    effect: run,
    stream: (stream) => CallerStack.iterable(Stream.toAsyncIterable(streamWithin(stream)))
  }
  // An agent was bound, so the layer is there, and can only be closed.
  const jsonWithin = ({ run, start, stream, ...rest }: JsonAgent): JsonAgent => ({
    ...rest,
    run: (input, config) => within(run(input, config)) as ReturnType<JsonAgent["run"]>,
    start: (input, config) => within(start(input, config)) as ReturnType<JsonAgent["start"]>,
    stream: (input, config) => streamWithin(stream(input, config)) as ReturnType<JsonAgent["stream"]>
  })
  const close = (): Promise<void> => {
    isClosed = true
    return runtime.dispose()
  }
  return {
    build: (agent) => run(Effect.map(agent.build(), (built) => PromiseRuns.make(built, perform))),
    bind: (agent) =>
      run(Effect.map(agent.bind(), (bound) => ({ ...PromiseRuns.make(bound, perform), json: jsonWithin(bound.json) }))),
    run: (effect, options) =>
      Result.match(CallSignal.decode(options), {
        onSuccess: ({ signal }) => run(effect, signal),
        onFailure: (issues) => Promise.reject(new Options.InvalidOptions({ of: "PromiseRuntime.run", issues }))
      }),
    close,
    [Symbol.asyncDispose]: close
  }
}

type Services<R> = R | Mandate | ModelRegistry | Scope.Scope

const rejection = (
  cause: Cause.Cause<unknown>,
  signal: AbortSignal | undefined,
  caller: CallerStack.CallerStack
): unknown =>
  signal?.aborted === true && Cause.hasInterruptsOnly(cause)
    ? signal.reason
    : CallerStack.append(Cause.squash(cause), caller)
