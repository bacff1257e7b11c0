/**
 * JSON Schemas for providers that hold their models to them.
 *
 * @since 0.1.0
 */
import type { Json } from "@mandate/core"
import * as Result from "effect/Result"
import type { Family } from "./Family.ts"
import type { JsonSchema } from "./Keywords.ts"
import * as ReadSchema from "./ReadSchema.ts"
import * as Restore from "./Restore.ts"
import * as WriteSchema from "./WriteSchema.ts"

/**
 * A schema as the provider is sent it, and how what a model writes for it
 * becomes a value of the schema as it was.
 *
 * @category models
 * @since 0.1.0
 */
export interface StrictSchema {
  readonly schema: JsonSchema
  readonly restore: (json: Json.Json) => Json.Json
}

/**
 * Rewrites a schema for a family of providers, or gives the reason why it
 * cannot be, in words that follow "the schema".
 *
 * **Details**
 *
 * Optional keys become required and nullable, and are made absent again where
 * they are `null`. `oneOf` becomes `anyOf`. A key that is optional and nullable
 * has one way left to be nothing: it is `null` then.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rewrite = (schema: JsonSchema, family: Family): Result.Result<StrictSchema, string> =>
  Result.flatMap(ReadSchema.read(schema), (plain) =>
    Result.map(WriteSchema.write(plain, family), (written) => ({
      schema: written,
      restore: (json: Json.Json) => Restore.restore(plain, json)
    })))
