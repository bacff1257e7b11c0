/**
 * Programs of the application that `npm run check:packages` makes, beside the README's example.
 */

// Fails where one copy of effect is enough to run it.
const build = (subagents: string) => `
const program = AgentBuilder.make("editor").withSubagents(${subagents}).build()
const model = ModelRegistry.layer({ default: { provider: "none", modelId: "none", generate: () => Effect.never } })
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
  // CommonJS: its \`import\` is compiled to \`require\`.
  "common.cts": `
import { AgentBuilder } from "@mandate/core"
import { MandateSqlite } from "@mandate/core/sqlite"
import { AiSdk } from "@mandate/providers"
import { Step } from "@mandate/testing"
console.log([AgentBuilder.make, MandateSqlite.layer, AiSdk.layer, Step.text].map((used) => typeof used).join(" "))
`,
  // A run that waits, is answered and ends, each in a store that opens the file for itself.
  "sqlite.ts": `
import { AgentBuilder, Answer, Threads, ToolContext } from "@mandate/core"
import type { Agent, Mandate, ModelRegistry } from "@mandate/core"
import { MandateSqlite, SqliteRunStore } from "@mandate/core/sqlite"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

const folder = process.argv[2] ?? "."
const filename = folder + "/runs.db"
const tools = Toolkit.make(Tool.make("ask", { success: Schema.Boolean }))
const clerk = AgentBuilder.make("clerk").withTools(tools, {
  ask: () => ToolContext.ask("Ship it?", { answer: Schema.Boolean })
})
const act = <A, E>(
  scripts: Script.Scripts,
  body: (agent: Agent.Agent<string>) => Effect.Effect<A, E, Mandate.Mandate | ModelRegistry.ModelRegistry>
): Promise<A> =>
  Effect.runPromise(
    Effect.provide(Effect.flatMap(clerk.build(), body), [MandateSqlite.layer({ filename }), ScriptedModel.layer(scripts)])
  )
const first = await act({ clerk: [Step.call("ask", {})] }, (agent) => agent.run("Ship", { threadId: "t" }))
const [asked] = await act({}, () => Stream.runCollect(Threads.pending()))
const answers = [Answer.reply(asked!.id, Schema.Boolean, true)]
const last = await act({ clerk: [Step.text("shipped")] }, (agent) => agent.resume("t", answers))
const settled = await act({}, () => Threads.list({ states: ["Settled"] }))
const refused = await Effect.runPromise(
  Effect.flip(Effect.scoped(SqliteRunStore.make({ filename: folder + "/nowhere/runs.db" })))
)
const code = refused.reason._tag === "CannotOpen" ? refused.reason.code : "none"
console.log([first.status._tag, last.status._tag, settled.length, code].join(" "))
`,
  "process.d.ts": `
declare const process: { readonly argv: ReadonlyArray<string> }
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

/** What is compiled under NodeNext alone: a CommonJS module, and a program for every runtime. */
export const compiledForNode = ["common.cts", "sqlite.ts", "process.d.ts"]

/** What programs print on every runtime, by their compiled paths. */
export const printed: Readonly<Record<string, string>> = {
  "NodeNext/common.cjs": "function function function function",
  "NodeNext/sqlite.js": "Suspended Completed 1 SQLITE_CANTOPEN"
}

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
