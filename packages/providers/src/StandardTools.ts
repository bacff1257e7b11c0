/**
 * Tools whose input is a schema of any library that follows Standard Schema
 * (Zod, Valibot, ArkType and others), run by plain functions.
 *
 * @since 0.1.0
 */
import { Options as CallerOptions, type ToolkitError } from "@mandate/core"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as ForeignTools from "./tools/ForeignTools.ts"
import * as ToolInput from "./tools/ToolInput.ts"
import type * as ToolNames from "./tools/ToolNames.ts"

export type { NameOptions } from "./tools/ToolNames.ts"

/**
 * A toolkit for `withToolkit`.
 *
 * @category models
 * @since 0.1.0
 */
export type StandardToolkit = ForeignTools.ForeignToolkit

/**
 * What `execute` is told about its call: the id that the provider gave it, a
 * key that is the same whenever this call runs again, and a signal that is
 * aborted when the call is interrupted.
 *
 * @category models
 * @since 0.1.0
 */
export type Call = ForeignTools.Call

/**
 * A tool.
 *
 * **Details**
 *
 * - `input`: a Standard Schema
 * - `jsonSchema`: the JSON Schema that a model is shown, for a library that
 *   gives none by itself. Zod 4 gives one; for Valibot pass what
 *   `toJsonSchema` of `@valibot/to-json-schema` gives
 * - `strict`: whether the provider is asked to hold the model to the schema
 * - `needsApproval`: whether a person is asked before a call runs, always or by
 *   its checked input. Default: no
 * - `execute`: gives a value, a promise, or an async iterable, whose elements
 *   are shown as progress and whose last one is the result
 *
 * @category models
 * @since 0.1.0
 */
export interface StandardTool<Input extends StandardSchemaV1> {
  readonly description?: string | undefined
  readonly input: Input
  readonly jsonSchema?: object | undefined
  readonly strict?: boolean | undefined
  readonly needsApproval?:
    | boolean
    | ((input: StandardSchemaV1.InferOutput<Input>) => boolean | PromiseLike<boolean>)
    | undefined
  readonly execute: (input: StandardSchemaV1.InferOutput<Input>, call: Call) => unknown
}

/**
 * Makes a toolkit of tools, by name.
 *
 * **Details**
 *
 * What a model wrote is checked by the schema, and `execute` is given what the
 * schema makes of it, defaults and transformations included. Arguments that
 * are refused are an error result that names paths. A result is JSON;
 * `undefined` is `null`. What `execute` throws is the error `ToolFailed`,
 * without its text. Names become ones that providers take; `options` has names
 * of your own choice, see {@link NameOptions}.
 *
 * A person who is asked about a call sees the arguments with the defaults of
 * the schema. Arguments whose transformation cannot be shown as JSON, such as
 * those of an object that becomes something else, are refused there.
 *
 * **Gotchas**
 *
 * `bind` and `build` refuse a tool without a JSON Schema, and one with a key
 * that no tool has, such as `needsAproval`. A call that was in
 * flight at a crash runs again; `idempotencyKey` is the same then.
 *
 * **Example** (A tool with a Zod schema)
 *
 * ```ts
 * import { AgentBuilder } from "@mandate/core"
 * import { StandardTools } from "@mandate/providers"
 * import { z } from "zod"
 *
 * const tools = StandardTools.from({
 *   search: {
 *     description: "Searches the index",
 *     input: z.object({ query: z.string().min(1), limit: z.number().int().default(10) }),
 *     execute: async ({ limit, query }) => [`${limit} results for ${query}`]
 *   }
 * })
 *
 * export const agent = AgentBuilder.make("librarian").withToolkit(tools)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = <const Inputs extends { readonly [name: string]: StandardSchemaV1 }>(
  tools: { readonly [Name in keyof Inputs]: StandardTool<Inputs[Name]> },
  options?: ToolNames.NameOptions
): Effect.Effect<StandardToolkit, ToolkitError.ToolkitError> =>
  ForeignTools.fromUnknown(tools, options, (name, tool: AnyTool) =>
    Result.mapBoth(decode(tool), {
      onSuccess: (given) => definition(name, given),
      onFailure: (issues) => `is not valid: ${issues.join("; ")}`
    }))

type AnyTool = Omit<StandardTool<StandardSchemaV1>, "execute" | "needsApproval"> & {
  readonly needsApproval?: ForeignTools.Definition["needsApproval"] | undefined
  readonly execute: (input: unknown, call: Call) => unknown
}

const decode = CallerOptions.make<AnyTool>("setting", {
  description: CallerOptions.text,
  input: CallerOptions.any,
  jsonSchema: CallerOptions.any,
  strict: CallerOptions.flag,
  needsApproval: CallerOptions.checked<NonNullable<AnyTool["needsApproval"]>>(
    "true, false or a function",
    (policy) => typeof policy === "boolean" || typeof policy === "function"
  ),
  execute: CallerOptions.func
}, ["input", "execute"])

const definition = (
  name: string,
  { description, execute, input, jsonSchema, needsApproval, strict }: AnyTool
): ForeignTools.Definition => ({
  name,
  description,
  strict,
  needsApproval: needsApproval ?? false,
  input: ToolInput.resolve(input, jsonSchema),
  refusal: undefined,
  execute
})
