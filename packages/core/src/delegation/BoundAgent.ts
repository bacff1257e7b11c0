/**
 * A subagent compiled onto a runtime: what task tools run, and what any code
 * can run with no parent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as AcceptInput from "../run/AcceptInput.ts"
import * as RunFailure from "../run/RunFailure.ts"
import type { ChildRun } from "../values/ChildRun.ts"
import * as Ids from "../values/Ids.ts"
import * as Json from "../values/Json.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunInput } from "../values/RunInput.ts"
import { childFailure, type Settled } from "../values/RunOutcome.ts"
import type { Completed, Refused, TaskOutcome } from "../values/RunResult.ts"
import type { Given } from "../values/TaskRequest.ts"
import * as Text from "../values/Text.ts"
import * as Usage from "../values/Usage.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as CallLine from "./CallLine.ts"
import * as Runs from "./Runs.ts"
import * as Standing from "./Standing.ts"
import * as Surroundings from "./Surroundings.ts"
import type { TypedCache } from "./TypedCache.ts"

/**
 * A subagent that takes an `I` and gives back a report `O`, compiled onto a
 * runtime.
 *
 * **Details**
 *
 * Each run has a thread of its own and a fresh conversation. `run` gives
 * `NotReported` for a run that settled without a report, and fails with a
 * `RunError` while the run is `Failed`, which `recover` can mend.
 *
 * @category models
 * @since 0.1.0
 */
export interface BoundAgent<I, out O, C = undefined> extends Runs.Runs<Given<I>, TaskOutcome<O>, O, C> {
  /** The same agent for callers that have JSON only. */
  readonly json: JsonAgent
}

/**
 * A bound subagent as code sees it that knows no types of its own: another
 * SDK, or a protocol.
 *
 * **Details**
 *
 * - `description`: what a model chooses it by
 * - `inputSchema`: the JSON Schema of its input, as a parent's model is shown
 *   it; its root is an object
 * - `run`, `start`, `stream`: take an input as a model wrote it, and give the
 *   report as JSON. An input that does not decode is a `RunError` of the reason
 *   `InvalidInput`
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonAgent extends Pick<Runs.Runs<Json.Json, TaskOutcome<Json.Json>, Json.Json, unknown>, Verbs> {
  readonly description: string
  readonly inputSchema: { readonly [key: string]: Json.Json }
}

type Verbs = "id" | "run" | "start" | "stream"

/**
 * The face of a compiled subagent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <I, O, C = undefined>(spec: BoundSpec): BoundAgent<I, O, C> => ({
  ...Runs.make<Given<I>, TaskOutcome<O>, O, C>(
    spec,
    (input) => encode(spec, input),
    (ended) => outcome(spec, ended, (place, settled) => Standing.settled<O>(spec, place, settled)),
    spec.cache === undefined ? undefined : reuse<Given<I>, O>(spec, spec.cache)
  ),
  json: jsonAgent(spec)
})

const reuse = <I, O>(spec: BoundSpec, { keys, results }: TypedCache): Runs.Reuse<I, TaskOutcome<O>> =>
  Effect.fnUntraced(function*({ input, terms: { budget, context, tenant }, threadId }, work) {
    const { files, json } = yield* encode(spec, input)
    if (files !== undefined) return yield* work
    const surroundings = yield* Surroundings.of(spec, { depth: 0, depthLeft: spec.maxDepth })
    const ended = yield* results.use({
      keys: keys(JSON.parse(json), { tenant, surroundings, budget, context }),
      subagent: spec,
      id: threadId,
      within: yield* CallLine.current,
      partial: false
    }, Effect.flatMap(work, (value) => Effect.map(kept(spec, value), (keep) => ({ value, keep }))))
    if (ended._tag === "Ran") return ended.value
    return {
      _tag: "Reported",
      report: ended.hit.value as O,
      child: { threadId, runId: Ids.runId(threadId, 0), subagent: spec.agent.id as Ids.AgentId, depth: 0 },
      usage: Usage.zeroRun
    }
  })

const kept = <O>(
  { agent, report }: BoundSpec,
  value: TaskOutcome<O>
): Effect.Effect<{ readonly json: Json.Json; readonly error: undefined } | undefined> => {
  if (value._tag !== "Reported") return Effect.succeed(undefined)
  if (report === undefined) return Effect.succeed({ json: value.report as string, error: undefined })
  return Effect.provideContext(
    Effect.match(report.encode(value.report) as Effect.Effect<Json.Json, unknown>, {
      onFailure: () => undefined,
      onSuccess: (json) => ({ json, error: undefined })
    }),
    agent.context
  )
}

const jsonAgent = (spec: BoundSpec): JsonAgent => {
  const { id, run, start, stream } = Runs.make<Json.Json, TaskOutcome<Json.Json>, Json.Json, unknown>(
    spec,
    (input) => Effect.flatMap(fromModel(spec, input), (value) => encode(spec, value)),
    (ended) =>
      outcome(spec, ended, (place, settled) =>
        settled._tag === "Completed"
          ? Effect.succeed({ _tag: "Completed", answer: settled.answer as Json.Json })
          : Standing.settled(spec, place, settled))
  )
  return { id, run, start, stream, description: spec.description, inputSchema: spec.input.modelSchema }
}

const fromModel = (spec: BoundSpec, input: Json.Json): Effect.Effect<unknown, RunError> =>
  Effect.provideContext(Effect.catch(spec.input.fromModel(input), invalidInput), spec.agent.context as never)

const invalidInput = (issues: ReadonlyArray<string>): Effect.Effect<never, RunError> =>
  RunFailure.fail({ _tag: "InvalidInput", field: "input", issues })

// What code gives a text subagent may have files; the schema of its input, which models are shown, has none.
const encode = (spec: BoundSpec, input: unknown): Effect.Effect<RunInput, RunError> =>
  spec.role === "text" && Predicate.hasProperty(input, "files")
    ? Effect.flatMap(
      AcceptInput.takeFiles(spec.agent.client, spec.files, input),
      (taken) => encodeFields(spec, taken.input, taken.files)
    )
    : encodeFields(spec, input, [])

const encodeFields = (
  spec: BoundSpec,
  input: unknown,
  files: RunInput["files"] & {}
): Effect.Effect<RunInput, RunError> =>
  Effect.provideContext(
    Effect.matchEffect(
      Effect.flatMap(spec.input.encode(input), (encoded) =>
        // What the prompt is made of is what a parent's model would have sent.
        Effect.map(spec.input.decode(encoded), (value) => ({ value, json: Json.canonical(encoded) }))),
      {
        onSuccess: ({ json, value }) => {
          const prompt = spec.prompt(value, json)
          return RunFailure.runInput(
            files.length === 0 ? { json, prompt } : { json, prompt: Text.isBlank(prompt) ? "" : prompt, files }
          )
        },
        onFailure: invalidInput
      }
    ) as Effect.Effect<RunInput, RunError>,
    spec.agent.context
  )

const outcome = <O>(
  spec: BoundSpec,
  { end, runId, threadId }: Runs.Ended,
  read: (
    place: { readonly threadId: string; readonly runId: string },
    settled: Settled
  ) => Effect.Effect<Completed<O> | Refused, RunError>
): Effect.Effect<TaskOutcome<O>, RunError> => {
  const { usage } = end
  const child: ChildRun = { threadId, runId, subagent: spec.agent.id as Ids.AgentId, depth: 0 }
  if (end._tag === "Suspended") return Effect.succeed({ _tag: "Suspended", pending: end.pending, child, usage })
  const failure = childFailure(end.outcome)
  return failure !== undefined
    ? Effect.succeed({ _tag: "NotReported", failure, child, usage })
    : Effect.flatMap(
      read({ threadId, runId }, end.outcome),
      (status) =>
        status._tag === "Completed"
          ? Effect.succeed({ _tag: "Reported", report: status.answer, child, usage })
          : Effect.die("a settled run without a failure has a report")
    )
}
