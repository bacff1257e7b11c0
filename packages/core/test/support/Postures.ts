/** Runtimes of postures for tests. */
import {
  DelegateRuntime,
  type Posture,
  PostureRegistry,
  type RunEvent,
  type RunStore,
  ToolCatalog
} from "@mandate/core"
import type { Script } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Trees from "./Trees.ts"
import * as Waiting from "./Waiting.ts"

/** A posture with what a test does not care about filled in. */
export const posture = (name: string, more: Partial<Posture.PostureInput> = {}): Posture.PostureInput => ({
  name,
  description: `Does ${name}`,
  instructions: `You do ${name}.`,
  ...more
})

/** Tools that note what runs, and one that needs approval. */
export const tools = Toolkit.make(
  Tool.make("read", { success: Schema.String }),
  Tool.make("write", { success: Schema.String }),
  Waiting.gated("pay", { euros: Schema.Int })
)

/** A registry and a catalog with those tools; `ran` gets the names of what runs. */
export const parts = (postures: ReadonlyArray<Posture.PostureInput>, options: {
  readonly ran?: Array<string>
  readonly schemas?: PostureRegistry.Options["schemas"]
} = {}) => {
  const ran = options.ran ?? []
  return Layer.mergeAll(
    PostureRegistry.layer(postures, options.schemas === undefined ? {} : { schemas: options.schemas }),
    ToolCatalog.layerTools(tools, {
      read: () => Effect.sync(() => `read ${ran.push("read")}`),
      write: () => Effect.sync(() => `write ${ran.push("write")}`),
      pay: ({ euros }) => Effect.sync(() => `paid ${ran.push(`pay ${euros}`)}`)
    }).pipe(Layer.provideMerge(ToolCatalog.layer))
  )
}

/** A runtime of postures in one process, with its scripted model. */
export const runtime = (
  postures: ReadonlyArray<Posture.PostureInput>,
  scripts: Script.Scripts,
  options: Parameters<typeof parts>[1] & DelegateRuntime.Options & {
    readonly store?: RunStore.RunStore["Service"]
  } = {}
) =>
  DelegateRuntime.layer(ofRuntime(options)).pipe(
    Layer.provideMerge(Layer.merge(parts(postures, options), Trees.runtime(scripts, options.store)))
  )

/** The options of the runtime among others. */
export const ofRuntime = ({ cache, maxDepth }: DelegateRuntime.Options): DelegateRuntime.Options => ({
  ...(cache === undefined ? {} : { cache }),
  ...(maxDepth === undefined ? {} : { maxDepth })
})

/** The tags of all events of a tree with the agent and the depth of each, in order. */
export const told = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.flatMap((event) => "depth" in event ? [`${event._tag} ${event.agentId} ${event.depth}`] : [])
