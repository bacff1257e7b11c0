/** Calls of postures: which are refused and why, what a run is given, and which find the result of an equal one. */
import { Json, Posture, type RunEvent } from "@mandate/core"
import * as CheckPostures from "./CheckPostures.ts"
import { callsOf, type Facts, isOffered, registeredAt, type RunFacts } from "./Facts.ts"
import type { Registered } from "./Process.ts"

export const check = (facts: Facts): ReadonlyArray<string> => [
  ...[...facts.runs.values()].flatMap((run) => [
    ...callsOf(run).flatMap((call) =>
      run.agent.postures !== undefined && call.name === "delegate" ? judge(run, call, facts) : []
    ),
    ...depth(run, facts)
  ]),
  ...strays(facts)
]

type Call = ReturnType<typeof callsOf>[number]

const judge = (run: RunFacts, call: Call, facts: Facts): ReadonlyArray<string> => {
  const what = `the call ${run.runId}/${call.key}`
  const record = run.records.get(`t/${call.key}`)
  const child = run.children.find(({ row }) => row.callKey === call.key)
  const hit = hitOf(facts, `${run.runId}/${call.key}`)
  const refusals = run.events.filter(({ event }) => event._tag === "DelegateRefused" && event.key === call.key)
  const reason = record === undefined ? undefined : JSON.parse(record.json).output.value?.error?.reason
  const isRefused = reason === "RecursionLimit" && child === undefined
  const problems = [
    ...when(refusals.length !== (isRefused ? 1 : 0), `${what} was told to be refused ${refusals.length} times`),
    ...when(isRefused && hit.length > 0, `${what} is refused and has a pair`),
    ...when(refusals.some(({ at }) => at !== record?.at), `${what} was told to be refused beside its record`)
  ]
  if (child !== undefined) {
    return [
      ...problems,
      ...when(hit.length > 0, `${what} has a run and a hit`),
      ...admitted(what, run, call, child.at, facts),
      ...budget(what, child, call)
    ]
  }
  if (hit.length > 0) {
    const at = hit[0]?.at ?? 0
    return [...problems, ...admitted(what, run, call, at, facts), ...equal(what, run, call, hit, facts)]
  }
  if (record === undefined || reason === "TooManyTasks" || reason === "TreeBudgetExceeded") return problems
  const state = registeredAt(facts, record.at)
  const should = refusal(run, call, state, facts)
  return [...problems, ...when(reason !== should, `${what} gave ${reason}, not ${should}`)]
}

const admitted = (what: string, run: RunFacts, call: Call, at: number, facts: Facts): ReadonlyArray<string> => {
  const reason = refusal(run, call, registeredAt(facts, at), facts)
  return when(reason !== undefined, `${what} was let through in spite of ${reason}`)
}

interface Arguments {
  readonly posture: string
  readonly task: string
  readonly context?: Json.Json
  readonly maxTokens?: number
  readonly maxToolCalls?: number
  readonly timeoutSeconds?: number
}

const argumentsOf = ({ arguments: text }: Call): Arguments | undefined => {
  const args = JSON.parse(text)
  const isWhole = typeof args.posture === "string" && typeof args.task === "string" &&
    Object.keys(args).every((name) => fields.has(name))
  return isWhole ? args : undefined
}

const fields = new Set(["posture", "task", "context", "maxTokens", "maxToolCalls", "timeoutSeconds"])

// P2, P4: why a call is refused, in the order of the checks.
const refusal = (run: RunFacts, call: Call, { postures }: Registered, facts: Facts): string | undefined => {
  if (!isOffered(run, call.step, call.name)) return "UnknownTool"
  const args = argumentsOf(call)
  if (args === undefined) return "InvalidInput"
  const posture = postures.find(({ name }) => name === args.posture)
  const isKnown = run.agent.postures?.names?.includes(args.posture) ?? true
  if (posture === undefined || !isKnown) return "UnknownPosture"
  const depth = run.row.depth + 1
  const most = Math.min(posture.maxDepth ?? Infinity, facts.plan.postures?.maxDepth ?? 0)
  if (depth > most || run.row.depthLeft < 1) return "RecursionLimit"
  if (args.task.trim() === "") return "InvalidInput"
  const { maxTokens, maxToolCalls, timeoutSeconds } = args
  const isLimit = (limit: number | undefined, most = Infinity) =>
    limit === undefined || (Number.isInteger(limit) && limit > 0 && limit <= most)
  const { ceiling } = posture
  const isFine = isLimit(maxTokens, ceiling.maxTokens) && isLimit(maxToolCalls, ceiling.maxToolCalls) &&
    (timeoutSeconds === undefined || timeoutSeconds > 0)
  return isFine ? undefined : "InvalidInput"
}

// P2
const depth = (run: RunFacts, { plan }: Facts): ReadonlyArray<string> => {
  if (run.posture === undefined) return []
  const most = Math.min(run.posture.posture.maxDepth ?? Infinity, plan.postures?.maxDepth ?? 0)
  return when(run.row.depth > most, `${run.runId} is at depth ${run.row.depth} of ${most}`)
}

// P4: what the call says wins over the posture.
const budget = (what: string, child: RunFacts, call: Call): ReadonlyArray<string> => {
  const { maxTokens, maxToolCalls, timeoutSeconds } = argumentsOf(call) ?? { timeoutSeconds: undefined }
  const own = child.posture?.posture.budget
  const should = [
    maxTokens ?? own?.maxTokens,
    maxToolCalls ?? own?.maxToolCalls,
    timeoutSeconds === undefined ? own?.timeout : timeoutSeconds * 1000
  ]
  const { maxTokens: tokens, maxToolCalls: calls, timeout } = child.budget
  const is = [tokens, calls, timeout]
  return when(is.join() !== should.join(), `${what} may spend ${is.join()}, not ${should.join()}`)
}

interface Pair {
  readonly at: number
  readonly event: Extract<RunEvent.DurableEvent, { readonly _tag: "DelegateStart" | "DelegateComplete" }>
}

// The events of a pair that has no run.
const hitOf = ({ events, runs }: Facts, subSessionId: string): ReadonlyArray<Pair> =>
  runs.has(`${subSessionId}#0`) ?
    [] :
    events.flatMap(({ at, event }) =>
      (event._tag === "DelegateStart" || event._tag === "DelegateComplete") && event.subSessionId === subSessionId
        ? [{ at, event }]
        : []
    )

// P5, P6: a hit is told in the write of the call's record, has used nothing, and is the report of an equal success.
const equal = (
  what: string,
  run: RunFacts,
  call: Call,
  hit: ReadonlyArray<Pair>,
  facts: Facts
): ReadonlyArray<string> => {
  const [start, complete] = hit
  const record = run.records.get(`t/${call.key}`)
  const subSessionId = `${run.runId}/${call.key}`
  const isPair = hit.length === 2 && start?.event._tag === "DelegateStart" &&
    complete?.event._tag === "DelegateComplete" && complete.event.status === "cache_hit"
  const isAtOnce = record !== undefined && hit.every(({ at }) => at === record.at)
  if (!isPair || !isAtOnce || complete?.event._tag !== "DelegateComplete") {
    return [`${what} is a hit with ${hit.map(({ at, event }) => `${event._tag} at ${at}`).join()}`]
  }
  const { child, output: { value } } = JSON.parse(record.json)
  const { posture: name, postureVersion, tokensUsed, toolCallsUsed } = complete.event
  const agentId = `delegate/${name}/${subSessionId}`
  const works = facts.entries.some((entry) =>
    entry._tag === "Asked"
      ? entry.call.threadId === subSessionId
      : (entry._tag === "Entered" || entry._tag === "Effected") && entry.key.startsWith(`${subSessionId}#`)
  )
  const known = registeredAt(facts, record.at).postures.find((posture) => posture.name === argumentsOf(call)?.posture)
  return [
    ...when(works || child !== undefined || tokensUsed + toolCallsUsed > 0, `${what} is a hit that worked`),
    ...when(
      hit.some(({ event }) =>
        event.agentId !== agentId || event.depth !== run.row.depth + 1 || event.callerRunId !== run.runId
      ),
      `the pair of ${what} is by ${complete.event.agentId} at depth ${complete.event.depth}`
    ),
    ...when(
      known === undefined || Posture.version(known) !== postureVersion || known.name !== name,
      `${what} found a result of ${name} ${postureVersion}`
    ),
    ...when(
      ![...facts.runs.values()].some((other) =>
        known !== undefined && isEqual(other, known, run, call, record.at, facts) && gave(other, value)
      ),
      `${what} found a result that no equal call had given`
    )
  ]
}

const isEqual = (
  other: RunFacts,
  posture: Posture.Posture,
  run: RunFacts,
  call: Call,
  at: number,
  facts: Facts
): boolean => {
  const { context, task } = argumentsOf(call) ?? { context: undefined, task: "" }
  const [now, then] = [registeredAt(facts, at), registeredAt(facts, other.at)]
  const input = Json.canonical(context === undefined ? { task } : { task, context })
  const delegates = posture.allowedTools.includes("delegate")
  const isAsDeep = other.row.depth === run.row.depth + 1 && other.row.depthLeft === leftBelow(run, facts)
  return other.posture?.version === Posture.version(posture) &&
    Json.canonical(JSON.parse(other.row.input)) === input &&
    other.posture.tools.join() === CheckPostures.toolsOf(posture, now).join() &&
    (!delegates || (isAsDeep && JSON.stringify(now) === JSON.stringify(then))) &&
    other.settled.some((settled) => settled.at < at) &&
    other.events.some(({ event }) => event._tag === "DelegateComplete" && event.status === "success")
}

const leftBelow = ({ row }: RunFacts, { plan }: Facts): number =>
  Math.min((plan.postures?.maxDepth ?? 0) - row.depth - 1, row.depthLeft - 1)

const gave = (
  { settled: [settled] }: RunFacts,
  value: { readonly report?: Json.Json; readonly error?: { readonly reason: string } }
): boolean => {
  const outcome = JSON.parse(settled?.outcome ?? "{}")
  return value.error === undefined
    ? Json.canonical({ report: outcome.answer }) === Json.canonical({ ...value } as Json.Json)
    : value.error.reason === "ReportTooLarge"
}

// P2, P6: no pair and no refusal is told of what is no call.
const strays = ({ events, runs }: Facts): ReadonlyArray<string> =>
  events.flatMap(({ event }) => {
    if (event._tag !== "DelegateStart" && event._tag !== "DelegateComplete" && event._tag !== "DelegateRefused") {
      return []
    }
    const caller = runs.get(event._tag === "DelegateRefused" ? event.runId : event.callerRunId ?? "")
    const key = event._tag === "DelegateRefused" ? event.key : event.call?.key
    const isCall = caller !== undefined && callsOf(caller).some((call) => call.key === key && call.name === "delegate")
    return when(!isCall, `${event._tag} of ${event.runId} is of no call`)
  })

const when = (isWrong: boolean, problem: string): ReadonlyArray<string> => isWrong ? [problem] : []
