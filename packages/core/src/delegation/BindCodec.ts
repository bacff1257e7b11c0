/**
 * Compiles the schemas of a definition.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AnyCodec } from "../definition/AgentSpec.ts"
import * as EffectIdentity from "../values/EffectIdentity.ts"
import * as JsonCodec from "../values/JsonCodec.ts"
import * as StandardCodec from "../values/StandardCodec.ts"
import type { Found } from "./DefinitionCheck.ts"

/**
 * Takes the problems of a definition as they are found.
 *
 * @category models
 * @since 0.1.0
 */
export type Report = (problems: ReadonlyArray<Found>) => void

/**
 * Compiles a schema, or reports why it cannot be; `what` it is the schema of
 * ends the sentence. What was refused is never used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const codec = (schema: AnyCodec, what: string, report: Report): JsonCodec.JsonCodec<unknown> => {
  if (EffectIdentity.isOwnSchema(schema)) {
    return orReport(StandardCodec.make(schema) ?? JsonCodec.make<unknown>(schema), what, report)
  }
  report([{
    kind: "TwoEffects",
    message: `two copies of effect: the schema of the ${what} is made with another one. ${EffectIdentity.remedy()}`
  }])
  return unusable
}

/**
 * Takes a compiled schema, or reports why there is none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const orReport = (
  compiled: Result.Result<JsonCodec.JsonCodec<unknown>, string>,
  what: string,
  report: Report
): JsonCodec.JsonCodec<unknown> =>
  Result.getOrElse(compiled, (problem) => {
    report([{ kind: "UnsupportedSchema", message: `the schema of the ${what} ${problem}` }])
    return unusable
  })

const noCodec = () => Effect.die("a codec that was refused was used")
const unusable: JsonCodec.JsonCodec<unknown> = {
  decode: noCodec,
  encode: noCodec,
  read: noCodec,
  fromModel: noCodec,
  modelSchema: {},
  isWrapped: false
}
