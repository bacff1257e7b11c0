/**
 * Definitions of subagents, and how they are made: the public module
 * `TypedAgent`.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as AgentSpec from "../definition/AgentSpec.ts"
import * as SpecParts from "../definition/SpecParts.ts"
import * as StandardCodec from "../values/StandardCodec.ts"
import type { TaskRequest } from "../values/TaskRequest.ts"
import { TypedAgent } from "./TypedAgent.ts"

export { type Any, type Input, type Report, type Services, TypedAgent } from "./TypedAgent.ts"

/**
 * Defines a subagent by the schemas of its input and its report.
 *
 * **Details**
 *
 * `id` has 1 to 52 of `[a-zA-Z0-9_-]`; `description` tells a parent's model
 * when to delegate to it. Both are checked when the definition is bound. A
 * Standard Schema (Zod and others) has to give a JSON Schema itself. Its values
 * are what the library gives, and have to be JSON.
 *
 * **Example** (A subagent)
 *
 * ```ts
 * import { TypedAgent } from "@mandate/core"
 * import { Schema } from "effect"
 *
 * const researcher = TypedAgent.make("researcher", {
 *   description: "Researches one topic and cites its sources",
 *   input: Schema.Struct({ topic: Schema.String }),
 *   report: Schema.Struct({ facts: Schema.Array(Schema.String) })
 * }).withInstructions("You research one topic.")
 *
 * console.assert(researcher.id === "researcher")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  <I, IE, IRD, IRE, O, OE, ORD, ORE>(id: string, options: {
    readonly description: string
    readonly input: Schema.Codec<I, IE, IRD, IRE>
    readonly report: Schema.Codec<O, OE, ORD, ORE>
  }): TypedAgent<I, O, IRD | IRE | ORD | ORE>
  <In extends AnySchema, Out extends AnySchema>(id: string, options: {
    readonly description: string
    readonly input: In
    readonly report: Out
  }): TypedAgent<Value<In>, Value<Out>, SchemaServices<In> | SchemaServices<Out>>
} = (id: string, options: {
  readonly description: string
  readonly input: unknown
  readonly report: unknown
}): TypedAgent<any, any, any> => {
  const parts = SpecParts.described(options as never, "typed")
  return new TypedAgent(AgentSpec.make({
    id,
    role: "typed",
    ...parts,
    ...(parts.input === undefined ? {} : { input: StandardCodec.from(parts.input) as AgentSpec.AnyCodec }),
    ...(parts.report === undefined ? {} : { report: StandardCodec.from(parts.report) as AgentSpec.AnyCodec })
  }))
}

/**
 * A schema of effect, or of a library that follows Standard Schema.
 *
 * @category models
 * @since 0.1.0
 */
export type AnySchema = Schema.Codec<any, any, any, any> | StandardSchemaV1

/**
 * Type of a schema's values.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Value<S> = S extends Schema.Codec<infer A, any, any, any> ? A
  : S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S>
  : never

/**
 * Services that a schema needs. A Standard Schema needs none.
 *
 * @category utility types
 * @since 0.1.0
 */
export type SchemaServices<S> = S extends Schema.Codec<any, any, infer RD, infer RE> ? RD | RE : never

/**
 * Defines a subagent that takes a description of its task and reports in text.
 * All text subagents of a parent are offered through the one tool `task`.
 *
 * **Example** (A text subagent, run with no parent)
 *
 * ```ts
 * import { Mandate, TypedAgent } from "@mandate/core"
 * import { ScriptedModel, Step } from "@mandate/testing"
 * import { Effect } from "effect"
 *
 * const scribe = TypedAgent.text("scribe", { description: "Writes prose from notes" })
 *
 * const program = Effect.gen(function*() {
 *   const bound = yield* scribe.bind()
 *   const outcome = yield* bound.run({ description: "Two lines on tides" })
 *   return outcome._tag === "Reported" ? outcome.report : outcome._tag
 * }).pipe(Effect.provide([Mandate.layerMemory, ScriptedModel.layer({ scribe: [Step.text("It rises. It falls.")] })]))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (id: string, options: { readonly description: string }): TypedAgent<TaskRequest, string> =>
  new TypedAgent(AgentSpec.make({ id, role: "text", ...SpecParts.described(options, "text") }))
