/**
 * The context of an agent's runs: a value that the application gives for each
 * run, and that tools and instructions read.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A run keeps its context encoded, and everything reads what was kept: the
 *    first drive and every later one see the same.
 * 2. A child gets what its own schema makes of its parent's context, so it
 *    keeps no field that its schema does not name.
 * 3. A context that any agent below cannot read is refused before anything is
 *    written.
 * 4. What is said of a context that is refused quotes none of it.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import type { DeclaredContext } from "../loop/Drive.ts"
import type { ContextUse } from "../run/Runnable.ts"
import * as Json from "../values/Json.ts"
import type { Issues, JsonCodec } from "../values/JsonCodec.ts"
import { maxContextBytes } from "../values/RunConfig.ts"
import * as Utf8 from "../values/Utf8.ts"

/**
 * The context that an agent declares, as its drives read it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const declared = (
  { context, instructions }: AgentSpec,
  codec: JsonCodec<unknown>,
  services: Context.Context<never>
): DeclaredContext => ({
  schema: context!,
  decode: (json) => json === undefined ? Effect.fail(["it is missing"]) : total(() => codec.decode(json), services),
  instructions: typeof instructions === "function" ? instructions : undefined
})

/**
 * The context of an agent that declares none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const none = (agentId: string): ContextUse => ({
  accept: (given) =>
    given === undefined ? absent : Effect.fail([`the agent "${agentId}" declares no context: leave it out`]),
  inherit: () => absent
})

/**
 * The context of an agent that declares one. `children` are the agents it
 * delegates to, `services` what its schema needs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  agentId: string,
  codec: JsonCodec<unknown>,
  services: Context.Context<never>,
  children: ReadonlyArray<{ readonly id: string; readonly context: ContextUse }>
): ContextUse => {
  const keep = (value: unknown): Effect.Effect<Json.Json, Issues> =>
    Effect.flatMap(total(() => codec.encode(value), services), (encoded) =>
      Effect.as(
        Effect.andThen(
          // What is kept can be read again.
          Effect.andThen(ofSize(encoded), total(() => codec.decode(encoded), services)),
          Effect.forEach(children, ({ context, id }) =>
            Effect.mapError(context.inherit(encoded), (issues) =>
              issues.map((issue) => `subagent "${id}": ${issue}`)))
        ),
        encoded
      ))
  return {
    accept: (given) =>
      given === undefined ? Effect.fail([`it is missing: the agent "${agentId}" declares one`]) : keep(given),
    inherit: (parent) =>
      parent === undefined
        ? Effect.fail(["the run that delegates has none"])
        : Effect.flatMap(total(() => codec.decode(parent), services), keep)
  }
}

const absent = Effect.succeed(undefined)

// A schema's own code, or a getter of the value, may throw. What it throws may quote the value.
const total = <A>(
  read: () => Effect.Effect<A, Issues, unknown>,
  services: Context.Context<never>
): Effect.Effect<A, Issues> =>
  Effect.catchDefect(
    Effect.provideContext(Effect.suspend(read) as Effect.Effect<A, Issues>, services),
    () => Effect.fail(["it cannot be read"])
  )

const ofSize = (encoded: Json.Json): Effect.Effect<void, Issues> => {
  const bytes = Utf8.byteLength(Json.canonical(encoded))
  return bytes <= maxContextBytes
    ? Effect.void
    : Effect.fail([`it has ${bytes} bytes as JSON; at most ${maxContextBytes} are allowed`])
}
