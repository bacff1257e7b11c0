/**
 * How an agent's typed answer is asked for and checked.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { AnyCodec } from "../definition/AgentSpec.ts"
import { submitReport, type TypedAnswer } from "../loop/Drive.ts"
import * as Json from "../values/Json.ts"
import type { Issues, JsonCodec } from "../values/JsonCodec.ts"
import type { ModelTool } from "../values/ModelRequest.ts"
import * as NativeAnswer from "../values/NativeAnswer.ts"

/**
 * Compiles a typed answer.
 *
 * **Details**
 *
 * A model that gives structured answers beside tools is asked for one; any
 * other gets the tool `submit_report`. `report` is the codec of `schema`. What
 * is stored is what the schema makes of the answer, so that a replay and the
 * first time are equal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <R>(
  context: Context.Context<R>,
  schema: AnyCodec,
  report: JsonCodec<unknown>,
  structuredAnswers: boolean
): Effect.Effect<TypedAnswer> =>
  structuredAnswers
    ? Effect.map(NativeAnswer.make(schema, report), (native) => typed(context, report, native))
    : Effect.succeed(typed(context, report, undefined))

/**
 * The tool through which a model submits a typed answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const submitTool = (report: JsonCodec<unknown>): ModelTool => ({
  name: submitReport,
  description: "Submits the final report and ends the work. Call it once, alone, when everything is done.",
  inputSchema: report.modelSchema
})

const typed = <R>(
  context: Context.Context<R>,
  report: JsonCodec<unknown>,
  native: NativeAnswer.NativeAnswer | undefined
): TypedAnswer => {
  const fromModel = native?.read ?? report.fromModel
  const read = report.isWrapped
    ? (json: Json.Json) => Effect.catch(fromModel(json), (error) => Effect.mapError(report.read(json), () => error))
    : fromModel
  return {
    native: native === undefined ? undefined : { name: nativeName, schema: native.schema },
    check: (json) =>
      Effect.provideContext(
        Effect.result(
          Effect.map(
            Effect.flatMap(read(json), report.encode) as Effect.Effect<Json.Json, Issues>,
            (encoded) => JSON.parse(Json.canonical(encoded)) as Json.Json
          )
        ),
        context
      )
  }
}

const nativeName = "report"
