/**
 * Tools that come and go while agents run.
 *
 * @since 0.1.0
 */
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AnyHandler } from "../definition/ToolSource.ts"

/**
 * A tool of the catalog with its handler, types erased. The handler carries the
 * services that it needs.
 *
 * @category models
 * @since 0.1.0
 */
export interface CatalogTool {
  readonly name: string
  readonly tool: Tool.Any
  readonly handler: AnyHandler
  readonly takesEncoded: boolean
}

/**
 * Service that keeps tools by name. Runs take theirs when they start, and ask
 * at each call whether the tool is still there.
 *
 * @category services
 * @since 0.1.0
 */
export class ToolCatalog extends Context.Service<ToolCatalog, {
  /** The tool with a name, if it is there now. */
  readonly find: (name: string) => CatalogTool | undefined

  /** Names of all tools that are there now, sorted. */
  readonly names: () => ReadonlyArray<string>

  /** Adds tools. One takes the place of another with its name. */
  readonly put: (tools: ReadonlyArray<CatalogTool>) => Effect.Effect<void>

  /**
   * Removes tools by their names. Given a tool, it removes that one alone, and
   * not what took its place.
   */
  readonly remove: (...tools: ReadonlyArray<string | CatalogTool>) => Effect.Effect<void>
}>()("~mandate/ToolCatalog") {}

/**
 * Creates an empty catalog in memory.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): ToolCatalog["Service"] => {
  const byName = new Map<string, CatalogTool>()
  return {
    find: (name) => byName.get(name),
    names: () => [...byName.keys()].sort(),
    put: (tools) =>
      Effect.sync(() => {
        for (const tool of tools) byName.set(tool.name, tool)
      }),
    remove: (...tools) =>
      Effect.sync(() => {
        for (const tool of tools) {
          if (typeof tool === "string") byName.delete(tool)
          else if (byName.get(tool.name) === tool) byName.delete(tool.name)
        }
      })
  }
}

/**
 * Layer with an empty catalog in memory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ToolCatalog> = Layer.sync(ToolCatalog, make)
