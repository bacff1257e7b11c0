/**
 * The catalog of tools that agents take by name, live.
 *
 * @since 0.1.0
 */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Ambient from "../definition/Ambient.ts"
import * as ToolSource from "../definition/ToolSource.ts"
import * as CatalogTools from "../delegation/CatalogTools.ts"
import * as DefinitionCheck from "../delegation/DefinitionCheck.ts"
import { type CatalogTool, layer, ToolCatalog } from "../service/ToolCatalog.ts"
import { ToolkitError } from "../values/ToolkitError.ts"

export {
  /**
   * Layer with an empty catalog in memory.
   *
   * @category layers
   * @since 0.1.0
   */
  layer,
  /**
   * Service that keeps tools by name.
   *
   * @category services
   * @since 0.1.0
   */
  ToolCatalog
}

/**
 * Adds tools and their handlers to the catalog. A tool takes the place of one
 * with its name. Nothing is added if something is wrong with one of them.
 *
 * **Details**
 *
 * The services that handlers need are captured here. Tools stay until
 * {@link remove} or the end of the catalog.
 *
 * @category running
 * @since 0.1.0
 */
export const add = <
  Tools extends Record<string, Tool.Any>,
  H extends ToolSource.Handlers<Tools>,
  E = never,
  RX = never
>(
  toolkit: Toolkit.Toolkit<Tools>,
  handlers: (H & Record<Exclude<keyof H, keyof Tools>, never>) | Effect.Effect<H, E, RX>
): Effect.Effect<void, ToolkitError | E, ToolCatalog | ToolSource.HandlersServices<H, Tools> | RX> =>
  Effect.asVoid(put(ToolSource.make(toolkit, handlers))) as Effect.Effect<
    void,
    ToolkitError | E,
    ToolCatalog | ToolSource.HandlersServices<H, Tools> | RX
  >

/**
 * Layer that has tools in the catalog as long as it lives.
 *
 * **Example** (A catalog with a tool)
 *
 * ```ts
 * import { ToolCatalog } from "@mandate/core"
 * import { Effect, Layer, Schema } from "effect"
 * import * as Tool from "effect/ai/Tool"
 * import * as Toolkit from "effect/ai/Toolkit"
 *
 * const Clock = Toolkit.make(Tool.make("clock", { success: Schema.String }))
 *
 * export const catalog = ToolCatalog.layerTools(Clock, {
 *   clock: () => Effect.succeed("noon")
 * }).pipe(Layer.provideMerge(ToolCatalog.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTools = <
  Tools extends Record<string, Tool.Any>,
  H extends ToolSource.Handlers<Tools>,
  E = never,
  RX = never
>(
  toolkit: Toolkit.Toolkit<Tools>,
  handlers: (H & Record<Exclude<keyof H, keyof Tools>, never>) | Effect.Effect<H, E, RX>
): Layer.Layer<
  never,
  ToolkitError | E,
  ToolCatalog | ToolSource.HandlersServices<H, Tools> | Exclude<RX, Scope.Scope>
> => layerOf(ToolSource.make(toolkit, handlers))

/**
 * Layer that has the tools of a toolkit that carries its handlers, such as
 * those of an MCP server, in the catalog as long as it lives.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerToolkit = <Tools extends Record<string, Tool.Any>, E = never, RX = never>(
  toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, RX>
): Layer.Layer<never, ToolkitError | E, ToolCatalog | ToolSource.ToolkitServices<Tools> | Exclude<RX, Scope.Scope>> =>
  layerOf(ToolSource.fromToolkit(toolkit))

/**
 * Removes tools from the catalog by their names. Runs that have them get an
 * error for each call of theirs from now on.
 *
 * @category running
 * @since 0.1.0
 */
export const remove = (...names: ReadonlyArray<string>): Effect.Effect<void, never, ToolCatalog> =>
  Effect.flatMap(ToolCatalog, (catalog) => catalog.remove(...names))

/**
 * Names of the tools in the catalog, sorted.
 *
 * @category getters
 * @since 0.1.0
 */
export const names: Effect.Effect<ReadonlyArray<string>, never, ToolCatalog> = Effect.map(
  ToolCatalog,
  (catalog) => catalog.names()
)

const layerOf = <E, R>(source: ToolSource.ToolSource): Layer.Layer<never, ToolkitError | E, R> =>
  Layer.effectDiscard(
    Effect.flatMap(ToolCatalog, (catalog) => Effect.acquireRelease(put(source), (tools) => catalog.remove(...tools)))
  ) as Layer.Layer<never, ToolkitError | E, R>

const put = Effect.fnUntraced(function*(source: ToolSource.ToolSource) {
  const catalog = yield* ToolCatalog
  const context = yield* Effect.context<never>()
  const { handlers, takesEncoded, tools } = yield* source.handled
  const entries = tools.flatMap((tool): ReadonlyArray<CatalogTool> => {
    const handler = handlers.get(tool.name)
    return handler === undefined ? [] : [{ name: tool.name, tool, handler: within(context, handler), takesEncoded }]
  })
  const [first, ...rest] = [
    ...DefinitionCheck.tools(tools),
    ...tools.filter((tool) => !handlers.has(tool.name)).map((tool) => ({
      kind: "MissingHandler" as const,
      message: `the tool "${tool.name}" has no handler`
    })),
    ...entries.flatMap(CatalogTools.problems)
  ]
  if (first !== undefined) return yield* new ToolkitError({ problems: [first, ...rest] })
  yield* catalog.put(entries)
  return entries
})

// A handler has the services it was added with; what belongs to a call, or to its run, is the call's.
const within = (added: Context.Context<never>, handler: ToolSource.AnyHandler): ToolSource.AnyHandler => {
  const brought = Ambient.brought(added)
  return (params, context) =>
    Effect.updateContext(
      handler(params, context),
      (current: Context.Context<unknown>) => Context.merge(current, brought)
    )
}
