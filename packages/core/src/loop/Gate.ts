/**
 * Whether a call may run now: approvals, breakpoints, and calls that must not
 * run twice.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. What could be decided otherwise a second time is recorded before the call
 *    runs (`d/`): no policy and no breakpoint is asked again.
 * 2. Decisions come in one order: approval, then breakpoint, then the start of
 *    a call that must not run twice. Each waits by itself, so a call has at
 *    most one open interrupt.
 * 3. A policy or a breakpoint that fails lets nothing pass.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Record } from "../service/RunRow.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as Ids from "../values/Ids.ts"
import type * as Json from "../values/Json.ts"
import type { ValueRecord } from "../values/RunRecord.ts"
import { type Branch, failed } from "./Branch.ts"
import type { Drive, LoopTool, ToolCall } from "./Drive.ts"
import * as Interrupts from "./Interrupts.ts"

/**
 * Whether a call of a tool has to pass anything at all.
 *
 * @category getters
 * @since 0.1.0
 */
export const stands = ({ agent }: Drive, tool: LoopTool): boolean =>
  tool.needsApproval !== undefined || tool.isAtMostOnce === true || agent.breakpoint !== undefined

/**
 * Passes a call on, or ends its branch: it waits, or a person has decided what
 * its result is. `args` are the call's, parsed.
 *
 * @category running
 * @since 0.1.0
 */
export const pass = Effect.fnUntraced(function*(
  drive: Drive,
  tool: LoopTool,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Passed, Fenced | StoreError> {
  if (tool.needsApproval !== undefined) {
    const passed = yield* approval(drive, tool.needsApproval, call, args)
    if (passed !== "pass") return passed
  }
  if (drive.agent.breakpoint !== undefined) {
    const passed = yield* breakpoint(drive, drive.agent.breakpoint, tool, call, args)
    if (passed !== "pass") return passed
  }
  return tool.isAtMostOnce === true ? yield* once(drive, call, args) : "pass"
})

type Passed = Branch | "pass"

const approval = Effect.fnUntraced(function*(
  drive: Drive,
  needsApproval: NonNullable<LoopTool["needsApproval"]>,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Passed, Fenced | StoreError> {
  const { records } = drive.journal
  const id = Ids.interruptId(call.key, "approval", 0)
  const key = Interrupts.decisionKey(call.key)
  const decided = records.values.get(key)
  if (decided === undefined) {
    const isNeeded = yield* needsApproval(args, call)
    yield* append(drive, [
      decision(drive, key, { approval: isNeeded }),
      ...(isNeeded ? [Interrupts.ask(drive, id, { _tag: "Approval", tool: call.part.name, arguments: args })] : [])
    ])
    return isNeeded ? waiting : "pass"
  }
  if (!isTrue(decided.value, "approval")) return "pass"
  const answer = records.answers.get(id)
  switch (answer?._tag) {
    case "Approve":
    case "Edit":
      return "pass"
    case "Reject":
      return failed("Rejected", answer.reason)
    default:
      return waiting
  }
})

const breakpoint = Effect.fnUntraced(function*(
  drive: Drive,
  stopsAt: NonNullable<Drive["agent"]["breakpoint"]>,
  tool: LoopTool,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Passed, Fenced | StoreError> {
  const { records } = drive.journal
  const id = Ids.interruptId(call.key, "breakpoint", 0)
  if (records.requests.has(id)) return records.answers.has(id) ? "pass" : waiting
  const key = Interrupts.breakpointKey(call.key)
  if (records.values.has(key)) return "pass"
  // What does not decode never runs, so there is nothing to stop before.
  const issues = tool.checkArguments === undefined ? [] : yield* tool.checkArguments(args)
  const stops = issues.length === 0 && (yield* stopsAt({ tool: call.part.name, arguments: args }))
  yield* append(drive, [
    stops
      ? Interrupts.ask(drive, id, { _tag: "Breakpoint", tool: call.part.name, arguments: args })
      : decision(drive, key, { breakpoint: false })
  ])
  return stops ? waiting : "pass"
})

// A start that is recorded without a result may have done its work: only a person can say what to do.
const once = Effect.fnUntraced(function*(
  drive: Drive,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Passed, Fenced | StoreError> {
  const { records } = drive.journal
  const entry = Interrupts.reentries(records, call.key)
  const start = Interrupts.startKey(call.key, entry)
  const asked = lastUncertain(records, call.key)
  const answer = asked === undefined ? undefined : records.answers.get(asked.id)
  if (answer?._tag === "Reject") return failed("Uncertain", `It is not known whether the tool ran: ${answer.reason}`)
  if (answer?._tag === "Reply") return given(answer.value)
  if (!records.values.has(start)) {
    yield* append(drive, [decision(drive, start, true)])
    return "pass"
  }
  const id = Ids.interruptId(call.key, "uncertain", asked === undefined ? 0 : asked.n + 1)
  yield* append(drive, [Interrupts.ask(drive, id, { _tag: "Uncertain", tool: call.part.name, arguments: args })])
  return waiting
})

const lastUncertain = (records: Drive["journal"]["records"], call: Ids.CallKey) => {
  let last: { readonly id: Ids.InterruptId; readonly n: number } | undefined
  for (let n = 0;; n++) {
    const id = Ids.interruptId(call, "uncertain", n)
    if (!records.requests.has(id)) return last
    last = { id, n }
  }
}

const given = (value: Json.Json): Branch => ({
  _tag: "Done",
  result: {
    output: typeof value === "string" ? { type: "text", value } : { type: "json", value },
    isError: false
  }
})

const waiting: Branch = { _tag: "Waiting" }

const decision = ({ activeMillis, journal }: Drive, key: string, value: Json.Json): Record => {
  const decided: ValueRecord = { value, activeMillis: activeMillis() }
  journal.records.values.set(key, decided)
  return { key, json: JSON.stringify(decided) }
}

const append = ({ journal }: Drive, records: ReadonlyArray<Record>) => journal.append({ records, events: [] })

const isTrue = (decided: Json.Json, key: string): boolean =>
  typeof decided === "object" && decided !== null && !Array.isArray(decided) &&
  (decided as { readonly [key: string]: Json.Json })[key] === true
