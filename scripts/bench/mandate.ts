/** The reference job on Mandate. */
import {
  AgentBuilder,
  Mandate,
  type ModelClient,
  ModelRegistry,
  type ModelResponse,
  type RunConfig,
  TypedAgent
} from "@mandate/core"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { answer, countReport, input, noCounts, reportOn, type Side, topics } from "./job.ts"

/** The job under options of its own, and what deletes the thread it ran on. */
export interface Mandated extends Side {
  readonly run: (config: RunConfig.RunConfig) => Promise<string>
  readonly forget: (threadId: string) => Promise<void>
}

/**
 * `runtime` is where runs are kept. With `named`, each run has a thread of its own that stays; without, its thread goes
 * when it settles.
 */
export const make = async (
  runtime: Layer.Layer<Mandate.Mandate, unknown> = Mandate.layerMemory,
  { named = false } = {}
): Promise<Mandated> => {
  const counts = noCounts()
  const Topic = Schema.Struct({ topic: Schema.String })
  const Lookup = Tool.make("lookup", { description: "Looks a topic up", parameters: Topic, success: Schema.String })
  const researcher = TypedAgent.make("research", {
    description: "Researches a topic",
    input: Topic,
    report: Schema.Struct({
      topic: Schema.String,
      facts: Schema.Array(Schema.String),
      confidence: Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
    })
  })
    .withInstructions("Research one topic.")
    .withTools(Toolkit.make(Lookup), {
      lookup: ({ topic }) =>
        Effect.sync(() => {
          counts.toolCalls++
          return `${topic}: two facts`
        })
    })
  const parent = AgentBuilder.make("parent").withInstructions("Delegate.").withSubagents([researcher])

  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }
  const calls = (...made: ReadonlyArray<readonly [id: string, name: string, args: unknown]>) => ({
    parts: made.map(([id, name, args]) => ({
      type: "tool-call" as const,
      id,
      name,
      arguments: JSON.stringify(args)
    })),
    finishReason: "tool-calls" as const,
    usage
  })
  const respond: ModelClient.ModelClient["generate"] = (request, call) =>
    Effect.sync((): ModelResponse.ModelResponse => {
      counts.modelCalls++
      const last = request.messages.at(-1)
      if (call.agentId === "parent") {
        if (last?.role !== "tool") {
          return calls(...topics.map((topic, index) => [`p${index}`, "task_research", { topic }] as const))
        }
        for (const { output } of last.content) {
          if (output.type === "json") countReport(counts, (output.value as { readonly report?: unknown }).report)
        }
        return { parts: [{ type: "text", text: answer }], finishReason: "stop", usage }
      }
      const user = request.messages.flatMap((message) => message.role === "user" ? message.content : [])
      const topic = user[0]?.type === "text" ? JSON.parse(user[0].text.split("\n")[1] ?? "").topic : ""
      return last?.role === "tool"
        ? calls([`r-${topic}`, "submit_report", reportOn(topic)])
        : calls([`c-${topic}`, "lookup", { topic }])
    })
  const models = ModelRegistry.layer({ default: { provider: "bench", modelId: "instant", generate: respond } })
  const process = ManagedRuntime.make(Layer.merge(runtime, models))
  const agent = await process.runPromise(parent.build())
  const run = (config: RunConfig.RunConfig) =>
    process.runPromise(
      Effect.map(agent.run(input, config), ({ status }) => status._tag === "Completed" ? status.answer : status._tag)
    )
  let runs = 0
  return {
    counts,
    run,
    once: () => run(named ? { threadId: `job-${runs++}` } : {}),
    forget: (threadId) => process.runPromise(agent.forget(threadId)),
    close: () => process.dispose()
  }
}
