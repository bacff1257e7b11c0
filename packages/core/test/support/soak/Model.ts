/** What the models of a case do: scripts made from its plan. */
import type { ModelRequest } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { type AgentPlan, type Case, family, type StepPlan } from "./Case.ts"

/** One call of a model as it went: what it was asked, and the tokens it used. */
export interface Asked {
  readonly request: ModelRequest.ModelRequest
  readonly call: ModelRequest.ModelCall
  readonly tokens: { readonly input: number; readonly output: number }
  readonly failed: boolean
}

/** Scripts of all agents and postures of a case. `asked` hears of each call before it is answered. */
export const scripts = (plan: Case, asked: (asked: Asked) => void): Script.Scripts =>
  Object.fromEntries([
    ...family(plan.root).map((agent) => [agent.id, script(agent, asked)]),
    ...(plan.postures?.postures ?? []).map((posture) => [posture.name, script(posture, asked)])
  ])

type Scripted = Pick<AgentPlan, "scripts" | "size">

const script = (agent: Scripted, asked: (asked: Asked) => void): Script.Script => {
  const times = new Map<string, number>()
  return Script.program((request, call) => {
    const step = stepOf(agent, call)
    const at = `${call.runId}/${call.step}`
    const before = times.get(at) ?? 0
    times.set(at, before + 1)
    const failed = before < step.failures
    asked({ request, call, tokens: step.tokens, failed })
    const made = failed ? Step.fail(step.failure, { usage: step.tokens }) : answered(kindOf(request), step)
    const used = Step.withUsage(made, step.tokens)
    return step.millis === 0 ? used : Step.delay(step.millis, used)
  })
}

// A posture may be edited to report in another form.
const kindOf = ({ tools }: ModelRequest.ModelRequest): AgentPlan["kind"] =>
  tools.some(({ name }) => name === "submit_report") ? "typed" : "text"

const stepOf = (agent: Scripted, { call, step }: ModelRequest.ModelCall): StepPlan => {
  const index = call === undefined ? 0 : Number(call.key.split(".")[1])
  return agent.scripts[index % agent.scripts.length]?.[step] ?? { ...lastStep, size: agent.size }
}

const lastStep: StepPlan = {
  what: "answer",
  size: 1,
  text: undefined,
  calls: [],
  tokens: { input: 7, output: 3 },
  millis: 0,
  failures: 0,
  failure: "overloaded"
}

const answered = (kind: AgentPlan["kind"], step: StepPlan): Step.Step => {
  const calls = step.calls.map(({ arguments: args, id, name }) =>
    Step.rawCall(name, args, id === undefined ? {} : { id })
  )
  const beside = step.text === undefined ? [] : [step.text]
  switch (step.what) {
    case "calls":
      return Step.calls(...beside, ...calls)
    case "answer":
      return given(kind, { facts: ["é\u0001x".repeat(step.size).slice(0, step.size)] }, "é".repeat(step.size), calls)
    case "bad answer":
      return given(kind, { facts: 7 }, " ", calls)
    case "prose":
      return Step.text("Here is what I found.")
    case "blank":
      return Step.text("")
    case "pause":
      return Step.pause(step.text)
    case "cut":
      return Step.cut(...beside, ...calls)
    case "filter":
      return Step.contentFilter(step.text)
  }
}

const given = (
  kind: AgentPlan["kind"],
  report: { readonly facts: ReadonlyArray<string> | number },
  text: string,
  calls: ReadonlyArray<ReturnType<typeof Step.rawCall>>
): Step.Step => kind === "text" ? Step.text(text) : Step.calls(...calls, Step.report(report))
