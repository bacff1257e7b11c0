/**
 * A tree of agents for processes that are killed.
 *
 * A desk gives three tasks to subagents, two at a time. One of them delegates further, to a cashier that may pay only
 * when a person approves. Another one asks a person, after it has done something once. At every level there are plain
 * tools beside. So the story has three acts: the start, and one after each answer.
 */
import {
  AgentBuilder,
  Answer,
  Ids,
  type Interrupt,
  type ModelClient,
  type ModelResponse,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Ledger from "./Ledger.ts"

export const threadId = "t"

/** What the acts do when no process is killed, and how the thread stands after each. */
export const acts = ["run: Suspended", "resume: Suspended", "resume: Completed"]

const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })
const Pay = Tool.make("pay", {
  parameters: Schema.Struct({ euros: Schema.Int }),
  success: Schema.String,
  needsApproval: true
})
const Book = Tool.make("book", { success: Schema.String })

const Topic = Schema.Struct({ topic: Schema.String })
const Report = Schema.Struct({ facts: Schema.Array(Schema.String) })
const Days = Schema.Struct({ days: Schema.Int })

/** The agent of the story, which keeps its ledgers in a folder. */
export const agent = (folder: string): AgentBuilder.AgentBuilder<string> => {
  const enter = Effect.gen(function*() {
    yield* Effect.sleep(3)
    yield* Ledger.append(folder, "tools", yield* ToolContext.idempotencyKey)
    yield* Effect.sleep(1)
  })
  const note = { note: ({ text }: { readonly text: string }) => Effect.as(enter, `noted ${text}`) }
  const pay = { pay: ({ euros }: { readonly euros: number }) => Effect.as(enter, `paid ${euros}`) }
  const book = {
    book: Effect.fnUntraced(function*() {
      const key = yield* ToolContext.idempotencyKey
      const held = Ledger.append(folder, "effects", `${key}/hold`).pipe(
        Effect.delay(2),
        Effect.andThen(Effect.sleep(2)),
        Effect.as("held")
      )
      const hold = yield* ToolContext.once("hold", Schema.String, held)
      const { days } = yield* ToolContext.ask("For how long?", { answer: Days })
      yield* enter
      return `${hold} for ${days} days`
    })
  }
  const subagent = (id: string) => TypedAgent.make(id, { description: `Is ${id}`, input: Topic, report: Report })
  const cashier = subagent("cashier").withTools(Toolkit.make(Note, Pay), { ...note, ...pay })
  const lead = subagent("lead").withTools(Toolkit.make(Note), note).withSubagents([cashier])
  const agency = subagent("agency").withTools(Toolkit.make(Note, Book), { ...note, ...book })
  const scout = subagent("scout").withTools(Toolkit.make(Note), note)
  return AgentBuilder.make("desk").withTools(Toolkit.make(Note), note).withSubagents([lead, agency, scout], {
    maxConcurrentChildren: 2,
    maxDepth: 2
  })
}

type Call = readonly [tool: string, args: unknown]

const note = (text: string): Call => ["note", { text }]
const task = (id: string): Call => [`task_${id}`, { topic: "tides" }]
const report = (...facts: ReadonlyArray<string>): Call => ["submit_report", { facts }]

/** The calls of each step. Past the last step an agent answers with a text. */
const steps: { readonly [agent: string]: ReadonlyArray<ReadonlyArray<Call>> } = {
  desk: [[task("lead"), task("agency"), note("desk 0"), task("scout")], [note("desk 1"), note("desk 2")]],
  lead: [[note("lead 0"), task("cashier")], [note("lead 1")], [report("all is paid")]],
  cashier: [[note("cashier 0")], [note("cashier 1"), ["pay", { euros: 12 }]], [note("cashier 2")], [report("paid")]],
  agency: [[["book", {}], note("agency 0")], [note("agency 1")], [report("booked")]],
  scout: [[note("scout 0"), note("scout 1")], [note("scout 2")], [report("high tide at noon")]]
}

/** A model that answers by the step alone, so that a new process goes on where the old one was. */
export const model = (folder: string): ModelClient.ModelClient => ({
  provider: "test",
  modelId: "steps",
  generate: Effect.fnUntraced(function*(_request, { agentId, runId, step }) {
    yield* Ledger.append(folder, "models", `${runId}/${step}`)
    yield* Effect.sleep(3)
    return response(steps[agentId]?.[step], `${runId}/${step}`)
  })
})

const response = (calls: ReadonlyArray<Call> | undefined, id: string): ModelResponse.ModelResponse => {
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }
  if (calls === undefined) return { parts: [{ type: "text", text: "done" }], finishReason: "stop", usage }
  const parts = calls.map(([name, args], index) => ({
    type: "tool-call" as const,
    id: `${id}.${index}`,
    name,
    arguments: JSON.stringify(args)
  }))
  return { parts, finishReason: "tool-calls", usage }
}

/** What the person answers, and the line that the ledger has of it. */
export const answerTo = ({ id, request, run }: Interrupt.PendingInterrupt) => ({
  line: `${run.runId}/${Ids.split(id).interrupt}`,
  answer: request._tag === "Question" ? Answer.reply(id, Days, { days: 3 }) : Answer.approve(id)
})
