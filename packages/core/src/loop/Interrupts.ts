/**
 * What the calls of a run wait on, from the run's records.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A request (`i/<id>`) and its answer (`a/<id>`) are recorded once each. A
 *    request without an answer is open, and its call waits.
 * 2. Ids count within a call, so they are the same on every drive.
 * 3. Whether a call needs approval is decided once (`d/<call key>`), on the form
 *    of its arguments that is shown; what runs is that form, or what the answer
 *    put in its place.
 *
 * @since 0.1.0
 */
import type { Record } from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"
import type { InterruptRequest } from "../values/Interrupt.ts"
import * as Json from "../values/Json.ts"
import type { AssistantPart, ToolCallPart } from "../values/Message.ts"
import type { InterruptRecord, StepRecord } from "../values/RunRecord.ts"
import type { Drive } from "./Drive.ts"
import type { Records } from "./Journal.ts"

/**
 * Key of the request of an interrupt.
 *
 * @category constructors
 * @since 0.1.0
 */
export const requestKey = (id: string): string => `i/${id}`

/**
 * Key of the answer to an interrupt.
 *
 * @category constructors
 * @since 0.1.0
 */
export const answerKey = (id: string): string => `a/${id}`

/**
 * Key of what was decided before a call ran.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decisionKey = (call: Ids.CallKey): string => `d/${call}`

/**
 * Key of the decision that no breakpoint stands before a call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const breakpointKey = (call: Ids.CallKey): string => `d/${call}/breakpoint`

/**
 * Key of the `n`th start of a call that must not run twice.
 *
 * @category constructors
 * @since 0.1.0
 */
export const startKey = (call: Ids.CallKey, n: number): string => `d/${call}/start${n}`

/**
 * Puts a request among the records of a drive, and gives the record to append.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ask = (
  { activeMillis, journal, now }: Drive,
  id: Ids.InterruptId,
  request: InterruptRequest
): Record => {
  const asked: InterruptRecord = { request, askedAt: now(), activeMillis: activeMillis() }
  journal.records.requests.set(id, asked)
  return { key: requestKey(id), json: JSON.stringify(asked) }
}

/**
 * An open interrupt of a run, under the id the run gives it.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenInterrupt extends InterruptRecord {
  readonly id: Ids.InterruptId
  readonly call: Ids.CallKey
}

/**
 * The open interrupts of a run, in call order.
 *
 * @category getters
 * @since 0.1.0
 */
export const open = ({ answers, requests }: Records): ReadonlyArray<OpenInterrupt> =>
  [...requests]
    .filter(([id]) => !answers.has(id))
    .map(([id, asked]) => ({ ...asked, id, call: Ids.callOf(id) }))
    .sort((a, b) => Ids.compareCalls(a.call, b.call))

/**
 * Whether a call waits.
 *
 * @category getters
 * @since 0.1.0
 */
export const isOpen = ({ answers, requests }: Records, call: Ids.CallKey): boolean => {
  for (const id of requests.keys()) if (!answers.has(id) && Ids.callOf(id) === call) return true
  return false
}

/**
 * Number of answers that let the handler of a call be entered again: to its
 * questions, and to whether it may run once more.
 *
 * @category getters
 * @since 0.1.0
 */
export const reentries = ({ answers }: Records, call: Ids.CallKey): number =>
  [...answers.keys()].filter((id) => id.startsWith(`${call}:question`) || id.startsWith(`${call}:uncertain`)).length

/**
 * A step as it goes on after answers: arguments that were edited are shown in
 * place of those the model wrote, everywhere. The id that a provider gave the
 * item of such a call goes, so that it does not restore the old ones. All else
 * stays: without its signatures a provider refuses the message.
 *
 * @category combinators
 * @since 0.1.0
 */
export const edited = (record: StepRecord, step: number, records: Records): StepRecord => {
  if (records.answers.size === 0) return record
  let index = -1
  let hasEdit = false
  const parts = record.response.parts.map((part): AssistantPart => {
    if (part.type !== "tool-call" || part.providerExecuted === true) return part
    index++
    const given = records.answers.get(Ids.interruptId(Ids.callKey(step, index), "approval", 0))
    if (given?._tag !== "Edit") return part
    hasEdit = true
    return withoutItemId({ ...part, arguments: Json.canonical(given.arguments) })
  })
  return hasEdit ? { ...record, response: { ...record.response, parts } } : record
}

// An id of the provider's own item is the only thing through which it could restore the arguments.
const withoutItemId = (part: ToolCallPart): ToolCallPart => {
  if (part.providerMetadata === undefined) return part
  const { providerMetadata, ...rest } = part
  const kept = Object.entries(providerMetadata).flatMap(([provider, metadata]): Array<[string, Json.Json]> => {
    if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return [[provider, metadata]]
    const left = Object.entries(metadata).filter(([key]) => !itemIds.has(key))
    return left.length === 0 ? [] : [[provider, Object.fromEntries(left)]]
  })
  return kept.length === 0 ? rest : { ...rest, providerMetadata: Object.fromEntries(kept) }
}

const itemIds = new Set(["itemId", "item_id"])
