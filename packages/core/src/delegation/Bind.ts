/**
 * Compiles definitions onto a runtime: one agent with its whole family below,
 * and every problem of all of them at once.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { AgentSpec, AnyCodec, RetrySchedule } from "../definition/AgentSpec.ts"
import * as Breakpoint from "../definition/Breakpoint.ts"
import type { CompiledAgent } from "../loop/Drive.ts"
import * as Shape from "../loop/Shape.ts"
import * as RecoverRun from "../run/RecoverRun.ts"
import { Mandate } from "../service/Mandate.ts"
import { ModelRegistry } from "../service/ModelRegistry.ts"
import { ResultCache } from "../service/ResultCache.ts"
import { ToolCatalog } from "../service/ToolCatalog.ts"
import { AgentDefinitionError, type DefinitionProblem } from "../values/AgentDefinitionError.ts"
import * as DelegationConfig from "../values/DelegationConfig.ts"
import * as FileLimits from "../values/FileLimits.ts"
import type * as JsonCodec from "../values/JsonCodec.ts"
import * as ReportForm from "../values/ReportForm.ts"
import * as RetryAfter from "../values/RetryAfter.ts"
import * as RunLimits from "../values/RunLimits.ts"
import * as Behaviour from "./Behaviour.ts"
import * as BindAnswer from "./BindAnswer.ts"
import { codec, type Report } from "./BindCodec.ts"
import * as BindTools from "./BindTools.ts"
import * as BoundContext from "./BoundContext.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as CatalogTools from "./CatalogTools.ts"
import * as DefinitionCheck from "./DefinitionCheck.ts"
import { DelegateRuntime } from "./DelegateService.ts"
import * as DelegateTool from "./DelegateTool.ts"
import * as EffectCheck from "./EffectCheck.ts"
import * as EqualResults from "./EqualResults.ts"
import * as SchemaCheck from "./SchemaCheck.ts"
import * as SpecCheck from "./SpecCheck.ts"
import * as TaskTool from "./TaskTool.ts"
import * as TypedCache from "./TypedCache.ts"

/**
 * Compiles a definition and every subagent below it, and registers the agent
 * with its runtime, for sweeps.
 *
 * @category constructors
 * @since 0.1.0
 */
export const bind = (
  spec: AgentSpec
): Effect.Effect<BoundSpec, AgentDefinitionError, Mandate | ModelRegistry> =>
  Effect.tap(compile(spec), (bound) =>
    Effect.sync(() => {
      const { runtime, shape } = bound
      for (const text of [shape.earlier, shape.text]) {
        runtime.agents.register({
          agentId: spec.id,
          shape: text,
          recover: (threadId) => Effect.asVoid(RecoverRun.recover(runtime, bound, threadId, "give-up", identity))
        })
      }
    }))

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
export const compile = (
  spec: AgentSpec
): Effect.Effect<BoundSpec, AgentDefinitionError, Mandate | ModelRegistry> =>
  Effect.gen(function*() {
    yield* SpecCheck.check(spec)
    yield* EffectCheck.check(spec)
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
  const report: Report = (problems) => {
    for (const problem of problems) family.problems.push({ agent: path.join(" > "), ...problem })
  }
  const sources = yield* Effect.forEach(spec.tools, (source) => BindTools.build(family.context, source))
  report(DefinitionCheck.problems(spec, sources.flatMap(({ tools }) => tools)))
  if (family.ids.has(spec.id)) {
    report([{ kind: "DuplicateId", message: `two agents of the family have the id "${spec.id}"` }])
  }
  family.ids.add(spec.id)

  const subagents = yield* Effect.forEach(spec.subagents, (subagent) => bindOne(family, subagent, path))
  const input = codec(spec.input, "input", report)
  const answerCodec = spec.report === undefined ? undefined : requiredCodec(spec.report, "report", report)
  const contextCodec = spec.context === undefined ? undefined : requiredCodec(spec.context, "context", report)
  const tools = sources.flatMap((source) => BindTools.compile(source, report))
  const registry = Context.get(family.context, ModelRegistry)
  const client = yield* Effect.catch(registry.get(spec.modelId), (error) => {
    report([{ kind: "UnknownModel", message: error.message }])
    return Effect.succeed(undefined)
  })
  const answer = spec.report === undefined || answerCodec === undefined
    ? undefined
    : yield* BindAnswer.make(family.context, spec.report, answerCodec, client?.structuredAnswers === true)
  const delegates = spec.postures === undefined ? undefined : Context.getUnsafe(family.context, DelegateRuntime)
  const delegate = delegates === undefined ? undefined : DelegateTool.make(delegates, spec)
  const taskTools = TaskTool.make(spec, subagents)
  const loopTools = [
    ...tools.map(({ tool }) => tool),
    ...taskTools,
    ...(delegate === undefined ? [] : [delegate.tool])
  ]
  const offered = [
    ...loopTools.map((tool) => tool.definition),
    ...(answerCodec === undefined || answer?.native !== undefined ? [] : [BindAnswer.submitTool(answerCodec)])
  ]
  report(DefinitionCheck.toolNames(spec, loopTools.map((tool) => tool.definition.name)))
  report(SchemaCheck.problems(client, offered, answer?.native, subagents))
  const services = family.context as Context.Context<never>
  const agent: CompiledAgent = {
    id: spec.id,
    system: typeof spec.instructions !== "string" || spec.instructions === ""
      ? undefined
      : { role: "system", content: spec.instructions },
    declares: contextCodec === undefined ? undefined : BoundContext.declared(spec, contextCodec, services),
    // A family with a problem is never run.
    client: client!,
    settings: spec.settings,
    tools: new Map(loopTools.map((tool) => [tool.definition.name, tool])),
    offered,
    refresh: delegate?.refresh,
    answer,
    resultBytes: spec.toolLimits.toolResultBytes,
    breakpoint: Breakpoint.compile(spec.breakpoints),
    retry: spec.retry ?? defaultRetry,
    maxRetryAfter: RetryAfter.max(spec.maxRetryAfter) ?? RetryAfter.defaultMax,
    context: services
  }
  const shape = Shape.make({
    id: spec.id,
    tools,
    report: answerCodec,
    context: contextCodec,
    subagents: subagents.map(({ agent, input, shape }) => ({ id: agent.id, input, shape }))
  })
  const reportForm = spec.report === undefined ? undefined : ReportForm.of(spec.report)
  // Values that are not valid may not even be JSON.
  const behaviour = family.problems.length > 0
    ? ""
    : Behaviour.of(spec, { agent, input, report: answerCodec, reportForm, shape: shape.text, subagents })
  const bound: BoundSpec = {
    runtime: Context.get(family.context, Mandate),
    role: spec.role,
    description: spec.description,
    input,
    prompt: (value, json) => prompt(spec, value, json).toWellFormed(),
    files: FileLimits.resolve(spec.files),
    report: answerCodec,
    reportForm,
    context: contextCodec === undefined
      ? BoundContext.none(spec.id)
      : BoundContext.make(
        spec.id,
        contextCodec,
        services,
        subagents.map(({ agent, context }) => ({ id: agent.id, context }))
      ),
    childFailure: spec.childFailure,
    subagents,
    ownMaxDepth: spec.delegation.maxDepth,
    maxDepth: spec.delegation.maxDepth ?? DelegationConfig.defaults.maxDepth,
    limits: RunLimits.make(spec.delegation, spec, spec.toolLimits),
    budget: spec.budget,
    shape,
    agent,
    behaviour,
    cache: spec.cache === undefined
      ? undefined
      : TypedCache.make(
        spec.id,
        behaviour,
        spec.cache,
        EqualResults.of(Context.getUnsafe(family.context, ResultCache))
      ),
    delegates,
    catalog: spec.catalogTools === undefined
      ? undefined
      : CatalogTools.use(Context.getUnsafe(family.context, ToolCatalog), spec.catalogTools, agent)
  }
  family.bound.set(spec, bound)
  return bound
})

const requiredCodec = (
  schema: AnyCodec,
  what: "context" | "report",
  report: Report
): JsonCodec.JsonCodec<unknown> => {
  if (Schema.is(schema)(undefined)) {
    report([{
      kind: "UnsupportedSchema",
      message: `the schema of the ${what} takes undefined at its root; a ${what} is never optional`
    }])
  }
  return codec(schema, what, report)
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
