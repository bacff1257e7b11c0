/**
 * The journal of one drive: what was recorded before, and the way to record
 * more.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. What was recorded is never asked for again: not from a model, not from a
 *    tool.
 * 2. Every write is fenced. A drive that lost its run writes nothing, and its
 *    value is dropped.
 * 3. Durable events are published only after their transaction.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type { Mandate } from "../service/Mandate.ts"
import type { ClosedRun, Events, Fence, Record, Settlement, Stopped } from "../service/RunRow.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import { Answer } from "../values/Answer.ts"
import * as Ids from "../values/Ids.ts"
import type { DurableEvent, LiveEvent, NewEvent, Origin } from "../values/RunEvent.ts"
import {
  contextKey,
  filesKey,
  FilesRecord,
  InterruptRecord,
  ResultRecord,
  type StartRecords,
  stepKey,
  StepRecord,
  ValueRecord
} from "../values/RunRecord.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import * as Usage from "../values/Usage.ts"

/**
 * Records of a run, decoded.
 *
 * **Details**
 *
 * - `start`: what the run was started with, beside its row
 * - `steps`, `results`: by their whole key, model responses and results of
 *   calls
 * - `requests`, `answers`: by the id of their interrupt, what calls wait or
 *   waited on, and what was answered
 * - `values`: by their whole key, all others
 *
 * @category models
 * @since 0.1.0
 */
export interface Records {
  readonly start: StartRecords
  readonly steps: Map<string, StepRecord>
  readonly results: Map<string, ResultRecord>
  readonly requests: Map<Ids.InterruptId, InterruptRecord>
  readonly answers: Map<Ids.InterruptId, Answer>
  readonly values: Map<string, ValueRecord>
}

/**
 * The journal of one drive.
 *
 * @category models
 * @since 0.1.0
 */
export interface Journal {
  readonly fence: Fence
  readonly records: Records

  /** Appends records, with what belongs into the same transaction. */
  readonly append: (batch: {
    readonly records: ReadonlyArray<Record>
    readonly events: ReadonlyArray<NewEvent>
    readonly close?: ReadonlyArray<ClosedRun & { readonly runId: string }>
    readonly keepChildren?: number
  }) => Effect.Effect<void, Fenced | StoreError>

  /** Marks the run failed. `usage` is that of failed attempts, as JSON. */
  readonly fail: (
    to: Stopped & { readonly outcome: string },
    events: ReadonlyArray<NewEvent>
  ) => Effect.Effect<void, Fenced | StoreError>

  /**
   * Marks the run suspended, if no call has ended that waited. `usage` is that of
   * failed attempts, as JSON. Gives whether it is.
   */
  readonly suspend: (
    to: Stopped,
    events: ReadonlyArray<NewEvent>
  ) => Effect.Effect<boolean, Fenced | StoreError>

  /** Settles the run. */
  readonly settle: (
    settlement: Settlement,
    events: ReadonlyArray<NewEvent>,
    keepChildren: number
  ) => Effect.Effect<void, Fenced | StoreError>

  /** Publishes a live event, if anybody watches. */
  readonly emit: (event: () => LiveEvent) => void
}

/**
 * The journal of a drive that holds `fence`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (runtime: Mandate["Service"], origin: Origin, fence: Fence, records: Records): Journal => {
  const { events: published, store } = runtime
  const after = (events: ReadonlyArray<NewEvent>) => (sequence: number) => {
    if (!published.isWatched(origin.rootThreadId)) return
    published.publish(origin.rootThreadId, numbered(events, sequence))
  }
  return {
    fence,
    records,
    append: (batch) => Effect.map(store.append(fence, { ...batch, events: encode(batch.events) }), after(batch.events)),
    fail: (to, events) => Effect.map(store.fail(fence, to, encode(events)), after(events)),
    suspend: (to, events) =>
      Effect.map(store.suspend(fence, to, encode(events)), (sequence) => {
        if (sequence !== undefined) after(events)(sequence)
        return sequence !== undefined
      }),
    settle: (settlement, events, keepChildren) =>
      Effect.map(store.settle(fence, settlement, encode(events), keepChildren), after(events)),
    emit: (event) => {
      if (published.isWatched(origin.rootThreadId)) published.publish(origin.rootThreadId, [event()])
    }
  }
}

/**
 * Records of a run that has none yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty = (): Records => ({
  start: {},
  steps: new Map(),
  results: new Map(),
  requests: new Map(),
  answers: new Map(),
  values: new Map()
})

/**
 * Decodes stored records. Fails with the key of the first one that cannot be
 * read, and what is wrong with it.
 *
 * **Details**
 *
 * Whatever is recorded of a step needs the response it belongs to: another one
 * asked for in its place would get the answers that people gave to this one. A
 * refused request needs the responses before it alone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = (stored: ReadonlyArray<Record>): Result.Result<Records, string> => {
  const records = empty()
  const start: Types.Mutable<StartRecords> = {}
  let last = -1
  for (const { json, key } of stored) {
    const read = decodeStart(start, key, json)
    if (read !== undefined) {
      if (Result.isFailure(read)) return Result.fail(`record ${key}: ${SchemaIssues.lines(read.failure).join("; ")}`)
      continue
    }
    const decoded = decodeInto(records, key, json)
    if (Result.isFailure(decoded)) return Result.fail(`record ${key}: ${decoded.failure}`)
    const step = stepOf(key)
    if (step === undefined) return Result.fail(`record ${key}: its key is none that a record has`)
    last = Math.max(last, step)
  }
  for (let step = 0; step <= last; step++) {
    if (!records.steps.has(stepKey(step))) return Result.fail(`record ${stepKey(step)}: it is missing`)
  }
  return Result.succeed({ ...records, start })
}

// Nothing for a record of another kind.
const decodeStart = (
  start: Types.Mutable<StartRecords>,
  key: string,
  json: string
): Result.Result<unknown, Schema.SchemaError> | undefined => {
  switch (key) {
    case filesKey:
      return Result.map(decodeFiles(json), (files) => start.files = files)
    case contextKey:
      return Result.map(decodeContext(json), (context) => start.context = context)
    default:
      return undefined
  }
}

/**
 * Events as a store takes them. The pair of a delegated run is kept with the
 * run of its caller, which outlives it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const encode = (events: ReadonlyArray<NewEvent>): Events =>
  events.map((event) => ({
    runId: ("callerRunId" in event ? event.callerRunId : undefined) ?? event.runId,
    json: JSON.stringify(withStoredUsage(event))
  }))

const withStoredUsage = (event: NewEvent): object => {
  switch (event._tag) {
    case "RunSettled":
      return { ...event, usage: Usage.storedRun(event.usage) }
    case "ModelCallCompleted":
    case "TaskSettled":
      return { ...event, usage: Usage.stored(event.usage) }
    default:
      return event
  }
}

/**
 * Events with the numbers that the store gave them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const numbered = (events: ReadonlyArray<NewEvent>, sequence: number): ReadonlyArray<DurableEvent> =>
  events.map((event, index) => ({ ...event, sequence: sequence + index }) as DurableEvent)

const decodeFiles = Schema.decodeUnknownResult(Schema.fromJsonString(FilesRecord))
const decodeContext = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Json))
const decodeStep = Schema.decodeUnknownResult(Schema.fromJsonString(StepRecord))
const decodeResult = Schema.decodeUnknownResult(Schema.fromJsonString(ResultRecord))
const decodeRequest = Schema.decodeUnknownResult(Schema.fromJsonString(InterruptRecord))
const decodeAnswer = Schema.decodeUnknownResult(Schema.fromJsonString(Answer))
const decodeValue = Schema.decodeUnknownResult(Schema.fromJsonString(ValueRecord))
const isInterruptId = Schema.is(Ids.InterruptId)

const recordKey = /^(?:m\/(0|[1-9]\d*)$|t\/(0|[1-9]\d*)\.\d+$|[iads]\/(0|[1-9]\d*)\.\d+(?:$|[/:])|r\/(0|[1-9]\d*)$)/

// The last step whose response a record needs.
const stepOf = (key: string): number | undefined => {
  const found = recordKey.exec(key)
  if (found === null) return undefined
  const refused = found[4]
  return refused === undefined ? Number(found[1] ?? found[2] ?? found[3]) : Number(refused) - 1
}

const decodeInto = (records: Records, key: string, json: string): Result.Result<unknown, string> => {
  const store = <K, A>(into: Map<K, A>, key: K, decoded: Result.Result<A, Schema.SchemaError>) =>
    Result.mapBoth(decoded, {
      onSuccess: (value) => into.set(key, value),
      onFailure: (error) => SchemaIssues.lines(error).join("; ")
    })
  const storeInterrupt = <A>(into: Map<Ids.InterruptId, A>, decoded: Result.Result<A, Schema.SchemaError>) => {
    const id = key.slice(2)
    return isInterruptId(id) ? store(into, id, decoded) : Result.fail("its key names no interrupt")
  }
  switch (key.split("/", 1)[0]) {
    case "m":
      return store(records.steps, key, decodeStep(json))
    case "t":
      return store(records.results, key, decodeResult(json))
    case "i":
      return storeInterrupt(records.requests, decodeRequest(json))
    case "a":
      return storeInterrupt(records.answers, decodeAnswer(json))
    default:
      return store(records.values, key, decodeValue(json))
  }
}
