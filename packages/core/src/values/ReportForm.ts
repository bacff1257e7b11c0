/**
 * What the decoding of a stored report depends on, as far as it is data.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import * as Digest from "./Digest.ts"
import * as Json from "./Json.ts"

/**
 * A digest of the schema of a report: of the JSON Schema of what is stored, and
 * of the values that it decodes to. It is part of the key of a cached result,
 * so that a value that one codec wrote is not decoded by another.
 *
 * **Gotchas**
 *
 * Functions of a transformation are not data: a schema that decodes the same
 * JSON to another value of the same type has the same digest.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (schema: Schema.Top): string => {
  const known = digests.get(schema)
  if (known !== undefined) return known
  const digest = Digest.sha256(Json.canonical([
    attempt(() => Tool.getJsonSchemaFromSchema(schema) as Json.Json),
    attempt(() => SchemaRepresentation.toJson(SchemaRepresentation.toRepresentation(Schema.toType(schema).ast)))
  ]))
  digests.set(schema, digest)
  return digest
}

// A schema without such a form, which only its other form tells apart.
const attempt = (form: () => Json.Json): Json.Json => Result.getOrElse(Result.try(form), () => null)

const digests = new WeakMap<Schema.Top, string>()
