/**
 * Whether a schema says how its values are written as JSON.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as JsonWalk from "./JsonWalk.ts"

/**
 * Finds the first part of a JSON codec for which there is no JSON, and gives
 * the end of a sentence about the schema, with the path.
 *
 * **Details**
 *
 * A declared type (`Schema.declare`, `Schema.instanceOf`) has a JSON form if it
 * has an annotation `toCodecJson` or `toCodec`, or is decoded from another
 * schema. Without one, a model would be shown the schema `{}` and whatever it
 * wrote would be refused. The same holds for types whose codec to JSON always
 * fails, such as those of cryptographic keys. `Schema.Unknown`, `Schema.Any`
 * and `Schema.Json` are any JSON.
 *
 * @category getters
 * @since 0.1.0
 */
export const missing = (codec: SchemaAST.AST): string | undefined => {
  const seen = new Set<SchemaAST.AST>()

  const visit = (node: SchemaAST.AST, path: ReadonlyArray<string>): string | undefined => {
    if (seen.has(node)) return undefined
    seen.add(node)
    const link = node.encoding?.at(-1)
    if (link !== undefined) {
      if (!SchemaAST.isDeclaration(node) || !isOpaque(node, link)) return visit(link.to, path)
      const name = node.annotations?.expected ?? node.annotations?.identifier
      const what = typeof name === "string" ? `the type ${JsonWalk.oneLine(name)}` : "a declared type"
      return `has no JSON form at ${JsonWalk.pathText(path)}: ${what} has no codec to JSON`
    }
    switch (node._tag) {
      case "Objects":
        return first([
          ...node.propertySignatures.map(({ name, type }) => [String(name), type] as const),
          ...node.indexSignatures.map(({ type }) => ["*", type] as const)
        ], path)
      case "Arrays":
        return first([
          ...node.elements.map((type, index) => [String(index), type] as const),
          ...node.rest.map((type) => ["*", type] as const)
        ], path)
      case "Union":
        return node.types.reduce<string | undefined>((found, type) => found ?? visit(type, path), undefined)
      case "Suspend":
        return visit(node.thunk(), path)
      default:
        return undefined
    }
  }

  const first = (
    parts: ReadonlyArray<readonly [name: string, type: SchemaAST.AST]>,
    path: ReadonlyArray<string>
  ): string | undefined =>
    parts.reduce<string | undefined>((found, [name, type]) => found ?? visit(type, [...path, name]), undefined)

  return visit(codec, [])
}

// A type of which effect knows nothing is linked to any JSON, as it is.
const anyJson = Schema.toCodecJson(Schema.Unknown).ast.encoding!.at(-1)!

const isOpaque = ({ annotations }: SchemaAST.Declaration, { to, transformation }: SchemaAST.Link): boolean => {
  const isKnown = typeof annotations?.["toCodecJson"] === "function" || typeof annotations?.["toCodec"] === "function"
  if (!isKnown) return SchemaAST.isDeclaration(to) && transformation === anyJson.transformation
  return SchemaAST.isUnknown(to) && transformation._tag === "Transformation" && isForbidden(transformation.decode)
}

const isForbidden = (getter: SchemaGetter.Getter<any, any, any>): boolean => {
  const run = SchemaGetter.run(getter, Option.some(null), {}) as Effect.Effect<unknown, SchemaIssue.Issue>
  const exit = Effect.runSyncExit(Effect.flip(run))
  return exit._tag === "Success" && exit.value._tag === "Forbidden"
}
