/**
 * A subagent compiled onto a runtime: what task tools run, and what any code
 * can run with no parent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as RunFailure from "../run/RunFailure.ts"
import type { ChildRun } from "../values/ChildRun.ts"
import type * as Ids from "../values/Ids.ts"
import * as Json from "../values/Json.ts"
import type { RunError } from "../values/RunError.ts"
import { childFailure } from "../values/RunOutcome.ts"
import type { TaskOutcome } from "../values/RunResult.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as Runs from "./Runs.ts"
import * as Standing from "./Standing.ts"

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
export interface BoundAgent<in I, out O> extends Runs.Runs<I, TaskOutcome<O>, O> {}

/**
 * The face of a compiled subagent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <I, O>(spec: BoundSpec): BoundAgent<I, O> =>
  Runs.make<I, TaskOutcome<O>, O>(spec, (input) => encode(spec, input), (ended) => outcome<O>(spec, ended))

const encode = (
  spec: BoundSpec,
  input: unknown
): Effect.Effect<{ readonly json: string; readonly prompt: string }, RunError> =>
  Effect.provideContext(
    Effect.matchEffect(
      Effect.flatMap(spec.input.encode(input), (encoded) =>
        // What the prompt is made of is what a parent's model would have sent.
        Effect.map(spec.input.decode(encoded), (value) => ({ value, json: Json.canonical(encoded) }))),
      {
        onSuccess: ({ json, value }) => Effect.succeed({ json, prompt: spec.prompt(value, json) }),
        onFailure: (issues) => RunFailure.fail({ _tag: "InvalidInput", field: "input", issues })
      }
    ) as Effect.Effect<{ readonly json: string; readonly prompt: string }, RunError>,
    spec.agent.context
  )

const outcome = <O>(spec: BoundSpec, { end, runId, threadId }: Runs.Ended): Effect.Effect<TaskOutcome<O>, RunError> => {
  const { usage } = end
  const child: ChildRun = { threadId, runId, subagent: spec.agent.id as Ids.AgentId, depth: 0 }
  if (end._tag === "Suspended") return Effect.succeed({ _tag: "Suspended", pending: end.pending, child, usage })
  const failure = childFailure(end.outcome)
  return failure !== undefined
    ? Effect.succeed({ _tag: "NotReported", failure, child, usage })
    : Effect.flatMap(
      Standing.settled<O>(spec, { threadId, runId }, end.outcome),
      (status) =>
        status._tag === "Completed"
          ? Effect.succeed({ _tag: "Reported", report: status.answer, child, usage })
          : Effect.die("a settled run without a failure has a report")
    )
}
