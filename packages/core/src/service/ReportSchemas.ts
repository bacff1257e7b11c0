/**
 * Report schemas that postures name.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as EffectIdentity from "../values/EffectIdentity.ts"
import * as JsonCodec from "../values/JsonCodec.ts"
import * as OptionSchema from "../values/OptionSchema.ts"
import type { Posture } from "../values/Posture.ts"
import type { PostureProblem } from "../values/PostureError.ts"

/**
 * A schema of reports. It needs no services.
 *
 * @category models
 * @since 0.1.0
 */
export type ReportSchema = Schema.Codec<any, any>

/**
 * Report schemas by name.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReportSchemas {
  /** Finds a schema by its name. */
  readonly get: (name: string) => ReportSchema | undefined

  /** What is wrong with the schema that a posture names, if it names one. */
  readonly problems: (posture: Posture) => ReadonlyArray<PostureProblem>
}

/**
 * Schema for an option with report schemas by name.
 *
 * @category schemas
 * @since 0.1.0
 */
export const option: Schema.declare<{ readonly [name: string]: ReportSchema }> = OptionSchema.recordOf<ReportSchema>(
  "schemas by name",
  Schema.isSchema
)

/**
 * Registers schemas under their names.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schemas: { readonly [name: string]: ReportSchema } = {}): ReportSchemas => {
  const byName = new Map(Object.entries(schemas))
  const refused = new Map([...byName].map(([name, schema]) => [name, refusal(schema)]))
  return {
    get: (name) => byName.get(name),
    problems: ({ name, report }) => {
      if (report === undefined || !("name" in report)) return []
      const message = byName.has(report.name)
        ? refused.get(report.name)
        : `There is no report schema of this name; known: ${[...byName.keys()].sort().join(", ") || "none"}`
      return message === undefined ? [] : [{ posture: name, field: "report", message }]
    }
  }
}

const refusal = (schema: ReportSchema): string | undefined => {
  if (!EffectIdentity.isOwnSchema(schema)) return `The schema is made with another effect. ${EffectIdentity.remedy()}`
  return Result.match(JsonCodec.make(schema), {
    onSuccess: () => undefined,
    onFailure: (problem) => `The schema ${problem}`
  })
}
