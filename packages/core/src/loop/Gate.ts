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
 * 4. What a person is shown is what runs: the form of the arguments is made
 *    once, recorded with the first decision, and used from then on, whatever
 *    the schema makes of the model's words by then. Arguments without such a
 *    form are refused where a person would be asked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Record } from "../service/RunRow.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as Ids from "../values/Ids.ts"
import type * as Json from "../values/Json.ts"
import type { ValueRecord } from "../values/RunRecord.ts"
import { type Branch, failed } from "./Branch.ts"
import type { Drive, LoopTool, ToolCall } from "./Drive.ts"
import * as Interrupts from "./Interrupts.ts"
import * as ShownArguments from "./ShownArguments.ts"

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
 * its result is. `args` are the call's, parsed. A call that passes runs with
 * the arguments that are given back.
 *
 * @category running
 * @since 0.1.0
 */
export const pass = Effect.fnUntraced(function*(
  drive: Drive,
  tool: LoopTool,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Branch | Pass, Fenced | StoreError> {
  const recorded = recordedForm(drive.journal.records, call.key)
  const formed = recorded !== undefined
    ? Result.succeed(recorded)
    : yield* ShownArguments.of(tool, args)
  const isInvalid = Result.isFailure(formed) && formed.failure._tag === "Invalid"
  // What does not decode never runs, so there is nothing to decide, and nothing to hold against it if it decodes later.
  if (isInvalid && !isBegun(drive.journal.records, call.key)) return { _tag: "Pass", arguments: args }
  const form: Form = {
    shown: Result.getOrElse(formed, () => args),
    toRecord: recorded === undefined && Result.isSuccess(formed) ? formed.success : undefined,
    hidden: Result.isFailure(formed) && !isInvalid ? formed.failure.issues : undefined
  }
  for (const gate of [approval, breakpoint, once]) {
    const passed = yield* gate(drive, tool, call, form)
    if (passed !== "pass") return passed
  }
  return { _tag: "Pass", arguments: form.shown }
})

/**
 * Lets a call run with these arguments.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pass {
  readonly _tag: "Pass"
  readonly arguments: Json.Json
}

type Passed = Branch | "pass"

// `toRecord`: the form, until a decision has recorded it. `hidden`: why there is none to show.
interface Form {
  readonly shown: Json.Json
  toRecord: Json.Json | undefined
  readonly hidden: ReadonlyArray<string> | undefined
}

type Records = Drive["journal"]["records"]

// Arguments that a person put in the place of the model's are in the call already, in their form.
const recordedForm = ({ answers, requests, values }: Records, call: Ids.CallKey): Json.Json | undefined => {
  const isEdited = answers.get(Ids.interruptId(call, "approval", 0))?._tag === "Edit"
  const stopped = requests.get(Ids.interruptId(call, "breakpoint", 0))?.request
  return (isEdited ? undefined : member(values.get(Interrupts.decisionKey(call))?.value, "arguments"))
    ?? (stopped?._tag === "Breakpoint" ? stopped.arguments : undefined)
    ?? member(values.get(Interrupts.breakpointKey(call))?.value, "arguments")
    ?? member(values.get(Interrupts.startKey(call, 0))?.value, "arguments")
}

const isBegun = ({ requests, values }: Records, call: Ids.CallKey): boolean =>
  values.has(Interrupts.decisionKey(call)) || values.has(Interrupts.breakpointKey(call)) ||
  values.has(Interrupts.startKey(call, 0)) || requests.has(Ids.interruptId(call, "breakpoint", 0))

const unshown = (issues: ReadonlyArray<string>): Branch => failed("ArgumentsNotShown", ShownArguments.message(issues))

const approval = Effect.fnUntraced(function*(
  drive: Drive,
  { needsApproval }: LoopTool,
  call: ToolCall,
  form: Form
): Effect.fn.Return<Passed, Fenced | StoreError> {
  if (needsApproval === undefined) return "pass"
  const { records } = drive.journal
  const id = Ids.interruptId(call.key, "approval", 0)
  const key = Interrupts.decisionKey(call.key)
  const decided = records.values.get(key)
  if (decided === undefined) {
    const isNeeded = yield* needsApproval(structuredClone(form.shown), call)
    if (isNeeded && form.hidden !== undefined) return unshown(form.hidden)
    yield* append(drive, [
      decision(drive, key, withForm({ approval: isNeeded }, form)),
      ...(isNeeded
        ? [Interrupts.ask(drive, id, { _tag: "Approval", tool: call.part.name, arguments: form.shown })]
        : [])
    ])
    return isNeeded ? waiting : "pass"
  }
  if (member(decided.value, "approval") !== true) return "pass"
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
  _tool: LoopTool,
  call: ToolCall,
  form: Form
): Effect.fn.Return<Passed, Fenced | StoreError> {
  const stopsAt = drive.agent.breakpoint
  if (stopsAt === undefined) return "pass"
  const { records } = drive.journal
  const id = Ids.interruptId(call.key, "breakpoint", 0)
  if (records.requests.has(id)) return records.answers.has(id) ? "pass" : waiting
  const key = Interrupts.breakpointKey(call.key)
  if (records.values.has(key)) return "pass"
  // The code of a policy or a breakpoint may change what it is given; what runs stays as it is.
  const stops = yield* stopsAt({ tool: call.part.name, arguments: structuredClone(form.shown) })
  if (stops && form.hidden !== undefined) return unshown(form.hidden)
  yield* append(drive, [
    stops
      ? Interrupts.ask(drive, id, { _tag: "Breakpoint", tool: call.part.name, arguments: form.shown })
      : decision(drive, key, withForm({ breakpoint: false }, form))
  ])
  return stops ? waiting : "pass"
})

// A start that is recorded without a result may have done its work: only a person can say what to do.
const once = Effect.fnUntraced(function*(
  drive: Drive,
  tool: LoopTool,
  call: ToolCall,
  form: Form
): Effect.fn.Return<Passed, Fenced | StoreError> {
  if (tool.isAtMostOnce !== true) return "pass"
  const { records } = drive.journal
  const entry = Interrupts.reentries(records, call.key)
  const start = Interrupts.startKey(call.key, entry)
  const asked = lastUncertain(records, call.key)
  const answer = asked === undefined ? undefined : records.answers.get(asked.id)
  if (answer?._tag === "Reject") return failed("Uncertain", `It is not known whether the tool ran: ${answer.reason}`)
  if (answer?._tag === "Reply") return given(answer.value)
  if (!records.values.has(start)) {
    // The start is where a person may have to be asked about it later.
    if (form.hidden !== undefined) return unshown(form.hidden)
    yield* append(drive, [decision(drive, start, form.toRecord === undefined ? true : withForm({}, form))])
    return "pass"
  }
  const id = Ids.interruptId(call.key, "uncertain", asked === undefined ? 0 : asked.n + 1)
  const shown = { _tag: "Uncertain", tool: call.part.name, arguments: form.shown } as const
  yield* append(drive, [Interrupts.ask(drive, id, shown)])
  return waiting
})

const withForm = (decided: { readonly [key: string]: Json.Json }, form: Form): Json.Json => {
  const { toRecord } = form
  form.toRecord = undefined
  return toRecord === undefined ? decided : { ...decided, arguments: toRecord }
}

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

const member = (decided: Json.Json | undefined, key: string): Json.Json | undefined =>
  Predicate.isObject(decided) && Object.hasOwn(decided, key)
    ? (decided as { readonly [key: string]: Json.Json })[key]
    : undefined
