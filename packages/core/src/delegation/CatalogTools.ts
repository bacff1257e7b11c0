/**
 * Tools of the catalog as the loop runs them.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A run's tools of the catalog are fixed by name when it starts.
 * 2. A call finds its tool by name in the catalog of that moment. One that is
 *    gone is an error of the call; one that was replaced runs as it is now, and
 *    is approved as it is now.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { failed } from "../loop/Branch.ts"
import type { CompiledAgent, LoopTool } from "../loop/Drive.ts"
import type { CatalogUse } from "../run/Runnable.ts"
import type { CatalogTool, ToolCatalog } from "../service/ToolCatalog.ts"
import type { ModelTool } from "../values/ModelRequest.ts"
import * as BindTools from "./BindTools.ts"
import type { Found } from "./DefinitionCheck.ts"

/**
 * How the runs of an agent get tools of the catalog.
 *
 * **Details**
 *
 * `allowed` are the names that it may have; an empty list allows all of them.
 * A tool is left out whose name one of the agent's own tools has, or whose
 * schema its model refuses; the latter is logged.
 *
 * @category constructors
 * @since 0.1.0
 */
export const use = (
  catalog: ToolCatalog["Service"],
  allowed: ReadonlyArray<string>,
  agent: CompiledAgent
): CatalogUse => ({
  resolve: Effect.suspend(() =>
    Effect.filter(named(catalog, allowed), (name) => isOffered(agent, name, catalog.find(name)))
  ),
  compile: (agent, names) => {
    const there = names.flatMap((name) => {
      const entry = catalog.find(name)
      const tool = entry === undefined ? undefined : compiled(entry)
      return tool === undefined ? [] : [tool.definition]
    })
    // A tool that is gone is not offered. A call of it that was made before finds that it is gone.
    const tools = names.map((name) => live(catalog, there.find((tool) => tool.name === name) ?? gone(name)))
    return {
      ...agent,
      tools: new Map([...agent.tools, ...tools.map((tool) => [tool.definition.name, tool] as const)]),
      offered: [...agent.offered, ...there]
    }
  }
})

const named = (
  catalog: ToolCatalog["Service"],
  allowed: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const names = catalog.names()
  return allowed.length === 0 ? names : names.filter((name) => allowed.includes(name))
}

const isOffered = (
  { client, id, tools }: CompiledAgent,
  name: string,
  entry: CatalogTool | undefined
): Effect.Effect<boolean> => {
  const tool = entry === undefined || tools.has(name) ? undefined : compiled(entry)
  if (tool === undefined) return Effect.succeed(false)
  const reason = tool.definition.strict === false ? undefined : client.refusesSchema?.(tool.definition.inputSchema)
  return reason === undefined
    ? Effect.succeed(true)
    : Effect.as(
      Effect.logWarning(`The agent "${id}" does not get the tool "${name}" of the catalog: its schema ${reason}`),
      false
    )
}

/**
 * What is wrong with a tool that is to be added.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (entry: CatalogTool): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  compile(entry, (more) => found.push(...more))
  return found
}

const known = new WeakMap<CatalogTool, LoopTool>()

const compiled = (entry: CatalogTool): LoopTool | undefined => {
  const tool = known.get(entry) ?? compile(entry, () => {})
  if (tool !== undefined) known.set(entry, tool)
  return tool
}

const compile = ({ handler, name, takesEncoded, tool }: CatalogTool, report: (found: ReadonlyArray<Found>) => void) =>
  BindTools.compile({ tools: [tool], handlers: new Map([[name, handler]]), takesEncoded, problems: [] }, report)[0]
    ?.tool

const gone = (name: string): ModelTool => ({ name, inputSchema: { type: "object" } })

const live = (catalog: ToolCatalog["Service"], definition: ModelTool): LoopTool => {
  const { name } = definition
  const now = (): LoopTool | undefined => {
    const entry = catalog.find(name)
    return entry === undefined ? undefined : compiled(entry)
  }
  return {
    definition,
    isTask: false,
    // Of what runs, never of what was there before: a tool that was replaced may ask for an approval by now.
    get needsApproval() {
      return now()?.needsApproval
    },
    get maxResultBytes() {
      return now()?.maxResultBytes
    },
    get isAtMostOnce() {
      return now()?.isAtMostOnce
    },
    get formArguments() {
      return now()?.formArguments
    },
    get checkResult() {
      return now()?.checkResult
    },
    execute: (call, drive) =>
      now()?.execute(call, drive)
        ?? Effect.succeed(failed("ToolRemoved", `The tool "${name}" is not there any more`))
  }
}
