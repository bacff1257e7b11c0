/**
 * Compiles postures for their runs.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import type { PostureRegistry } from "../service/PostureRegistry.ts"
import type { ToolCatalog } from "../service/ToolCatalog.ts"
import type { AgentDefinitionError } from "../values/AgentDefinitionError.ts"
import { DelegateError } from "../values/DelegateError.ts"
import type { Posture } from "../values/Posture.ts"
import type { BoundSpec, CompilePosture } from "./BoundSpec.ts"
import * as CatalogTools from "./CatalogTools.ts"
import { make as specOf } from "./PostureSpec.ts"

/**
 * The shape of every posture's run: such a run is compiled from its row, and so
 * never meets another shape.
 *
 * @category constants
 * @since 0.1.0
 */
export const shape = "posture"

/**
 * Creates the compiler of a runtime. `bind` compiles a definition onto it. One
 * posture value is compiled once.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  registry: PostureRegistry["Service"],
  catalog: ToolCatalog["Service"],
  bind: (spec: AgentSpec) => Effect.Effect<BoundSpec, AgentDefinitionError>
): CompilePosture => {
  const known = new WeakMap<Posture, BoundSpec>()
  const compile = Effect.fnUntraced(function*(posture: Posture): Effect.fn.Return<BoundSpec, DelegateError> {
    const invalid = (issues: ReadonlyArray<string>) =>
      new DelegateError({ reason: { _tag: "InvalidPosture", posture: posture.name, issues } })
    const spec = specOf(posture, registry)
    if (Result.isFailure(spec)) return yield* invalid([spec.failure])
    const bound = yield* Effect.mapError(
      bind(spec.success),
      ({ problems }) => invalid(problems.map(({ message }) => message))
    )
    const compiled = {
      ...bound,
      shape: { text: shape, earlier: shape },
      catalog: CatalogTools.use(catalog, [], bound.agent)
    }
    known.set(posture, compiled)
    return compiled
  })
  return (posture) => {
    const compiled = known.get(posture)
    return compiled === undefined ? compile(posture) : Effect.succeed(compiled)
  }
}

/**
 * Names of the tools that a run of a posture gets when it starts now: those of
 * the catalog that it allows. A list that allows nothing of it gives none; only
 * an empty list allows all.
 *
 * @category getters
 * @since 0.1.0
 */
export const toolsOf = (
  { allowedTools }: Posture,
  { catalog }: BoundSpec
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    catalog?.resolve ?? Effect.succeed([]),
    (names) => names.filter((name) => allowedTools.length === 0 || allowedTools.includes(name))
  )
