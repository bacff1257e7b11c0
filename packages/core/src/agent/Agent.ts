/**
 * An agent that applications run with a text, and files.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { BoundSpec } from "../delegation/BoundSpec.ts"
import * as Runs from "../delegation/Runs.ts"
import * as Standing from "../delegation/Standing.ts"
import * as AcceptInput from "../run/AcceptInput.ts"
import * as RunFailure from "../run/RunFailure.ts"
import type { AgentInput } from "../values/AgentInput.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunResult, RunStatus } from "../values/RunResult.ts"

/**
 * An agent that answers with an `O`: a string, or the value of its output
 * schema. `C` is the context that its runs are given; `undefined` for an agent
 * that declares none.
 *
 * **Details**
 *
 * Runs on one thread share a conversation. A thread has at most one open run;
 * starting a second one fails with `ThreadBusy` and changes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agent<out O, C = undefined> extends Runs.Runs<AgentInput, RunResult<O>, O, C> {}

/**
 * The face of a compiled agent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <O, C = undefined>(spec: BoundSpec): Agent<O, C> =>
  Runs.make<AgentInput, RunResult<O>, O, C>(
    spec,
    (input) =>
      Effect.flatMap(AcceptInput.accept(spec.agent.client, spec.files, input), ({ files, text }) => {
        const prompt = spec.prompt(text, "")
        return RunFailure.runInput({ json: JSON.stringify(prompt), prompt, ...(files.length === 0 ? {} : { files }) })
      }),
    (ended) => result<O>(spec, ended)
  )

const result = <O>(spec: BoundSpec, { end, runId, threadId }: Runs.Ended): Effect.Effect<RunResult<O>, RunError> => {
  const resultWith = (status: RunStatus<O>): RunResult<O> => ({ threadId, runId, status, usage: end.usage })
  return end._tag === "Suspended"
    ? Effect.succeed(resultWith({ _tag: "Suspended", pending: end.pending }))
    : Effect.map(Standing.settled<O>(spec, { threadId, runId }, end.outcome), resultWith)
}
