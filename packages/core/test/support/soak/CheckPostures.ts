/** Runs of postures: what each is made of, from its start to its end, and the pair of events around it. */
import { Json, Posture, Usage } from "@mandate/core"
import { Schema } from "effect"
import { eventsOf, type Facts, type PostureFacts, registeredAt, type RunFacts } from "./Facts.ts"
import type { Registered } from "./Process.ts"

export const check = (facts: Facts): ReadonlyArray<string> =>
  [...facts.runs.values()].flatMap((run) =>
    run.posture === undefined ? [] : [
      ...version(run, run.posture, facts),
      ...tools(run, run.posture, facts),
      ...pair(run, run.posture, facts),
      ...end(run, run.posture),
      ...message(run, facts)
    ]
  )

// P1: the posture is that of the registry when the run started, and stays so.
const version = (run: RunFacts, { posture, version }: PostureFacts, facts: Facts): ReadonlyArray<string> => {
  const known = registeredAt(facts, run.at).postures.find(({ name }) => name === posture.name)
  return [
    ...when(known === undefined || Posture.version(known) !== version, `${run.runId} started by another posture`),
    ...when(Posture.version(posture) !== version, `${run.runId} has ${Posture.version(posture)} as ${version}`),
    ...run.asked.flatMap(({ call, request }) => {
      const [first] = request.messages
      return when(
        first?.role !== "system" || first.content !== posture.instructions,
        `step ${call.step} of ${run.runId} was asked by other instructions`
      )
    })
  ]
}

// P3: what a run may have is fixed when it starts, and what of it is gone is not offered and does not run.
const tools = (run: RunFacts, made: PostureFacts, facts: Facts): ReadonlyArray<string> => {
  const { posture: { allowedTools, report }, tools } = made
  return [
    ...differs(`tools of ${run.runId}`, tools, toolsOf(made.posture, registeredAt(facts, run.at))),
    ...run.asked.flatMap(({ at, call, request }) => {
      const now = registeredAt(facts, at)
      const delegates = allowedTools.includes("delegate") && now.postures.length > 0
      const should = [
        ...(delegates ? ["delegate"] : []),
        ...tools.filter((name) => now.tools.includes(name)),
        ...(report === undefined ? [] : ["submit_report"])
      ]
      const are = request.tools.map(({ name }) => name)
      return differs(`offer of step ${call.step} of ${run.runId}`, [...are].sort(), should.sort())
    }),
    ...run.entered.flatMap(({ at, callKey, tool }) =>
      when(
        !tools.includes(tool) || !registeredAt(facts, at).tools.includes(tool),
        `${tool} of ${run.runId}/${callKey} is none of its tools`
      )
    )
  ]
}

/** Names of the tools that a run of a posture gets when it starts. */
export const toolsOf = ({ allowedTools }: Posture.Posture, { tools }: Registered): ReadonlyArray<string> =>
  tools.filter((name) => allowedTools.length === 0 || allowedTools.includes(name)).sort()

// P6: one start before all else of the run, one complete after it, both in the writes that start and settle it.
const pair = (run: RunFacts, { posture, version }: PostureFacts, facts: Facts): ReadonlyArray<string> => {
  const tags = run.events.map(({ event }) => event._tag)
  const [start] = eventsOf(run, "DelegateStart")
  const [complete] = eventsOf(run, "DelegateComplete")
  const first = run.events[0]?.event
  const last = run.events.at(-1)?.event
  const ends = facts.events.filter(({ event }) =>
    (event._tag === "DelegateStart" || event._tag === "DelegateComplete") && event.subSessionId === run.row.threadId
  )
  const agentId = `delegate/${posture.name}/${run.row.threadId}`
  return [
    ...when(ends.length !== 2, `${run.runId} has ${ends.length} events of its pair`),
    ...when(
      first?._tag !== "DelegateStart" || tags[1] !== "RunStarted" || start?.at !== run.at,
      `${run.runId} starts with ${tags.slice(0, 2).join()}`
    ),
    ...when(
      last?._tag !== "DelegateComplete" || tags.at(-2) !== "RunSettled" || complete?.at !== run.settled[0]?.at,
      `${run.runId} ends with ${tags.slice(-2).join()}`
    ),
    ...[start, complete].flatMap((one) =>
      one === undefined ? [] : when(
        one.event.posture !== posture.name || one.event.postureVersion !== version ||
          one.event.callerRunId !== run.row.parentRunId,
        `the ${one.event._tag} of ${run.runId} is of ${one.event.posture} ${one.event.postureVersion}`
      )
    ),
    ...run.events.flatMap(({ event }) =>
      when(
        event.agentId !== agentId || event.depth !== run.row.depth,
        `${event._tag} of ${run.runId} is by ${event.agentId} at depth ${event.depth}`
      )
    )
  ]
}

// P4: what a budget that was crossed gives, and what of the run its complete tells.
const end = (run: RunFacts, { posture }: PostureFacts): ReadonlyArray<string> => {
  const [settled] = run.settled
  const [complete] = eventsOf(run, "DelegateComplete")
  if (settled === undefined || complete === undefined) return []
  const outcome = JSON.parse(settled.outcome)
  const { own } = decodeUsage(settled.usage)
  const { status, tokensUsed, toolCallsUsed } = complete.event
  const should = statusOf(run, outcome, own)
  return [
    ...when(status !== should, `${run.runId} completed as ${status}, not ${should}`),
    ...when(
      tokensUsed !== own.inputTokens + own.outputTokens || toolCallsUsed !== own.toolCalls,
      `${run.runId} completed with ${tokensUsed} tokens and ${toolCallsUsed} calls, and used ${JSON.stringify(own)}`
    ),
    ...when(
      outcome.said !== undefined && (posture.report !== undefined || outcome.said !== lastText(settled.messages)),
      `${run.runId} said ${JSON.stringify(outcome.said)}`
    )
  ]
}

const statusOf = (
  { budget: { maxTokens = Infinity } }: RunFacts,
  outcome: { readonly _tag: string; readonly limit?: string },
  { inputTokens, outputTokens }: Usage.Usage
): string => {
  if (outcome._tag === "Cancelled") return "cancelled"
  if (outcome._tag === "BudgetExceeded") return outcome.limit === "time" ? "timeout" : "partial"
  if (outcome._tag !== "Completed") return "error"
  return inputTokens + outputTokens > maxTokens ? "partial" : "success"
}

const lastText = (messages: string): string => {
  const last = JSON.parse(messages).findLast(({ content, role }: Said) =>
    role === "assistant" && content.some(({ text, type }) => type === "text" && text !== "")
  )
  return (last?.content ?? []).flatMap(({ text, type }: Said["content"][number]) => type === "text" ? [text] : []).join(
    ""
  )
}

interface Said {
  readonly role: string
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
}

// P4: a caller's model reads a whole report or why there is none, and no text of a run that came to no end.
const message = ({ row, runId, settled: [settled] }: RunFacts, { runs }: Facts): ReadonlyArray<string> => {
  const caller = runs.get(row.parentRunId ?? "")
  const record = caller?.records.get(`t/${row.callKey}`)
  if (settled === undefined || record === undefined) return []
  const { child, isError, output: { value } } = JSON.parse(record.json)
  const outcome = JSON.parse(settled.outcome)
  const reason = value.error?.reason
  return [
    ...when(child?.runId !== runId, `the result of ${runId} does not name it`),
    ...when(settled.at > record.at, `the result of ${runId} was recorded before its end`),
    ...outcome._tag !== "Completed"
      ? when(!isError || reason !== outcome._tag, `the result of ${runId} is ${reason}, not ${outcome._tag}`)
      : when(
        isError ? reason !== "ReportTooLarge" : Json.canonical(value) !== Json.canonical({ report: outcome.answer }),
        `the result of ${runId} is not its report`
      )
  ]
}

const decodeUsage = Schema.decodeUnknownSync(Schema.fromJsonString(Usage.RunUsage))

const differs = (what: string, are: ReadonlyArray<string>, should: ReadonlyArray<string>): ReadonlyArray<string> =>
  when(are.join() !== should.join(), `the ${what}: ${are.join()}, not ${should.join()}`)

const when = (isWrong: boolean, problem: string): ReadonlyArray<string> => isWrong ? [problem] : []
