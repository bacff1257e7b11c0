/** Agents that use the tools under test. */
import { AgentBuilder, Mandate } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Logger, Stream } from "effect"
import type * as Toolkit from "effect/ai/Toolkit"

/** A toolkit that needs nothing but what a call is given. */
export type AnyToolkit = Effect.Effect<Toolkit.WithHandler<any>, unknown>

export const agent = AgentBuilder.make("clerk")

/** The agent with a toolkit. */
export const withToolkit = (toolkit: AnyToolkit) => agent.withToolkit(toolkit) as AgentBuilder.AgentBuilder<string>

/** Runs an agent with a toolkit, whose model makes the calls in one step, and gives what came of it. */
export const run = (toolkit: AnyToolkit, ...calls: ReadonlyArray<Step.Call>) =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const logger = Logger.make(({ cause, message }) => logged.push(`${String(message)} ${String(cause)}`))
    const model = yield* ScriptedModel.make({ clerk: [Step.calls(...calls), Step.text("done")] })
    const events = yield* Effect.flatMap(
      withToolkit(toolkit).build(),
      (built) => Stream.runCollect(built.stream("Go", { threadId: "t" }))
    ).pipe(Effect.provide([Mandate.layerMemory, ScriptedModel.layerOf(model), Logger.layer([logger])]))
    const requests = yield* model.requests
    const results = requests.at(-1)!.request.messages.flatMap((message) =>
      message.role === "tool" ? message.content.map(({ isError, output }) => [isError, output.value] as const) : []
    )
    const progress = events.flatMap((event) => event._tag === "ToolProgress" ? [event.value] : [])
    return { results, progress, tools: requests[0]!.request.tools, logged: logged.join("\n") }
  }).pipe(Effect.scoped)

/** The problems of an agent with a toolkit. */
export const problems = (toolkit: AnyToolkit) =>
  Effect.flip(withToolkit(toolkit).build()).pipe(
    Effect.map((error) =>
      error._tag === "AgentDefinitionError" ? error.problems.map(({ kind, message }) => `${kind}: ${message}`) : []
    ),
    Effect.provide([Mandate.layerMemory, ScriptedModel.layer({})]),
    Effect.scoped
  )

export const invalid = (message: string) =>
  [true, { error: { reason: "InvalidArguments", message: `The arguments are not valid: ${message}` } }] as const

export const failed = [true, { error: { reason: "ToolFailed", message: "The tool failed unexpectedly" } }] as const
