/**
 * A deterministic model that follows a script for each agent and each run.
 *
 * **Details**
 *
 * Runs are told apart by their run id, so parallel runs never take each
 * other's steps, in whatever order they are scheduled. Within a run each
 * attempt of each step takes the next scripted step. A run that asks for the
 * same step and attempt again, after a crash or a recovery, gets the same
 * scripted step again and takes no further one.
 *
 * @since 0.1.0
 */
import { EffectCopy, type ModelClient, ModelRegistry, type ModelRequest, Options } from "@mandate/core"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as FrozenCopy from "./FrozenCopy.ts"
import * as Given from "./Given.ts"
import type { Scripts } from "./Script.ts"
import * as ScriptBook from "./ScriptBook.ts"
import { ScriptMismatch, type UnscriptedCall, type UnusedSteps } from "./ScriptError.ts"
import * as StepOutcome from "./StepOutcome.ts"
import * as StepStream from "./StepStream.ts"

/**
 * A request that reached the model, as it was then; deeply frozen.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecordedRequest {
  readonly request: ModelRequest.ModelRequest
  readonly call: ModelRequest.ModelCall
}

/**
 * Service with the scripted model and what it has seen.
 *
 * @category services
 * @since 0.1.0
 */
export class ScriptedModel extends Context.Service<ScriptedModel, {
  /** The model itself, for wrapping or for calling it directly. */
  readonly client: ModelClient.ModelClient

  /** All requests in order of arrival, unscripted ones included. */
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>

  /** Requests of one agent in order of arrival, by its whole agent id. */
  readonly requestsOf: (agentId: string) => Effect.Effect<ReadonlyArray<RecordedRequest>>

  /** Number of requests that have arrived. */
  readonly calls: Effect.Effect<number>

  /**
   * Waits until this many requests have arrived, counted from the start, and
   * the last of them has answered or waits for something.
   */
  readonly awaitCalls: (count: number) => Effect.Effect<void>

  /** Calls that were interrupted before they had given all they had to give, in the order of the interruptions. */
  readonly interrupted: Effect.Effect<ReadonlyArray<ModelRequest.ModelCall>>

  /** Steps that no call has taken yet. Scripts that are optional have none. */
  readonly unusedSteps: Effect.Effect<ReadonlyArray<UnusedSteps>>

  /** Calls that no step was scripted for. */
  readonly unscriptedCalls: Effect.Effect<ReadonlyArray<UnscriptedCall>>
}>()("~mandate/testing/ScriptedModel") {}

/**
 * Creates a scripted model. Its scope dies with a `ScriptMismatch` at its end
 * if calls were unscripted or steps are left over.
 *
 * **When to use**
 *
 * Use it with {@link layerOf} to share one model between two runtimes, such as
 * one before and one after a crash, or to wrap its `client`.
 *
 * **Details**
 *
 * When the scope already closes with a failure, steps that are left over are
 * not reported: they follow from that failure. What is no object of scripts is
 * a defect, `Options.InvalidOptions`.
 *
 * **Gotchas**
 *
 * Run ids tell runs apart. Runtimes with separate stores that share a model
 * must use different thread ids, and a thread that is forgotten and started
 * anew is taken for the same run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  scripts: Scripts
): Effect.fn.Return<ScriptedModel["Service"], never, Scope.Scope> {
  yield* EffectCopy.ensure("@mandate/testing", Schema.Unknown)
  const book = ScriptBook.make(yield* Options.orDie("ScriptedModel", decode(scripts)))
  const requests: Array<RecordedRequest> = []
  const interrupted: Array<ModelRequest.ModelCall> = []
  const unscripted: Array<UnscriptedCall> = []
  const waiting = new Map<Deferred.Deferred<void>, number>()

  const ask = (request: ModelRequest.ModelRequest, call: ModelRequest.ModelCall) =>
    Effect.suspend(() => {
      requests.push(FrozenCopy.make({ request, call }))
      const taken = book.take(request, call)
      if (Result.isFailure(taken)) unscripted.push(taken.failure)
      wake()
      return Result.isFailure(taken) ? Effect.die(taken.failure) : StepOutcome.of(taken.success, request, call)
    })

  const wake = () => {
    for (const [arrived, count] of waiting) {
      if (count <= requests.length) Deferred.doneUnsafe(arrived, Exit.void)
    }
  }

  const noteInterrupt = (call: ModelRequest.ModelCall) => (exit: Exit.Exit<unknown, unknown>) =>
    Effect.sync(() => {
      if (Exit.hasInterrupts(exit)) interrupted.push(call)
    })

  yield* Effect.addFinalizer((exit) => {
    const unused = Exit.isSuccess(exit) ? book.unused() : []
    return unscripted.length + unused.length === 0
      ? Effect.void
      : Effect.die(new ScriptMismatch({ unscripted, unused }))
  })

  return {
    client: {
      ...StepOutcome.modelName,
      generate: (request, call) =>
        Effect.onExit(Effect.flatMap(ask(request, call), StepOutcome.response), noteInterrupt(call)),
      stream: (request, call) =>
        Stream.onExit(Stream.unwrap(Effect.map(ask(request, call), StepStream.of)), noteInterrupt(call))
    },
    requests: Effect.sync(() => [...requests]),
    requestsOf: (agentId) => Effect.sync(() => requests.filter(({ call }) => call.agentId === agentId)),
    calls: Effect.sync(() => requests.length),
    awaitCalls: (count) =>
      Effect.suspend(() => {
        if (requests.length >= count) return Effect.void
        const arrived = Deferred.makeUnsafe<void>()
        waiting.set(arrived, count)
        // The yield lets the call that woke this fiber go on until it waits for something.
        return Deferred.await(arrived).pipe(
          Effect.ensuring(Effect.sync(() => waiting.delete(arrived))),
          Effect.andThen(Effect.yieldNow)
        )
      }),
    interrupted: Effect.sync(() => [...interrupted]),
    unusedSteps: Effect.sync(book.unused),
    unscriptedCalls: Effect.sync(() => [...unscripted])
  }
})

/**
 * Layer with a scripted model, also as the model of every id and the default.
 * It keeps its state for as long as the layer lives; {@link make} says what
 * happens when it ends.
 *
 * **Example** (A run with a tool call)
 *
 * ```ts
 * import { Script, ScriptedModel, Step } from "@mandate/testing"
 *
 * const models = ScriptedModel.layer({
 *   editor: [Step.task("researcher", { topic: "tides" }), Step.text("Tides come and go.")],
 *   researcher: Script.each([Step.report({ facts: [], confidence: 1 })])
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (scripts: Scripts): Layer.Layer<ScriptedModel | ModelRegistry.ModelRegistry> =>
  Layer.effectContext(Effect.map(make(scripts), contextOf))

/**
 * Layer with a scripted model that was made before. Layers of one model share
 * all its state; it ends with the scope it was made in.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerOf = (
  model: ScriptedModel["Service"]
): Layer.Layer<ScriptedModel | ModelRegistry.ModelRegistry> => Layer.succeedContext(contextOf(model))

const decodeArgument = Options.make<{ readonly scripts: Scripts }>("argument", {
  scripts: Options.record()
}, ["scripts"])

// Each script is checked under the agent id that it has.
const decode = (given: unknown): Result.Result<Scripts, Options.Issues> =>
  Result.flatMap(decodeArgument({ scripts: given }), ({ scripts }) => {
    // Of names that cannot be read, the decoder says so.
    const ids = Result.getOrElse(Result.try(() => Object.keys(scripts)), () => [])
    const fields = Object.fromEntries(ids.map((id) => [id, Given.script]))
    return Options.make<Record<string, unknown>>("script", fields)(scripts) as Result.Result<Scripts, Options.Issues>
  })

const contextOf = (model: ScriptedModel["Service"]) =>
  Context.make(ScriptedModel, model).pipe(
    Context.add(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(model.client) })
  )
