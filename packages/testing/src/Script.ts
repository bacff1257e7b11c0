/**
 * Scripts: which steps a scripted model takes in each run of an agent.
 *
 * **Details**
 *
 * What is not as the types say throws `Options.InvalidOptions`.
 *
 * @since 0.1.0
 */
import { type ModelRequest, Options } from "@mandate/core"
import type * as Effect from "effect/Effect"
import * as Given from "./Given.ts"
import type { Step } from "./Step.ts"

/**
 * The steps of one run, in order. Every attempt of a step takes the next one.
 *
 * @category models
 * @since 0.1.0
 */
export type Steps = ReadonlyArray<Step>

/**
 * The script of one agent. An array holds the steps of one run; a second run
 * of the agent is then an unscripted call.
 *
 * @category models
 * @since 0.1.0
 */
export type Script = Steps | Rule

/**
 * A script for several runs of an agent. Made by the functions of this module.
 *
 * @category models
 * @since 0.1.0
 */
export type Rule =
  | { readonly _tag: "Runs"; readonly runs: ReadonlyArray<Steps> }
  | { readonly _tag: "Each"; readonly steps: Steps }
  | { readonly _tag: "ByInput"; readonly choose: (input: string) => Steps | undefined }
  | { readonly _tag: "Program"; readonly answer: Answer }
  | { readonly _tag: "Optional"; readonly script: Script }

/**
 * Answers any call of any run of an agent.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer = (
  request: ModelRequest.ModelRequest,
  call: ModelRequest.ModelCall
) => Step | Effect.Effect<Step>

/**
 * The scripts of a model, by agent id.
 *
 * **Details**
 *
 * The runs of a posture take the script under the posture's name. An agent id
 * with slashes falls back to its beginnings: `desk/triage/1` takes
 * `desk/triage` if there is no script under its whole id. Agents that share a
 * script share its order of runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Scripts {
  readonly [agentId: string]: Script
}

/**
 * One list of steps for each run, by start order: the order in which the runs
 * make their first model call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const runs = (...runs: ReadonlyArray<Steps>): Script => {
  for (const steps of runs) checkRuns({ steps })
  return { _tag: "Runs", runs }
}

/**
 * The same steps for every run. If no run starts, all of them are left over.
 *
 * @category constructors
 * @since 0.1.0
 */
export const each = (steps: Steps): Script => {
  checkEach({ steps })
  return { _tag: "Each", steps }
}

/**
 * Steps chosen by a run's input: the text of the last user message in the
 * run's first request. `undefined` leaves the run unscripted. Runs that never
 * start leave nothing over.
 *
 * @category constructors
 * @since 0.1.0
 */
export const byInput = (choose: (input: string) => Steps | undefined): Script => {
  checkByInput({ choose })
  return { _tag: "ByInput", choose }
}

/**
 * A function that answers any number of calls of any run. It is asked again
 * when a step is asked for again, and it never leaves steps over.
 *
 * **When to use**
 *
 * Use it for a program of several processes, each with a model of its own: a
 * run that goes on in another process asks for its later steps there, which
 * lists of steps would begin anew. `call.step` says which one it is.
 *
 * **Example** (The same steps in every process)
 *
 * ```ts
 * import { Script, Step } from "@mandate/testing"
 *
 * const steps = [Step.call("publish"), Step.text("done")]
 *
 * export const clerk = Script.program((_, call) => steps[call.step] ?? Step.text("nothing left to do"))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const program = (answer: Answer): Script => {
  checkProgram({ answer })
  return { _tag: "Program", answer }
}

/**
 * Allows a script to leave steps over.
 *
 * @category combinators
 * @since 0.1.0
 */
export const optional = (script: Script): Script => {
  checkOptional({ script })
  return { _tag: "Optional", script }
}

const checkRuns = Given.args("Script.runs", { steps: Given.steps })
const checkEach = Given.args("Script.each", { steps: Given.steps })
const checkByInput = Given.args("Script.byInput", { choose: Options.func })
const checkProgram = Given.args("Script.program", { answer: Options.func })
const checkOptional = Given.args("Script.optional", { script: Given.script })
