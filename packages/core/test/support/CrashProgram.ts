/**
 * A process that runs a tree of agents on a SQLite file, made to be killed: `node CrashProgram.ts <run|recover> <file>
 * <ledger>`.
 *
 * Every tool call writes a line to the ledger, then one to the output, and then gives its result; every model call writes
 * one to `<ledger>-models`. At the end the history of the thread is printed as JSON.
 */
import {
  AgentBuilder,
  type ModelClient,
  ModelRegistry,
  type ModelResponse,
  RuntimeConfig,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { MandateSqlite } from "@mandate/core/sqlite"
import { Duration, Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { appendFileSync, writeSync } from "node:fs"

const [mode, filename, ledger] = process.argv.slice(2) as [string, string, string]

const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })
const handlers = {
  note: ({ text }: { readonly text: string }) =>
    Effect.gen(function*() {
      const call = yield* ToolContext.ToolContext
      yield* Effect.sync(() => appendFileSync(ledger, `${call.idempotencyKey}\n`))
      yield* Effect.sleep(2)
      yield* Effect.sync(() => writeSync(1, `noted ${text}\n`))
      return `noted ${text}`
    })
}
const scout = TypedAgent.make("scout", {
  description: "Scouts",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String) })
}).withTools(Toolkit.make(Note), handlers)
const parent = AgentBuilder.make("parent").withTools(Toolkit.make(Note), handlers)
  .withSubagents([scout], { maxConcurrentChildren: 2 })

const call = (name: string, args: unknown) => [name, JSON.stringify(args)] as const
const note = (text: string) => call("note", { text })
const steps: { readonly [agent: string]: ReadonlyArray<ReadonlyArray<readonly [string, string]>> } = {
  parent: [
    [...["tides", "winds", "sands"].map((topic) => call("task_scout", { topic })), note("p0")],
    [note("p1"), note("p2")]
  ],
  scout: [[note("a"), note("b")], [note("c")], [call("submit_report", { facts: ["x"] })]]
}
// It answers by the step alone, so that a new process goes on where the old one was.
const generate: ModelClient.ModelClient["generate"] = (_request, { agentId, runId, step }) =>
  Effect.sync((): ModelResponse.ModelResponse => {
    appendFileSync(`${ledger}-models`, `${runId}/${step}\n`)
    const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }
    const calls = steps[agentId]?.[step]
    if (calls === undefined) return { parts: [{ type: "text", text: "done" }], finishReason: "stop", usage }
    const parts = calls.map(([name, args], index) => ({
      type: "tool-call" as const,
      id: `${runId}/${step}.${index}`,
      name,
      arguments: args
    }))
    return { parts, finishReason: "tool-calls", usage }
  })

const program = Effect.gen(function*() {
  const agent = yield* parent.build()
  if (mode === "run") yield* agent.run("Go", { threadId: "t" })
  else if ((yield* agent.status("t")).status._tag === "Running") yield* agent.recover("t")
  const history = yield* agent.history("t")
  yield* Effect.sync(() => writeSync(1, `${JSON.stringify(history)}\n`))
}).pipe(Effect.provide([
  MandateSqlite.layer({ filename }).pipe(Layer.provide(Layer.succeed(RuntimeConfig, {
    leaseTtl: Duration.millis(400),
    leaseRenewal: Duration.millis(100),
    cancelGrace: Duration.seconds(5),
    closeGrace: Duration.zero
  }))),
  ModelRegistry.layer({ default: { provider: "test", modelId: "steps", generate } })
]))

await Effect.runPromise(program)
