/**
 * Whether a call may run now: approvals, and calls that must not run twice.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as Ids from "../values/Ids.ts"
import type { InterruptRequest } from "../values/Interrupt.ts"
import type * as Json from "../values/Json.ts"
import { type Branch, failed } from "./Branch.ts"
import type { Drive, LoopTool, ToolCall } from "./Drive.ts"
import * as Interrupts from "./Interrupts.ts"

/**
 * Passes a call on, or ends its branch: it waits, or a person has decided what
 * its result is.
 *
 * **Details**
 *
 * `arguments` are the call's, parsed. The decision is recorded before the call
 * runs, so that a restart does not ask the policy again.
 *
 * @category running
 * @since 0.1.0
 */
export const pass = (
  drive: Drive,
  tool: LoopTool,
  call: ToolCall,
  args: Json.Json
): Effect.Effect<Branch | "pass", Fenced | StoreError> =>
  Effect.flatMap(
    tool.needsApproval === undefined
      ? Effect.succeed("pass" as const)
      : approval(drive, tool.needsApproval, call, args),
    (passed) => passed === "pass" && tool.isAtMostOnce === true ? once(drive, call, args) : Effect.succeed(passed)
  )

const approval = Effect.fnUntraced(function*(
  drive: Drive,
  needsApproval: NonNullable<LoopTool["needsApproval"]>,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Branch | "pass", Fenced | StoreError> {
  const { journal } = drive
  const id = Ids.interruptId(call.key, "approval", 0)
  const decided = journal.records.values.get(Interrupts.decisionKey(call.key))
  if (decided === undefined) {
    const isNeeded = yield* needsApproval(args, call)
    yield* record(drive, [
      { key: Interrupts.decisionKey(call.key), value: { approval: isNeeded } },
      ...(isNeeded ? [request(id, { _tag: "Approval", tool: call.part.name, arguments: args })] : [])
    ])
    return isNeeded ? { _tag: "Waiting" } : "pass"
  }
  if (!isTrue(decided, "approval")) return "pass"
  const answer = Interrupts.answer(journal.records, id)
  switch (answer?._tag) {
    case "Approve":
    case "Edit":
      return "pass"
    case "Reject":
      return failed("Rejected", answer.reason)
    default:
      return { _tag: "Waiting" }
  }
})

// A start that is recorded without a result may have done its work: only a person can say what to do.
const once = Effect.fnUntraced(function*(
  drive: Drive,
  call: ToolCall,
  args: Json.Json
): Effect.fn.Return<Branch | "pass", Fenced | StoreError> {
  const { records } = drive.journal
  const entry = Interrupts.reentries(records, call.key)
  const start = Interrupts.startKey(call.key, entry)
  const asked = lastUncertain(records, call.key)
  const answer = asked === undefined ? undefined : Interrupts.answer(records, asked.id)
  if (answer?._tag === "Reject") return failed("Uncertain", `It is not known whether the tool ran: ${answer.reason}`)
  if (answer?._tag === "Reply") return given(answer.value)
  if (!records.values.has(start)) {
    yield* record(drive, [{ key: start, value: true }])
    return "pass"
  }
  const id = Ids.interruptId(call.key, "uncertain", asked === undefined ? 0 : asked.n + 1)
  yield* record(drive, [request(id, { _tag: "Uncertain", tool: call.part.name, arguments: args })])
  return { _tag: "Waiting" }
})

const lastUncertain = (records: Drive["journal"]["records"], call: Ids.CallKey) => {
  let last: { readonly id: Ids.InterruptId; readonly n: number } | undefined
  for (let n = 0;; n++) {
    const id = Ids.interruptId(call, "uncertain", n)
    if (!records.values.has(Interrupts.requestKey(id))) return last
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

const request = (id: Ids.InterruptId, asked: InterruptRequest) => ({
  key: Interrupts.requestKey(id),
  value: asked as unknown as Json.Json
})

const record = (drive: Drive, values: ReadonlyArray<{ readonly key: string; readonly value: Json.Json }>) => {
  for (const { key, value } of values) drive.journal.records.values.set(key, value)
  return drive.journal.append({
    records: values.map(({ key, value }) => ({ key, json: JSON.stringify(value) })),
    events: []
  })
}

const isTrue = (decided: Json.Json, key: string): boolean =>
  typeof decided === "object" && decided !== null && !Array.isArray(decided) &&
  (decided as { readonly [key: string]: Json.Json })[key] === true
