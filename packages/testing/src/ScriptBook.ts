/**
 * Which step comes next: the state of the scripts of one model.
 *
 * @since 0.1.0
 */
import type { ModelRequest } from "@mandate/core"
import * as Result from "effect/Result"
import type * as Script from "./Script.ts"
import { UnscriptedCall, type UnusedSteps } from "./ScriptError.ts"
import type { Step } from "./Step.ts"

/**
 * A step that was taken for a call: by which script, in which of its runs, and
 * how often it was asked for before. All count from 0.
 *
 * @category models
 * @since 0.1.0
 */
export interface Taken {
  readonly step: Step
  readonly scriptId: string
  readonly run: number
  readonly askedBefore: number
}

/**
 * The scripts of one model, and how far each run has come.
 *
 * @category models
 * @since 0.1.0
 */
export interface ScriptBook {
  /**
   * Takes the step of a call. The same step and attempt of the same run always
   * gets the same step; any other takes the run's next one.
   */
  readonly take: (
    request: ModelRequest.ModelRequest,
    call: ModelRequest.ModelCall
  ) => Result.Result<Taken, UnscriptedCall>

  /** Steps that are left over now, in order of the scripts and their runs. */
  readonly unused: () => ReadonlyArray<UnusedSteps>
}

interface Run {
  readonly order: number
  readonly runId: string
  readonly steps: Script.Steps | undefined
  readonly taken: Map<string, { readonly step: Step; asked: number }>
  next: number
}

interface Chapter {
  readonly id: string
  readonly rule: Exclude<Script.Rule, { readonly _tag: "Optional" }>
  readonly optional: boolean
  readonly runs: Map<string, Run>
}

/**
 * Opens scripts that no call was made of yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (scripts: Script.Scripts): ScriptBook => {
  const chapters = new Map(Object.entries(scripts).map(([id, script]) => [id, chapter(id, script, false)]))

  return {
    take: (request, call) => {
      const unscripted = (scripted: string) => {
        const { agentId, attempt, runId, step } = call
        return Result.fail(new UnscriptedCall({ agentId, runId, step, attempt, scripted }))
      }
      const chapter = find(chapters, call.agentId)
      if (chapter === undefined) {
        return unscripted(`the agent has no script; there are scripts for ${[...chapters.keys()].join(", ") || "none"}`)
      }
      const run = runOf(chapter, request, call)
      const taken = takeOf(chapter, run, call)
      return taken === undefined
        ? unscripted(describe(chapter, run))
        : Result.succeed({ step: taken.step, scriptId: chapter.id, run: run.order, askedBefore: taken.asked++ })
    },
    unused: () => [...chapters.values()].flatMap((chapter) => chapter.optional ? [] : unusedOf(chapter))
  }
}

const chapter = (id: string, script: Script.Script, optional: boolean): Chapter => {
  if (isSteps(script)) return { id, rule: { _tag: "Runs", runs: [script] }, optional, runs: new Map() }
  return script._tag === "Optional"
    ? chapter(id, script.script, true)
    : { id, rule: script, optional, runs: new Map() }
}

const isSteps = (script: Script.Script): script is Script.Steps => Array.isArray(script)

const find = (chapters: ReadonlyMap<string, Chapter>, agentId: string): Chapter | undefined => {
  const found = chapters.get(agentId)
  const slash = agentId.lastIndexOf("/")
  return found !== undefined || slash < 0 ? found : find(chapters, agentId.slice(0, slash))
}

// A handoff moves a run to another agent, so one run id can be a run of several scripts.
const runOf = (chapter: Chapter, request: ModelRequest.ModelRequest, { runId }: ModelRequest.ModelCall): Run => {
  const known = chapter.runs.get(runId)
  if (known !== undefined) return known
  const order = chapter.runs.size
  const run: Run = { order, runId, steps: stepsOf(chapter, order, request), taken: new Map(), next: 0 }
  chapter.runs.set(runId, run)
  return run
}

const stepsOf = ({ rule }: Chapter, order: number, request: ModelRequest.ModelRequest): Script.Steps | undefined => {
  switch (rule._tag) {
    case "Runs":
      return rule.runs[order]
    case "Each":
      return rule.steps
    case "ByInput":
      return rule.choose(inputOf(request))
    case "Program":
      return undefined
  }
}

const inputOf = ({ messages }: ModelRequest.ModelRequest): string => {
  const last = messages.findLast((message) => message.role === "user")
  return last === undefined ? "" : last.content.map((part) => part.type === "text" ? part.text : "").join("")
}

const takeOf = ({ rule }: Chapter, run: Run, { attempt, step }: ModelRequest.ModelCall) => {
  const key = `${step}.${attempt}`
  const known = run.taken.get(key)
  if (known !== undefined) return known
  const next = rule._tag === "Program" ? rule.answer : run.steps?.[run.next]
  if (next === undefined) return undefined
  const taken = { step: next, asked: 0 }
  run.next++
  run.taken.set(key, taken)
  return taken
}

const describe = ({ rule }: Chapter, { order, steps }: Run): string => {
  if (steps !== undefined) return `all ${steps.length} steps scripted for run ${order} (by start order) are taken`
  return rule._tag === "Runs"
    ? `this is run ${order} (by start order), and only ${rule.runs.length} are scripted`
    : `the script chose no steps for the input of run ${order} (by start order)`
}

const unusedOf = ({ id, rule, runs }: Chapter): ReadonlyArray<UnusedSteps> => {
  const started = [...runs.values()].flatMap(({ next, order, runId, steps = [] }) =>
    next < steps.length ? [{ agentId: id, run: order, runId, left: steps.length - next, scripted: steps.length }] : []
  )
  const planned = rule._tag === "Runs" ? rule.runs : rule._tag === "Each" && runs.size === 0 ? [rule.steps] : []
  const missing = planned.flatMap(({ length }, run) =>
    run < runs.size || length === 0 ? [] : [{ agentId: id, run, left: length, scripted: length }]
  )
  return [...started, ...missing]
}
