/**
 * Gives postures to some cases: what is in the registry, which agents may
 * delegate to it, and the calls that their models make. All else of a case
 * stays as it was made.
 */
import type { AgentPlan, CallPlan, CancelPlan, Case, StepPlan } from "./Case.ts"
import { defined } from "./CaseGenerator.ts"
import type { EditPlan, PosturePlan } from "./PosturePlan.ts"
import * as Random from "./Random.ts"
import * as ScriptGenerator from "./ScriptGenerator.ts"
import * as SoakTools from "./SoakTools.ts"

export const add = (plan: Case): Case => {
  const random = Random.make(plan.seed, "postures")
  if (!random.chance(0.24)) return plan
  const count = random.int(2, 4)
  const names = Array.from({ length: count }, (_, index) => `p${index}`)
  const [first, ...others] = names.map((name) => posture(random, name, names))
  if (first === undefined) return plan
  const postures = [first, ...others] as const
  return {
    ...plan,
    root: delegating(random, plan.root, postures, true),
    cancel: plan.cancel ?? (random.chance(0.15) ? cancel(random) : undefined),
    postures: {
      postures,
      edits: random.chance(0.6) ? random.many(1, 4, () => edit(random, postures)) : [],
      maxDepth: random.weighted([[8, 3], [2, 2], [1, 1]]),
      cache: random.chance(0.4) ? "of all processes" : "of each process"
    }
  }
}

// While something below the root is open, for it is there that postures run.
const cancel = (random: Random.Random): CancelPlan => ({
  act: random.int(0, 2),
  afterWrites: random.chance(0.5) ? random.int(3, 15) : undefined,
  target: random.chance(0.3) ? "root" : "child",
  from: random.chance(0.75) ? "same process" : "another process"
})

type Postures = readonly [PosturePlan, ...ReadonlyArray<PosturePlan>]

const posture = (random: Random.Random, name: string, names: ReadonlyArray<string>): PosturePlan => {
  const report = random.weighted([[2, "text" as const], [1, "named" as const], [1, "schema" as const]])
  const allowedTools = random.weighted<ReadonlyArray<string>>([
    [2, []],
    [1, ["no_such_tool"]],
    [2, random.shuffled(SoakTools.names).slice(0, random.int(3, 6))],
    [5, random.shuffled(["ask", "pay", "note", random.pick(SoakTools.names)])]
  ])
  const delegates = random.chance(0.5)
  const author = { kind: report === "text" ? "text" : "typed", level: 2, isLeaf: true, subagents: [] } as const
  const ceiling = random.chance(0.3)
  return {
    name,
    revision: 1,
    report,
    allowedTools: delegates
      ? random.shuffled([...(allowedTools.length === 0 ? SoakTools.names : allowedTools), "delegate"])
      : allowedTools,
    budget: defined({
      maxTokens: random.weighted([[5, undefined], [1, random.int(10, 60)]]),
      maxToolCalls: random.weighted([[5, undefined], [1, random.int(1, 4)]]),
      timeout: random.weighted([[8, undefined], [1, random.int(1, 10)]])
    }),
    ceiling: ceiling ? { maxTokens: 150, maxToolCalls: 8 } : {},
    maxDepth: random.weighted([[8, undefined], [1, 1], [2, 2], [1, 3]]),
    maxSteps: random.weighted([[6, 32], [1, random.int(1, 4)]]),
    size: random.weighted([[3, 1], [1, random.int(100, 300)]]),
    scripts: random.many(1, 2, () => {
      // A posture that does little is one that succeeds, and that equal calls find again.
      const script = random.chance(0.35) ? quiet(random) : ScriptGenerator.make(random, author)
      return delegates ? salted(random, script.length === 0 ? [step(random)] : script, names, 0.8, 1) : script
    })
  }
}

const quiet = (random: Random.Random): ReadonlyArray<StepPlan> =>
  random.many(0, 1, () => ({
    ...step(random),
    calls: [ScriptGenerator.plan(random, "note", { text: "a", millis: random.int(0, 4) })]
  }))

const step = (random: Random.Random): StepPlan => ({
  what: "calls",
  size: 1,
  text: undefined,
  calls: [],
  tokens: { input: random.int(5, 20), output: random.int(1, 10) },
  millis: random.int(0, 3),
  failures: 0,
  failure: "overloaded"
})

const edit = (random: Random.Random, postures: Postures): EditPlan => {
  const act = random.int(1, 3)
  const plan = random.pick(postures)
  return random.weighted<() => EditPlan>([
    [5, () => ({ act, what: "edit", posture: changed(random, plan) })],
    [1, () => ({ act, what: "edit", posture: plan })],
    [2, () => ({ act, what: "remove", name: plan.name })],
    [3, () => ({ act, what: "remove tool", name: random.pick(["ask", "pay", "note", ...SoakTools.names]) })]
  ])()
}

const changed = (random: Random.Random, plan: PosturePlan): PosturePlan => ({
  ...plan,
  revision: random.int(2, 3),
  report: random.weighted([[3, plan.report], [1, "text"], [1, "named"]]),
  allowedTools: random.weighted([[2, plan.allowedTools], [1, ["note", "ask", "delegate"]], [1, []]]),
  maxDepth: random.weighted([[2, plan.maxDepth], [1, 1], [1, undefined]])
})

// The deeper the family goes, the deeper postures may begin below it.
const delegating = (
  random: Random.Random,
  agent: AgentPlan,
  postures: Postures,
  isSure: boolean
): AgentPlan => {
  const subagents = agent.subagents.map((subagent) => delegating(random, subagent, postures, false))
  if (!isSure && !random.chance(0.4)) return { ...agent, subagents }
  const names = random.chance(0.75) ? undefined : random.shuffled(postures).slice(1).map(({ name }) => name)
  const { maxDepth } = agent.bounds
  const chance = isSure ? 0.95 : 0.7
  return {
    ...agent,
    subagents,
    bounds: isSure ? { ...agent.bounds, maxDepth: (maxDepth ?? 1) + random.int(0, 3) } : agent.bounds,
    breakpoints: random.chance(0.08) ? [...agent.breakpoints, "delegate"] : agent.breakpoints,
    postures: names === undefined ? {} : { names },
    scripts: agent.scripts.map((script) =>
      salted(random, script.length === 0 ? [step(random)] : script, postures.map(({ name }) => name), chance, 2)
    )
  }
}

/** Puts calls of postures among the calls of a script. */
const salted = (
  random: Random.Random,
  script: ReadonlyArray<StepPlan>,
  names: ReadonlyArray<string>,
  chance: number,
  most: number
): ReadonlyArray<StepPlan> =>
  script.map((step) => {
    if ((step.what !== "calls" && step.calls.length === 0) || !random.chance(chance)) return step
    const made = random.many(1, most, () => delegate(random, names))
    const calls = made.flatMap((call) => random.chance(0.35) ? [call, call] : [call])
    return { ...step, calls: random.shuffled([...step.calls, ...calls]) }
  })

const delegate = (random: Random.Random, names: ReadonlyArray<string>): CallPlan => {
  const [first = "p0", ...others] = names
  const posture = random.weighted([[30, first], ...others.map((name) => [20, name] as const), [2, "nobody"]])
  const task = random.weighted([[10, "the first"], [4, "the second"], [0.2, " "]])
  const context = random.weighted<object>([
    [6, {}],
    [1, { context: null }],
    [1, { context: { a: 1, b: [2] } }],
    // The same again, written in another order.
    [1, { context: { b: [2], a: 1 } }]
  ])
  return ScriptGenerator.plan(random, "delegate", {
    posture,
    ...random.weighted<object>([[90, { task }], [1, {}], [1, { task, depth: 1 }], [1, { task: 7 }]]),
    ...context,
    ...random.weighted<object>([
      [24, {}],
      [1, { maxTokens: random.int(10, 80) }],
      [1, { maxToolCalls: random.int(1, 3) }],
      [1.5, { timeoutSeconds: random.int(1, 6) / 1000 }],
      // Over every ceiling.
      [1, { maxTokens: random.int(151, 900) }],
      [1, random.pick<object>([{ maxTokens: 0 }, { maxToolCalls: 1.5 }, { timeoutSeconds: -1 }])]
    ])
  })
}
