/** Bounds that hold for every run, at every instant. */
import { Json, Utf8 } from "@mandate/core"
import { callsOf, eventsOf, type Facts, isOffered, isTask, type RunFacts, tagged } from "./Facts.ts"

export const check = (facts: Facts): ReadonlyArray<string> => [
  ...[...facts.runs.values()].flatMap((run) => [
    ...depth(run, facts),
    ...tasks(run),
    ...reports(run),
    ...steps(run),
    ...budgets(run)
  ]),
  ...tree(facts),
  ...concurrency(facts),
  ...retention(facts)
]

const depth = (run: RunFacts, facts: Facts): ReadonlyArray<string> => {
  const own = run.agent.bounds.maxDepth
  const parent = facts.runs.get(run.row.parentRunId ?? "")
  // Of a posture its runtime says how deep it may go, and of an agent the agent itself.
  const most = run.posture === undefined ? own : (facts.plan.postures?.maxDepth ?? 0) - run.row.depth
  const left = parent === undefined ? most ?? 1 : Math.min(parent.row.depthLeft - 1, most ?? Infinity)
  const depth = parent === undefined ? 0 : parent.row.depth + 1
  return run.row.depth === depth && run.row.depthLeft === left && left >= 0
    ? []
    : [`${run.runId} is at depth ${run.row.depth} with ${run.row.depthLeft} left, not ${depth} with ${left}`]
}

const tasks = (run: RunFacts): ReadonlyArray<string> => {
  const { maxTasksPerTurn } = run.limits
  const calls = callsOf(run).filter(({ name }) => isTask(run.agent, name))
  return calls.flatMap(({ key, name, step }, index) => {
    const result = run.records.get(`t/${key}`)
    const reason = result === undefined ? undefined : JSON.parse(result.json).output.value?.error?.reason
    const isOver = index >= maxTasksPerTurn
    const child = run.children.some(({ row }) => row.callKey === key)
    return [
      ...(isOver && child ? [`task ${index + 1} of ${run.runId} ran; the bound is ${maxTasksPerTurn}`] : []),
      ...(result !== undefined && isOver !== (reason === "TooManyTasks") && isOffered(run, step, name)
        ? [`task ${index + 1} of ${run.runId} gave ${reason}; the bound is ${maxTasksPerTurn}`]
        : [])
    ]
  })
}

const reports = (run: RunFacts): ReadonlyArray<string> =>
  callsOf(run).filter(({ name }) => isTask(run.agent, name)).flatMap(({ key }) => {
    const result = run.records.get(`t/${key}`)
    const bytes = result === undefined ? 0 : Utf8.byteLength(Json.canonical(JSON.parse(result.json).output.value))
    return bytes > run.limits.maxReportBytes ? [`the message of ${run.runId}/${key} has ${bytes} bytes`] : []
  })

const steps = (run: RunFacts): ReadonlyArray<string> => {
  const { maxSteps } = run.limits
  return [
    ...run.asked.filter(({ call }) => call.step >= maxSteps).map(({ call }) => `${run.runId} made step ${call.step}`),
    ...resultSteps(run).filter((step) => step >= maxSteps - 1).map((step) => `${run.runId} ran calls of step ${step}`)
  ]
}

const budgets = (run: RunFacts): ReadonlyArray<string> => {
  const { maxTokens = Infinity, maxToolCalls = Infinity, timeout = Infinity } = run.budget
  const problems: Array<string> = []
  if (resultSteps(run).length > maxToolCalls) problems.push(`${run.runId} made more than ${maxToolCalls} tool calls`)
  for (const { activeMillis } of run.settled) {
    if (activeMillis > Number(timeout)) problems.push(`${run.runId} was active for ${activeMillis} ms of ${timeout}`)
  }
  let tokens = 0
  for (const { at, event } of eventsOf(run, "ModelCallCompleted")) {
    tokens += event.usage.inputTokens + event.usage.outputTokens
    if (tokens <= maxTokens) continue
    if (run.asked.some((asked) => asked.at > at)) problems.push(`${run.runId} went on with ${tokens} of ${maxTokens}`)
    if (resultSteps(run).includes(event.step)) problems.push(`${run.runId} ran calls over its tokens`)
  }
  return problems
}

// Responses that were asked for when the tokens ran out are let come.
const tree = ({ entries, events, plan, runs }: Facts): ReadonlyArray<string> => {
  const { maxChildRuns = Infinity, maxTokens = Infinity, maxToolCalls = Infinity } = plan.tree
  const children = runs.size - 1
  const calls = [...runs.values()].reduce((sum, run) => sum + resultSteps(run).length, 0)
  const problems: Array<string> = []
  if (children > maxChildRuns) problems.push(`the tree started ${children} child runs of ${maxChildRuns}`)
  if (calls > maxToolCalls) problems.push(`the tree made ${calls} tool calls of ${maxToolCalls}`)
  let tokens = 0
  for (const { at, event } of events) {
    if (event._tag !== "ModelCallCompleted") continue
    tokens += event.usage.inputTokens + event.usage.outputTokens
    const later = entries.slice(at).filter((entry) => entry._tag === "Asked")
    if (tokens > maxTokens && later.length > 0) problems.push(`the tree went on with ${tokens} tokens of ${maxTokens}`)
  }
  return problems
}

const resultSteps = (run: RunFacts): ReadonlyArray<number> =>
  [...run.records.keys()].flatMap((key) => key.startsWith("t/") ? [Number(key.slice(2).split(".")[0])] : [])

// A drive of a child starts with `create`, whether the child is new or not, and ends when it comes to rest.
const concurrency = ({ entries, runs }: Facts): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const live = new Set<string>()
  for (const [at, entry] of entries.entries()) {
    if (entry._tag === "Died") live.clear()
    if (entry._tag !== "Wrote") continue
    if (entry.operation === "suspend" || entry.operation === "fail") live.delete(entry.runId)
    for (const { runId } of entry.settled) live.delete(runId)
    const isOver = (runs.get(entry.runId)?.settled[0]?.at ?? at) < at
    if (entry.operation !== "create" || isOver) continue
    live.add(entry.runId)
    const parent = runs.get(runs.get(entry.runId)?.row.parentRunId ?? "")
    const siblings = parent?.children.filter(({ runId }) => live.has(runId)) ?? []
    if (parent !== undefined && siblings.length > parent.limits.maxConcurrentChildren) {
      problems.push(`${parent.runId} had ${siblings.length} children live at once`)
    }
  }
  return problems
}

// Looked at whenever nothing is driven: of the children of an open run, those whose result it has recorded count.
const retention = (facts: Facts): ReadonlyArray<string> =>
  tagged(facts, "Saw").flatMap(({ at, rows }) =>
    rows.flatMap((row) => {
      const run = facts.runs.get(row.runId)
      const kept = rows.filter((child) =>
        child.parentRunId === row.runId && child.state === "Settled" &&
        (row.state === "Settled" || (run?.records.get(`t/${child.callKey}`)?.at ?? at) < at)
      )
      const bound = run?.limits.childRetention ?? 0
      return kept.length > bound ? [`${row.runId} keeps ${kept.length} children; the bound is ${bound}`] : []
    })
  )
