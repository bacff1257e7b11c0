/**
 * Requests that a model refused for good, and which messages their runs leave.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A run whose last request was refused for good leaves no messages on its
 *    thread, whatever settles it: with them, every later request of the thread
 *    would be refused too.
 * 2. The refusal is recorded before the run fails, so a run that is recovered
 *    and then settled before its model has answered is such a run as well.
 * 3. A response to the request ends that: what a model has read, its thread
 *    keeps.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import type { Message } from "../values/Message.ts"
import type { ModelErrorReason } from "../values/ModelError.ts"
import type { Failure, Settled } from "../values/RunOutcome.ts"
import { refusedKey, type ValueRecord } from "../values/RunRecord.ts"
import type { Drive } from "./Drive.ts"
import type { Records } from "./Journal.ts"
import * as Transcript from "./Transcript.ts"

/**
 * Records that the model refused the request of a step for good. Does nothing
 * for a failure that is not of the request.
 *
 * @category running
 * @since 0.1.0
 */
export const note = (
  { activeMillis, journal }: Drive,
  step: number,
  reason: ModelErrorReason
): Effect.Effect<void, Fenced | StoreError> => {
  const key = refusedKey(step)
  if (!isOfRequest(reason) || journal.records.values.has(key)) return Effect.void
  const noted: ValueRecord = { value: reason, activeMillis: activeMillis() }
  journal.records.values.set(key, noted)
  return journal.append({ records: [{ key, json: JSON.stringify(noted) }], events: [] })
}

/**
 * The messages that a run leaves on its thread when it settles. `failure` is
 * why the run was `Failed` until now.
 *
 * @category getters
 * @since 0.1.0
 */
export const keptMessages = (
  transcript: Transcript.Transcript,
  records: Records,
  outcome: Settled,
  failure?: Failure
): ReadonlyArray<Message> => {
  if (outcome._tag === "Blocked" || records.values.has(refusedKey(transcript.step))) return []
  // A run that failed before refusals were recorded says it in its failure.
  return failure?._tag === "ModelFailed" && isOfRequest(failure.reason) ? [] : Transcript.ownMessages(transcript)
}

// The same messages are refused again, whoever asks and whenever.
const isOfRequest = (reason: ModelErrorReason): boolean => ofRequest.has(reason)

const ofRequest: ReadonlySet<ModelErrorReason> = new Set([
  "content-filtered",
  "context-too-long",
  "invalid-request",
  "unsupported"
])
