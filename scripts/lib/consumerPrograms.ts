/**
 * Programs of the application that `npm run check:packages` makes, beside the README's example.
 */

// Fails where one copy of effect is enough to run it.
const build = (subagents: string) => `
const program = AgentBuilder.make("editor").withSubagents(${subagents}).build()
const model = ModelRegistry.layer({ default: { provider: "none", modelId: "none" } })
await Effect.runPromise(program.pipe(Effect.provide([Mandate.layerMemory, model])))
`

/** A program that names every entry point, so that each is loaded and all its declarations are checked. */
export const everything = (entryPoints: ReadonlyArray<string>): string =>
  entryPoints.map((specifier, index) => `export * as entry${index} from ${JSON.stringify(specifier)}\n`).join("")

/** By path in the application. */
export const files: Readonly<Record<string, string>> = {
  // The declarations of the AI SDK need `@types/json-schema` and do not bring it.
  "json-schema.d.ts": `
declare module "json-schema" {
  export type JSONSchema7 = object
  export type JSONSchema7Definition = JSONSchema7 | boolean
}
`,
  // Types that nobody wrote down: their declarations need names for what they are made of, and editors show those.
  "inferred.ts": `
import { AgentBuilder, DelegateRuntime, PostureRegistry, Threads, TypedAgent } from "@mandate/core"
import { MandateSqlite } from "@mandate/core/sqlite"
import { Script, ScriptedModel, StrictProvider } from "@mandate/testing"
import { Effect, Schema, Stream } from "effect"
const scribe = TypedAgent.make("scribe", { description: "Writes", input: Schema.String, report: Schema.String })
export const bound = scribe.bind()
export const agent = AgentBuilder.make("editor").withSubagents([scribe]).build()
export const run = Effect.flatMap(agent, (editor) => editor.run("Write"))
export const streamed = Effect.map(agent, (editor) => editor.stream("Write"))
export const followed = Threads.events("t")
export const changes = Stream.unwrap(Effect.map(PostureRegistry.PostureRegistry, (registry) => registry.changes))
export const said = Effect.flatMap(agent, (editor) => editor.history("t")).pipe(
  Effect.map((runs) => runs.map(({ messages }) => messages))
)
export const why = Effect.flatMap(bound, (one) => one.run("Ebb")).pipe(
  Effect.map((outcome) => outcome._tag === "NotReported" ? outcome.failure : undefined)
)
export const waiting = Threads.pending()
export const delegated = DelegateRuntime.run({ posture: "reviewer", task: "Review" })
export const runtime = MandateSqlite.layer({ filename: "runs.db" })
export const models = StrictProvider.layer(ScriptedModel.layer({ scribe: Script.runs() }))
`,
  "bind.js": `
import { AgentBuilder, Mandate, ModelRegistry } from "@mandate/core"
import { Effect } from "effect"
${build("[]")}`,
  "script.js": `
import { ScriptedModel } from "@mandate/testing"
import { Effect, Layer } from "effect"
await Effect.runPromise(Effect.scoped(Layer.build(ScriptedModel.layer({}))))
`,
  "library/researcher.js": `
import { TypedAgent } from "@mandate/core"
import { Schema } from "effect"
export const researcher = TypedAgent.make("researcher", {
  description: "Researches one topic",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ confidence: Schema.Number })
})
`,
  "library.js": `
import { AgentBuilder, Mandate, ModelRegistry } from "@mandate/core"
import { Effect } from "effect"
import { researcher } from "./library/researcher.js"
${build("[researcher]")}`
}

/** What is compiled, beside the README's example. */
export const compiled = ["everything.ts", "inferred.ts", "json-schema.d.ts"]

/** Programs that must end well while there is one copy of effect. */
export const sound = ["bind.js", "script.js", "library.js"]

const core = `import { AgentBuilder, Mandate, TypedAgent } from "@mandate/core"
export const used = [AgentBuilder.make, Mandate.layerMemory, TypedAgent.make]`

/** The bundle that the others are compared with, and the least that anyone can import. */
export const main = "core: agents, memory runtime"
export const smallest = "core: Usage alone"

/** Code by the name of its bundle. */
export const bundled: Readonly<Record<string, string>> = {
  [smallest]: `export { Usage } from "@mandate/core"`,
  [main]: core,
  "core + providers": `${core}\nexport { AiSdk } from "@mandate/providers"`,
  "core + testing": `${core}\nexport { ScriptedModel, Step } from "@mandate/testing"`
}
