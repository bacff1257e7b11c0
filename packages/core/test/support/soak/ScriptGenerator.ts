/** Makes what the model of an agent does in one run. */
import type { AgentPlan, CallPlan, StepPlan } from "./Case.ts"
import type * as Random from "./Random.ts"

export interface Author {
  readonly kind: AgentPlan["kind"]
  readonly level: number
  readonly isLeaf: boolean
  readonly subagents: ReadonlyArray<AgentPlan>
}

/**
 * The steps of one run. The first one usually goes down, or waits where there
 * is nothing below: waits deep in a tree are what the cases are for.
 */
export const make = (random: Random.Random, author: Author): ReadonlyArray<StepPlan> => {
  if (random.chance(0.04)) return []
  const most = author.level === 0 ? 3 : 2
  return [
    step(random, author, "calls", () => [
      ...calls(random, author),
      ...(random.chance(0.95) ? [leading(random, author)] : [])
    ]),
    ...random.many(0, most - 1, () => step(random, author, what(random), () => calls(random, author)))
  ]
}

const what = (random: Random.Random): StepPlan["what"] =>
  random.weighted([
    [60, "calls"],
    [15, "answer"],
    [7, "bad answer"],
    [4, "prose"],
    [2, "blank"],
    [4, "pause"],
    [4, "cut"],
    [3, "filter"]
  ])

const step = (
  random: Random.Random,
  author: Author,
  what: StepPlan["what"],
  calls: () => ReadonlyArray<CallPlan>
): StepPlan => ({
  what,
  size: random.weighted([[1, 1], [3, random.int(100, 400)]]),
  text: random.chance(0.25) ? "Let me see." : undefined,
  calls: what === "calls" || what === "cut" || (author.kind === "typed" && random.chance(0.4)) ? calls() : [],
  tokens: { input: random.int(5, 20), output: random.int(1, 10) },
  millis: random.weighted([[2, 0], [1, random.int(1, 6)]]),
  failures: random.weighted([[40, 0], [2, 1], [1, random.int(2, 4)], [0.2, 1_000]]),
  failure: random.weighted([[3, "overloaded"], [1, "network"], [1, "authentication"]])
})

const calls = (random: Random.Random, author: Author): ReadonlyArray<CallPlan> =>
  random.many(author.level === 0 ? 1 : 0, author.level < 2 ? 3 : 2, () => call(random, author))

const leading = (random: Random.Random, author: Author): CallPlan => {
  const [first] = author.subagents
  return first === undefined ? waiting(random) : task(random, first)
}

const call = (random: Random.Random, author: Author): CallPlan => {
  const [first, ...others] = author.subagents
  return random.weighted<() => CallPlan>([
    [first === undefined ? 0 : 30, () => task(random, random.pick([first!, ...others]))],
    [22, () => waiting(random)],
    [20, () => plan(random, "note", { text: random.pick(["a", "b"]), millis: millis(random) })],
    [7, () => plan(random, "fire", { millis: millis(random) })],
    [
      8,
      () =>
        plan(random, "break", {
          how: random.weighted([[4, "failure"], [3, "defect"], [1.5, "fatal"]]),
          times: random.weighted([[6, random.int(1, 2)], [1, 1_000]])
        })
    ],
    [2, () => plan(random, "nobody", {})],
    [2, () => plan(random, "no such tool!", {})],
    [3, () => plan(random, "task", { subagent: "nobody", description: "x" })],
    [3, () => plan(random, first === undefined ? "note" : `task_${first.id}`, { topic: 7 })],
    [2, () => plan(random, random.pick(["pay", "ask", "fire"]), { amount: "many" })],
    [2, () => ({ ...plan(random, random.pick(["note", "pay", "launch"]), {}), arguments: "{not json" })]
  ])()
}

const task = (random: Random.Random, { id, kind }: AgentPlan): CallPlan =>
  kind === "text"
    ? plan(random, "task", { subagent: id, description: `work for ${id}` })
    : plan(random, `task_${id}`, { topic: `work for ${id}` })

const waiting = (random: Random.Random): CallPlan => {
  const asks = { questions: random.weighted([[4, 1], [4, 2], [2, 3]]), millis: millis(random) }
  return random.weighted<() => CallPlan>([
    [4, () => plan(random, "pay", { amount: random.int(1, 9), millis: millis(random) })],
    [5, () => plan(random, "ask", asks)],
    [1, () => plan(random, "launch", { amount: random.int(1, 9), millis: millis(random) })],
    [1, () => plan(random, "survey", asks)]
  ])()
}

const millis = (random: Random.Random): number => random.weighted([[1, 0], [2, random.int(1, 5)]])

/** A call with the id that a provider gives it, sometimes none or one it gave before. */
export const plan = (random: Random.Random, name: string, args: object): CallPlan => ({
  name,
  arguments: JSON.stringify(args),
  id: random.weighted([[8, undefined], [1, ""], [1, "same"]])
})
