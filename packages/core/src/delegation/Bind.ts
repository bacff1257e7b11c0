/**
 * Compiles definitions onto a runtime: one agent with its whole family below,
 * and every problem of all of them at once.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { AgentSpec, AnyCodec, RetrySchedule } from "../definition/AgentSpec.ts"
import type { AnyHandler, ToolSource } from "../definition/ToolSource.ts"
import { type AnswerCheck, type LoopTool, submitReport } from "../loop/Drive.ts"
import * as HandlerTool from "../loop/HandlerTool.ts"
import * as Shape from "../loop/Shape.ts"
import { Mandate } from "../service/Mandate.ts"
import { ModelRegistry } from "../service/ModelRegistry.ts"
import { AgentDefinitionError, type DefinitionProblem } from "../values/AgentDefinitionError.ts"
import * as DelegationConfig from "../values/DelegationConfig.ts"
import * as Json from "../values/Json.ts"
import * as JsonCodec from "../values/JsonCodec.ts"
import type { ModelTool } from "../values/ModelRequest.ts"
import * as RunLimits from "../values/RunLimits.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as DefinitionCheck from "./DefinitionCheck.ts"
import * as TaskTool from "./TaskTool.ts"

/**
 * Compiles a definition and every subagent below it.
 *
 * **Details**
 *
 * Handlers that are given as an effect are built here, once for each
 * definition. All services are captured; running needs none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const bind = (
  spec: AgentSpec
): Effect.Effect<BoundSpec, AgentDefinitionError, Mandate | ModelRegistry> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<Mandate | ModelRegistry>()
    const family: Family = { context, bound: new Map(), ids: new Set(), problems: [] }
    const bound = yield* bindOne(family, spec, [])
    const [first, ...rest] = family.problems
    if (first !== undefined) {
      return yield* new AgentDefinitionError({ agentId: spec.id, problems: [first, ...rest] })
    }
    return bound
  })

// What is compiled so far. Problems do not stop the others from being found.
interface Family {
  readonly context: Context.Context<Mandate | ModelRegistry>
  readonly bound: Map<AgentSpec, BoundSpec>
  readonly ids: Set<string>
  readonly problems: Array<DefinitionProblem>
}

const bindOne: (
  family: Family,
  spec: AgentSpec,
  path: ReadonlyArray<string>
) => Effect.Effect<BoundSpec> = Effect.fnUntraced(function*(family, spec, parents) {
  const known = family.bound.get(spec)
  if (known !== undefined) return known
  const path = [...parents, spec.id]
  const report = (problems: ReadonlyArray<DefinitionCheck.Found>) => {
    for (const problem of problems) family.problems.push({ agent: path.join(" > "), ...problem })
  }
  report(DefinitionCheck.problems(spec))
  if (family.ids.has(spec.id)) {
    report([{ kind: "DuplicateId", message: `two agents of the family have the id "${spec.id}"` }])
  }
  family.ids.add(spec.id)

  const subagents = yield* Effect.forEach(spec.subagents, (subagent) => bindOne(family, subagent, path))
  const input = codec(spec.input, "input", report)
  const answer = spec.report === undefined ? undefined : reportCodec(spec.report, report)
  const tools = yield* Effect.map(
    Effect.forEach(spec.tools, (source) => bindTools(family.context, source, report)),
    (sources) => sources.flat()
  )
  const registry = Context.get(family.context, ModelRegistry)
  const client = yield* Effect.catch(registry.get(spec.modelId), (error) => {
    report([{ kind: "UnknownModel", message: error.message }])
    return Effect.succeed(undefined)
  })
  const taskTools = TaskTool.make(spec, subagents)
  const loopTools = [...tools.map(({ tool }) => tool), ...taskTools]
  const offered = [
    ...loopTools.map((tool) => tool.definition),
    ...(answer === undefined ? [] : [submitTool(answer)])
  ]
  const bound: BoundSpec = {
    runtime: Context.get(family.context, Mandate),
    role: spec.role,
    description: spec.description,
    input,
    prompt: (value, json) => prompt(spec, value, json).toWellFormed(),
    report: answer,
    childFailure: spec.childFailure,
    subagents,
    ownMaxDepth: spec.delegation.maxDepth,
    maxDepth: spec.delegation.maxDepth ?? DelegationConfig.defaults.maxDepth,
    limits: RunLimits.make(spec.delegation, spec),
    budget: spec.budget,
    shape: Shape.make({
      id: spec.id,
      tools,
      report: answer,
      subagents: subagents.map(({ agent, shape }) => ({ id: agent.id, shape }))
    }),
    agent: {
      id: spec.id,
      system: spec.instructions === "" ? undefined : { role: "system", content: spec.instructions },
      // A family with a problem is never run.
      client: client!,
      settings: spec.settings,
      tools: new Map(loopTools.map((tool) => [tool.definition.name, tool])),
      offered,
      answer: answer === undefined ? undefined : answerCheck(family.context, answer),
      retry: spec.retry ?? defaultRetry,
      context: family.context as Context.Context<never>
    }
  }
  family.bound.set(spec, bound)
  return bound
})

type Report = (problems: ReadonlyArray<DefinitionCheck.Found>) => void

const codec = (schema: AnyCodec, what: string, report: Report): JsonCodec.JsonCodec<unknown> =>
  Result.getOrElse(JsonCodec.make<unknown>(schema), (problem) => {
    report([{ kind: "UnsupportedSchema", message: `the schema of the ${what} ${problem}` }])
    return unusable
  })

const reportCodec = (schema: AnyCodec, report: Report): JsonCodec.JsonCodec<unknown> => {
  if (Schema.is(schema)(undefined)) {
    report([{
      kind: "UnsupportedSchema",
      message: "the schema of the report takes undefined at its root; a report is never optional"
    }])
  }
  return codec(schema, "report", report)
}

const noCodec = () => Effect.die("a codec that was refused was used")
const unusable: JsonCodec.JsonCodec<unknown> = {
  decode: noCodec,
  encode: noCodec,
  fromModel: noCodec,
  modelSchema: {},
  isWrapped: false
}

const bindTools = Effect.fnUntraced(function*(
  context: Context.Context<Mandate | ModelRegistry>,
  source: ToolSource,
  report: Report
): Effect.fn.Return<ReadonlyArray<{ readonly tool: LoopTool; readonly result: JsonCodec.JsonCodec<unknown> }>> {
  const built = Effect.provideContext(source.handlers as Effect.Effect<ReadonlyMap<string, AnyHandler>>, context)
  const handlers = yield* Effect.catchCause(built, (cause) => {
    report([{ kind: "HandlersFailed", message: `the handlers of ${names(source)} could not be built; see the log` }])
    return Effect.as(Effect.logError("Handlers could not be built", cause), undefined)
  })
  return source.tools.flatMap((tool) => {
    const handler = handlers?.get(tool.name)
    if (handlers !== undefined && handler === undefined) {
      report([{ kind: "MissingHandler", message: `the tool "${tool.name}" has no handler` }])
    }
    const codecs = {
      parameters: codec(tool.parametersSchema, `parameters of the tool "${tool.name}"`, report),
      success: codec(tool.successSchema, `result of the tool "${tool.name}"`, report),
      failure: codec(tool.failureSchema, `failure of the tool "${tool.name}"`, report)
    }
    return handler === undefined ? [] : [{ tool: HandlerTool.make(tool, codecs, handler), result: codecs.success }]
  })
})

const names = (source: ToolSource): string => source.tools.map((tool) => `"${tool.name}"`).join(", ")

const submitTool = (report: JsonCodec.JsonCodec<unknown>): ModelTool => ({
  name: submitReport,
  description: "Submits the final report and ends the work. Call it once, alone, when everything is done.",
  inputSchema: report.modelSchema
})

// What is stored is what the schema makes of the answer, so that a replay and the first time are equal.
const answerCheck = (
  context: Context.Context<Mandate | ModelRegistry>,
  report: JsonCodec.JsonCodec<unknown>
): AnswerCheck =>
(json) => {
  const read = report.isWrapped
    ? Effect.catch(report.fromModel(json), (error) => Effect.mapError(report.decode(json), () => error))
    : report.fromModel(json)
  return Effect.provideContext(
    Effect.result(
      Effect.map(
        Effect.flatMap(read, report.encode) as Effect.Effect<Json.Json, JsonCodec.Issues>,
        (encoded) => JSON.parse(Json.canonical(encoded)) as Json.Json
      )
    ),
    context
  )
}

const prompt = (spec: AgentSpec, input: unknown, json: string): string => {
  if (spec.inputText !== undefined) return spec.inputText(input)
  switch (spec.role) {
    case "agent":
      return input as string
    case "text":
      return (input as { readonly description: string }).description
    case "typed":
      return `Task for ${spec.id}:\n${json}`
  }
}

// Two more tries, half a second and then about a second later.
const defaultRetry: RetrySchedule = Schedule.exponential("500 millis").pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 2 })
)
