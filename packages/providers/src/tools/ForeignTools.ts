/**
 * Tools that were written for another library, as a toolkit with handlers.
 *
 * @since 0.1.0
 */
import { ArgumentsForm, Options as CallerOptions, ToolContext, ToolkitError, Utf8 } from "@mandate/core"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Execution from "./Execution.ts"
import * as InputForm from "./InputForm.ts"
import type { ToolInput } from "./ToolInput.ts"
import * as ToolNames from "./ToolNames.ts"
import * as ToolOutcome from "./ToolOutcome.ts"

/**
 * What a model is told about arguments that its tool does not take.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InvalidArguments = Schema.Struct({
  error: Schema.Struct({ reason: Schema.Literal("InvalidArguments"), message: Schema.String })
})

/**
 * A tool of another library: parameters and result are JSON.
 *
 * @category models
 * @since 0.1.0
 */
export type ForeignTool = Tool.Tool<string, {
  readonly parameters: typeof Schema.Unknown
  readonly success: typeof ToolOutcome.Outcome
  readonly failure: typeof InvalidArguments
  readonly failureMode: "error"
}, ToolContext.ToolContext>

/**
 * A toolkit of such tools, for `withToolkit`.
 *
 * @category models
 * @since 0.1.0
 */
export type ForeignToolkit = Toolkit.WithHandler<Record<string, ForeignTool>>

/**
 * What is known of a tool.
 *
 * **Details**
 *
 * - `input`: fails with the end of a sentence about the tool's input schema
 * - `refusal`: why the tool cannot be used, if so: the end of a sentence about
 *   the tool
 * - `needsApproval`: whether a person is asked before a call, always or by its
 *   checked input; a function gives a boolean or a promise of one
 * - `execute`: gives a value, a promise, or an async iterable
 * - `show`: gives what a model is shown of a result. Default: the result
 *
 * @category models
 * @since 0.1.0
 */
export interface Definition {
  readonly name: string
  readonly description: string | undefined
  readonly strict: boolean | undefined
  readonly needsApproval: boolean | ((input: unknown, toolCallId: string) => unknown)
  readonly input: Effect.Effect<ToolInput, string>
  readonly refusal: string | undefined
  readonly execute: (input: unknown, call: Call) => unknown
  readonly show?: (call: Shown) => Effect.Effect<ToolOutcome.ToolOutcome<unknown>>
}

/**
 * A call that has run: its id, its checked input and its result.
 *
 * @category models
 * @since 0.1.0
 */
export interface Shown {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

/**
 * What a tool is told about its call.
 *
 * **Details**
 *
 * `idempotencyKey` is the same whenever the call runs again, and no other
 * call's.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly toolCallId: string
  readonly idempotencyKey: string
  readonly abortSignal: AbortSignal
}

/**
 * Makes a toolkit of tools, under names that providers take. One error lists
 * all that is wrong with them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  given: ReadonlyArray<Definition>,
  options: ToolNames.NameOptions | undefined
): Effect.fn.Return<ForeignToolkit, ToolkitError.ToolkitError> {
  const named = ToolNames.make(given, options)
  if (Result.isFailure(named)) return yield* new ToolkitError.ToolkitError({ problems: named.failure })
  const definitions = named.success.map(({ name, tool }): Definition => ({ ...tool, name }))
  const resolved = yield* Effect.forEach(
    definitions,
    (definition) => Effect.map(Effect.result(definition.input), (input) => ({ definition, input }))
  )
  const [first, ...rest] = resolved.flatMap(problemsOf)
  if (first !== undefined) return yield* new ToolkitError.ToolkitError({ problems: [first, ...rest] })
  const usable = resolved.flatMap(({ definition, input }) =>
    Result.isSuccess(input) ? [{ definition, input: input.success }] : []
  )
  const toolkit = Toolkit.make(...usable.map(({ definition, input }) => toolOf(definition, input)))
  const handlers = Object.fromEntries(
    usable.map(({ definition, input }) => [definition.name, handler(definition, input)])
  )
  return yield* Effect.provideContext(toolkit, yield* toolkit.toHandlers(handlers))
})

/**
 * Makes a toolkit of what a caller gave as tools, by name. What is no plain
 * object of tools, or has one that cannot be read, is a problem of the toolkit.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromUnknown = (
  tools: unknown,
  options: ToolNames.NameOptions | undefined,
  define: (name: string, tool: never) => Result.Result<Definition, string>
): Effect.Effect<ForeignToolkit, ToolkitError.ToolkitError> =>
  Effect.suspend(() => {
    const given = decodeTools({ tools })
    if (Result.isFailure(given)) return refuse(given.failure)
    const names = Result.try(() => Object.entries(given.success.tools))
    if (Result.isFailure(names)) return refuse(["the tools cannot be read"])
    const defined = names.success.map(([name, tool]) =>
      Result.mapError(
        typeof tool === "object" && tool !== null
          ? Result.flatMap(
            Result.try({ try: () => define(name, tool as never), catch: () => "cannot be read" }),
            identity
          )
          : Result.fail("must be an object"),
        (problem) => `the tool ${JSON.stringify(Utf8.cut(name, 64))} ${problem}`
      )
    )
    const problems = defined.flatMap((tool) => Result.isFailure(tool) ? [tool.failure] : [])
    return problems.length > 0
      ? refuse(problems)
      : make(defined.flatMap((tool) => Result.isSuccess(tool) ? [tool.success] : []), options)
  })

const decodeTools = CallerOptions.make<{ readonly tools: { readonly [name: string]: unknown } }>("argument", {
  tools: CallerOptions.record<unknown>()
}, ["tools"])

const refuse = (issues: ReadonlyArray<string>): Effect.Effect<never, ToolkitError.ToolkitError> => {
  const [first = "", ...rest] = issues
  const problem = (message: string): Problem => ({ kind: "InvalidSetting", message })
  return Effect.fail(new ToolkitError.ToolkitError({ problems: [problem(first), ...rest.map(problem)] }))
}

type Problem = ToolkitError.ToolkitError["problems"][number]

const problemsOf = (
  { definition: { name, refusal }, input }: {
    readonly definition: Definition
    readonly input: Result.Result<ToolInput, string>
  }
): ReadonlyArray<Problem> => [
  ...(refusal === undefined ? [] : [{ kind: "InvalidSetting" as const, message: `the tool "${name}" ${refusal}` }]),
  ...Result.match(input, {
    onSuccess: () => [],
    onFailure: (problem) => [{
      kind: "UnsupportedSchema" as const,
      message: `the schema of the parameters of the tool "${name}" ${problem}`
    }]
  })
]

const toolOf = (definition: Definition, input: ToolInput): ForeignTool => {
  const tool = Tool.dynamic(definition.name, {
    description: definition.description,
    parameters: input.jsonSchema,
    success: ToolOutcome.Outcome,
    failure: InvalidArguments,
    toModelOutput: ToolOutcome.toModelOutput,
    needsApproval: approval(definition, input)
  }).addDependency(ToolContext.ToolContext).annotate(ArgumentsForm, InputForm.make(input))
  return definition.strict === undefined ? tool : tool.annotate(Tool.Strict, definition.strict)
}

// Only what says `false` needs none. Arguments that the check refuses are the tool's to refuse, and nobody is asked.
const approval = ({ needsApproval }: Definition, { check }: ToolInput) =>
  needsApproval !== false &&
  ((params: unknown, { toolCallId }: Tool.NeedsApprovalContext) =>
    Effect.matchEffect(check(params), {
      onFailure: () => Effect.succeed(false),
      onSuccess: (input) =>
        needsApproval === true
          ? Effect.succeed(true)
          : Effect.map(Effect.promise(async () => await needsApproval(input, toolCallId)), (needed) => needed !== false)
    }))

const handler = (definition: Definition, input: ToolInput) =>
(
  params: unknown,
  { preliminary }: Toolkit.HandlerContext<ForeignTool>
): Effect.Effect<ToolOutcome.ToolOutcome<unknown>, typeof InvalidArguments.Type, ToolContext.ToolContext> =>
  Effect.flatMap(
    ToolContext.ToolContext,
    ({ idempotencyKey, toolCallId }) =>
      Effect.flatMap(Effect.mapError(input.check(params), invalid), (checked) =>
        Effect.flatMap(
          Execution.run(
            (abortSignal) => definition.execute(checked, { toolCallId, idempotencyKey, abortSignal }),
            (value) => preliminary(new ToolOutcome.ToolOutcome(value))
          ),
          (output) =>
            definition.show?.({ toolCallId, input: checked, output }) ??
              Effect.succeed(new ToolOutcome.ToolOutcome(output))
        ))
  )

const invalid = (issues: ReadonlyArray<string>): typeof InvalidArguments.Type => ({
  error: { reason: "InvalidArguments", message: `The arguments are not valid: ${issues.join("; ")}` }
})
