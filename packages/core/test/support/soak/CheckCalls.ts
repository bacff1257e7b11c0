/** Tool calls: each with one result, and none twice after its record. */
import { Json, type Message } from "@mandate/core"
import { StrictRules } from "@mandate/testing"
import { callsOf, type Facts, type RunFacts, tagged } from "./Facts.ts"
import type { Played } from "./Play.ts"
import * as SoakTools from "./SoakTools.ts"

export const check = (facts: Facts, { history, violations }: Played): ReadonlyArray<string> => [
  ...violations.map(({ broken, call }) => `a request of ${call.runId} broke ${JSON.stringify(broken)}`),
  ...history.flatMap((run) => pairing(run.runId, run.messages)),
  ...[...facts.runs.values()].flatMap((run) => [
    ...run.doubles.map((key) => `${run.runId} recorded ${key} twice`),
    ...run.settled.flatMap(({ messages }) => pairing(run.runId, JSON.parse(messages))),
    ...executions(run, facts),
    ...requests(run),
    ...results(run)
  ])
]

const pairing = (runId: string, messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.length === 0 ? [] : StrictRules.check({ messages, tools: [], toolChoice: "auto", settings: {} }).map(
    ({ detail, rule }) => `the messages of ${runId} break ${rule}: ${detail}`
  )

const executions = (run: RunFacts, facts: Facts): ReadonlyArray<string> => {
  // A run that another process cancels a part of is lost to its own, as in a crash.
  const crashes = tagged(facts, "Died").length +
    (facts.plan.cancel?.from === "another process" ? tagged(facts, "Cancelling").length : 0)
  const counts = new Map<string, number>()
  return [
    ...run.entered.flatMap(({ args, at, callKey, tool }) => {
      const what = `${tool} of ${run.runId}/${callKey}`
      const entered = (counts.get(callKey) ?? 0) + 1
      counts.set(callKey, entered)
      const answers = answersOf(run, callKey).filter((answer) => answer.at < at)
      return [
        ...when((run.records.get(`t/${callKey}`)?.at ?? at) < at, `${what} ran after its record`),
        ...when(SoakTools.gated.has(tool) && !isApproved(answers, args, run, callKey), `${what} ran unapproved`),
        ...when(
          run.agent.breakpoints.includes(tool) && !answers.some(({ kind }) => kind === "breakpoint"),
          `${what} ran before it was told to proceed`
        ),
        ...when(
          SoakTools.atMostOnce.has(tool) && entered > 1 + answers.filter(({ kind }) => reenters.has(kind)).length,
          `${what} ran ${entered} times`
        )
      ]
    }),
    ...run.effected.flatMap(({ at, callKey, name }, index) => {
      const before = run.effected.slice(0, index).filter((other) => other.callKey === callKey && other.name === name)
      const what = `the effect ${name} of ${run.runId}/${callKey}`
      return [
        ...when((run.records.get(`s/${callKey}/${name}`)?.at ?? at) < at, `${what} happened after its record`),
        ...when(before.length > crashes, `${what} happened ${before.length + 1} times in ${crashes} crashes`)
      ]
    })
  ]
}

// A call is entered again with an answer to its question, and where a person says that it may run again.
const reenters = new Set(["question", "uncertain"])

const answersOf = (run: RunFacts, callKey: string) =>
  [...run.records].flatMap(([key, { at, json }]) => {
    const [call, kind = ""] = key.slice(2).split(":")
    return key.startsWith("a/") && call === callKey
      ? [{ at, kind: kind.replace(/\d+$/, ""), answer: JSON.parse(json) }]
      : []
  })

const isApproved = (
  answers: ReturnType<typeof answersOf>,
  args: unknown,
  run: RunFacts,
  callKey: string
): boolean => {
  const approval = answers.find(({ kind }) => kind === "approval")?.answer
  const asked = run.records.get(`i/${callKey}:approval0`)
  const shown = approval?._tag === "Edit"
    ? approval.arguments
    : approval?._tag === "Approve" && asked !== undefined
    ? JSON.parse(asked.json).request.arguments
    : undefined
  return shown !== undefined && Json.canonical(shown) === Json.canonical(args as Json.Json)
}

// A conversation only grows: what a model was shown once stays as it was shown.
const requests = (run: RunFacts): ReadonlyArray<string> => {
  const problems: Array<string> = []
  let last: ReadonlyArray<string> = []
  let step = -1
  for (const { call, request } of run.asked) {
    const messages = request.messages.filter(({ role }) => role !== "system").map((message) => JSON.stringify(message))
    const what = `step ${call.step} of ${run.runId}`
    if (call.step < step) problems.push(`${what} was asked for after step ${step}`)
    if (last.some((message, index) => message !== messages[index])) problems.push(`${what} was shown another past`)
    if (call.step === step && last.length !== messages.length) problems.push(`${what} was asked differently`)
    last = messages
    step = call.step
  }
  const [settled] = run.settled
  if (settled === undefined || JSON.parse(settled.outcome)._tag === "Blocked") return problems
  const left = JSON.parse(settled.messages).map((message: unknown) => JSON.stringify(message))
  // What asks for an answer again stays only if it was answered.
  const kept = last.length > left.length ? last.slice(0, -1) : last
  if (kept.some((message, index) => message !== left[index])) problems.push(`${run.runId} left another past`)
  return problems
}

// A result that was recorded is what the messages hold.
const results = (run: RunFacts): ReadonlyArray<string> => {
  const [settled] = run.settled
  if (settled === undefined || JSON.parse(settled.outcome)._tag === "Blocked") return []
  const messages: ReadonlyArray<Message.Message> = JSON.parse(settled.messages)
  const parts = new Map(
    messages.flatMap((message) => message.role === "tool" ? message.content : []).map((part) => [part.id, part])
  )
  return callsOf(run).flatMap(({ id, key }) => {
    const part = parts.get(id)
    const record = run.records.get(`t/${key}`)
    if (part === undefined) return [`the call ${run.runId}/${key} has no result`]
    return record !== undefined && Json.canonical(JSON.parse(record.json).output) !== Json.canonical(part.output)
      ? [`the result of ${run.runId}/${key} is not what was recorded`]
      : []
  })
}

const when = (isWrong: boolean, problem: string): ReadonlyArray<string> => isWrong ? [problem] : []
