/**
 * How often a run has made one and the same call.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Two calls are the same when they name one tool and their arguments have
 *    one canonical JSON. What is not JSON is compared as text.
 * 2. Counted are the calls of recorded responses as the model wrote them, edits
 *    aside, so every drive of a run counts the same.
 * 3. A call over the bound is an error first. Only a response that makes it
 *    again, after its model was sent that error, ends the run.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Json from "../values/Json.ts"
import { type ToolCallPart, toolCalls } from "../values/Message.ts"
import type { StepRecord } from "../values/RunRecord.ts"
import { decodeText } from "./HandlerTool.ts"

/**
 * The calls of a run so far, with how often each was made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repeats {
  readonly maxRepeats: number
  readonly counts: Map<string, number>
}

/**
 * What is found of the calls of one response: which of them are over the bound,
 * by index, and a tool of which one was over it before.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repeated {
  readonly isOver: (index: number) => boolean
  readonly stuckOn: string | undefined
}

/**
 * Starts to count; nothing where there is no bound.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (maxRepeats: number | undefined): Repeats | undefined =>
  maxRepeats === undefined ? undefined : { maxRepeats, counts: new Map() }

/**
 * Counts the calls of a response. Those that the response starts count, and no
 * others: not those of one that was cut or refused.
 *
 * @category combinators
 * @since 0.1.0
 */
export const add = (self: Repeats | undefined, { response, verdict }: StepRecord): Repeated => {
  if (self === undefined || verdict._tag !== "Calls") return none
  const { counts, maxRepeats } = self
  const calls = toolCalls(response.parts).map((part) => ({ name: part.name, key: keyOf(part) }))
  const stuckOn = calls.find(({ key }) => (counts.get(key) ?? 0) > maxRepeats)?.name
  const over = new Set<number>()
  calls.forEach(({ key }, index) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count > maxRepeats) over.add(index)
  })
  return over.size === 0 ? none : { isOver: (index) => over.has(index), stuckOn }
}

const none: Repeated = { isOver: () => false, stuckOn: undefined }

const keyOf = ({ arguments: text, name }: ToolCallPart): string =>
  `${name}\n${Result.match(decodeText(text), { onFailure: () => text, onSuccess: Json.canonical })}`
