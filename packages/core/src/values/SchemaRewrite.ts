/**
 * Schemas derived from the JSON side of a codec.
 *
 * @since 0.1.0
 */
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/**
 * The codec by which JSON is read that a model or a person wrote.
 *
 * **Details**
 *
 * It differs from `Schema.toCodecJson` in two ways. A number is a JSON number:
 * the texts `"NaN"`, `"Infinity"` and `"-Infinity"`, as which that codec writes
 * what is no JSON number, are texts. And `null` is not `undefined` for a
 * property that may be absent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const written = (codec: SchemaAST.AST): SchemaAST.AST =>
  rewrite(codec, {
    node: (node) =>
      SchemaAST.isUnion(node) && node.types === nonFinite.types ? withContext(finite, node.context) : undefined,
    property: withoutUndefined
  })

/**
 * The encoded side of a codec in which every property that may be absent is
 * required and may be `null`, as it is for providers that require every
 * property. `null` stays `null`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const required = (encoded: SchemaAST.AST): SchemaAST.AST =>
  rewrite(encoded, {
    property: (type) =>
      SchemaAST.isOptional(type) ? new SchemaAST.Union([withContext(type, undefined), SchemaAST.null]) : type
  })

/**
 * Whether some union of a codec's JSON side has several objects among its
 * members, of which a value may fit more than one.
 *
 * @category getters
 * @since 0.1.0
 */
export const hasUnionOfObjects = (codec: SchemaAST.AST): boolean => {
  let found = false
  const seen = new Set<SchemaAST.AST>()
  const look = (node: SchemaAST.AST): undefined => {
    if (found || seen.has(node)) return undefined
    seen.add(node)
    found ||= SchemaAST.isUnion(node) && node.types.filter((type) => !isLeaf(jsonSide(type))).length > 1
    if (SchemaAST.isSuspend(node)) rewrite(node.thunk(), { node: look, property: identity })
    return undefined
  }
  rewrite(codec, { node: look, property: identity })
  return found
}

const jsonSide = (node: SchemaAST.AST): SchemaAST.AST => {
  const link = node.encoding?.at(-1)
  return link === undefined ? node : jsonSide(link.to)
}

const isLeaf = ({ _tag }: SchemaAST.AST): boolean => _tag !== "Objects" && _tag !== "Union" && _tag !== "Suspend"

interface Visit {
  /** What stands for a node, if not the node with its parts rewritten. */
  readonly node?: (node: SchemaAST.AST) => SchemaAST.AST | undefined
  /** Changes the type of a property before its parts are rewritten. */
  readonly property: (type: SchemaAST.AST) => SchemaAST.AST
}

const rewrite = (root: SchemaAST.AST, { node: replace, property }: Visit): SchemaAST.AST => {
  const known = new Map<SchemaAST.AST, SchemaAST.AST>()

  const visit = (node: SchemaAST.AST): SchemaAST.AST => {
    const made = known.get(node) ?? replace?.(node) ?? make(node)
    known.set(node, made)
    return made
  }

  // Behind the last link of its encoding is what a node looks like as JSON.
  const make = (node: SchemaAST.AST): SchemaAST.AST => {
    const { encoding } = node
    if (encoding === undefined) return parts(node)
    const [first, ...rest] = encoding
    const last = rest.pop() ?? first
    const to = visit(last.to)
    if (to === last.to) return node
    const link = new SchemaAST.Link(to, last.transformation)
    return copy(node, { encoding: last === first ? [link] : [first, ...rest, link] })
  }

  const parts = (node: SchemaAST.AST): SchemaAST.AST => {
    switch (node._tag) {
      case "Objects": {
        const { annotations, checks, context, encodingChecks, indexSignatures, propertySignatures } = node
        const properties = propertySignatures.map(({ name, type }) =>
          new SchemaAST.PropertySignature(name, visit(property(type)))
        )
        const indices = indexSignatures.map(({ parameter, type }) =>
          new SchemaAST.IndexSignature(parameter, visit(type))
        )
        const isSame = properties.every(({ type }, index) => type === propertySignatures[index]!.type) &&
          indices.every(({ type }, index) => type === indexSignatures[index]!.type)
        return isSame
          ? node
          : new SchemaAST.Objects(properties, indices, annotations, checks, undefined, context, encodingChecks)
      }
      case "Arrays": {
        const { annotations, checks, context, encodingChecks, isMutable } = node
        const elements = node.elements.map(visit)
        const rest = node.rest.map(visit)
        return isEqual(elements, node.elements) && isEqual(rest, node.rest)
          ? node
          : new SchemaAST.Arrays(isMutable, elements, rest, annotations, checks, undefined, context, encodingChecks)
      }
      case "Union": {
        const { annotations, checks, context, encodingChecks, options } = node
        const types = node.types.map(visit)
        return isEqual(types, node.types)
          ? node
          : new SchemaAST.Union(types, options, annotations, checks, undefined, context, encodingChecks)
      }
      case "Suspend":
        return new SchemaAST.Suspend(
          () => visit(node.thunk()),
          node.annotations,
          undefined,
          undefined,
          node.context
        )
      default:
        return node
    }
  }

  return visit(root)
}

const isEqual = (made: ReadonlyArray<SchemaAST.AST>, given: ReadonlyArray<SchemaAST.AST>): boolean =>
  made.every((one, index) => one === given[index])

// As effect copies its nodes: all of one, with something changed.
const copy = <A extends SchemaAST.AST>(node: A, changes: Partial<SchemaAST.AST>): A =>
  Object.assign(Object.create(Object.getPrototypeOf(node)), node, changes) as A

const withContext = <A extends SchemaAST.AST>(node: A, context: SchemaAST.Context | undefined): A =>
  node.context === context ? node : copy(node, { context })

const withoutUndefined = (type: SchemaAST.AST): SchemaAST.AST => {
  if (!SchemaAST.isOptional(type) || !SchemaAST.isUnion(type) || type.encoding !== undefined) return type
  const types = type.types.filter((member) => !SchemaAST.isUndefined(member) && !SchemaAST.isVoid(member))
  if (types.length === type.types.length || types.length === 0) return type
  const { annotations, checks, context, encodingChecks, options } = type
  return new SchemaAST.Union(types, options, annotations, checks, undefined, context, encodingChecks)
}

// What `Schema.toCodecJson` makes of every number that may be infinite.
const nonFinite = Schema.toCodecJson(Schema.Number).ast.encoding!.at(-1)!.to as SchemaAST.Union
const finite = Schema.Finite.ast
