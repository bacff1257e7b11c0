/**
 * The context of a run, as its drive and its tools read it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ToolContext } from "../definition/ToolContext.ts"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { Message } from "../values/Message.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import type { DeclaredContext, Drive } from "./Drive.ts"

/**
 * Reads the context of a run, once for each drive, with the instructions that
 * depend on it.
 *
 * @category running
 * @since 0.1.0
 */
export const read = Effect.fnUntraced(function*(
  drive: Drive,
  declared: DeclaredContext
): Effect.fn.Return<Drive, CorruptRow.CorruptRow> {
  const value = yield* Effect.mapError(
    declared.decode(drive.run.context),
    (issues) => CorruptRow.of(drive.run, `context: ${issues.join("; ")}`)
  )
  const { agent } = drive
  const { instructions } = declared
  const context = { ...declared, value }
  if (instructions === undefined) return { ...drive, context }
  const text: unknown = instructions(value)
  if (typeof text !== "string") {
    return yield* Effect.die(new Error(`The instructions of the agent "${agent.id}" are a function that gave no text`))
  }
  const system: Message | undefined = text === "" ? undefined : { role: "system", content: text.toWellFormed() }
  return { ...drive, context, agent: { ...agent, system } }
})

/**
 * What `ToolContext.context` gives a handler.
 *
 * @category getters
 * @since 0.1.0
 */
export const service = (drive: Drive, tool: string): ToolContext["Service"]["context"] => (schema) => {
  const { agent, context, run } = drive
  if (context === undefined) {
    return Effect.die(new Error(`The tool "${tool}" asks for a context, and the agent "${agent.id}" declares none`))
  }
  if ((schema as unknown) === context.schema) return Effect.succeed(context.value as never)
  return Effect.catch(Schema.decodeUnknownEffect(Schema.toCodecJson(schema))(run.context), (error) =>
    Effect.die(
      new Error(
        `The tool "${tool}" cannot read the context of the agent "${agent.id}": ${SchemaIssues.lines(error).join("; ")}`
      )
    ))
}
