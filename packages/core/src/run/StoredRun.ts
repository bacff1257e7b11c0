/**
 * What a run's row says of how it came out, decoded.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Interrupts from "../loop/Interrupts.ts"
import type * as Journal from "../loop/Journal.ts"
import type * as OpenRun from "../loop/OpenRun.ts"
import * as Transcript from "../loop/Transcript.ts"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import { rowFormat, type RunRow } from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"
import { Message } from "../values/Message.ts"
import { Failure, Settled } from "../values/RunOutcome.ts"
import { resultKey, stepKey } from "../values/RunRecord.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import { RunUsage } from "../values/Usage.ts"

type Decoded<A> = Result.Result<A, CorruptRow.CorruptRow>

/**
 * How a settled run ended.
 *
 * @category getters
 * @since 0.1.0
 */
export const outcome = (row: RunRow): Decoded<Settled> => column(row, "outcome", decodeSettled(row.outcome))

/**
 * Why a failed run failed.
 *
 * @category getters
 * @since 0.1.0
 */
export const failure = (row: RunRow): Decoded<Failure> => column(row, "outcome", decodeFailure(row.outcome))

/**
 * What a settled run and its tree used.
 *
 * @category getters
 * @since 0.1.0
 */
export const usage = (row: RunRow): Decoded<RunUsage> => column(row, "usage", decodeUsage(row.usage))

/**
 * How a settled run ended and what it used, as its drive would tell it.
 *
 * @category getters
 * @since 0.1.0
 */
export const end = (row: RunRow): Decoded<Extract<DriveEnd, { readonly _tag: "Settled" }>> =>
  Result.map(Result.all([outcome(row), usage(row)]), ([outcome, usage]) => ({ _tag: "Settled", outcome, usage }))

/**
 * Messages that a settled run left on its thread.
 *
 * @category getters
 * @since 0.1.0
 */
export const messages = (row: RunRow): Decoded<ReadonlyArray<Message>> =>
  column(row, "messages", decodeMessages(row.messages))

/**
 * What an open run has said and used so far, from its records alone. Calls
 * without a result say `notRun`.
 *
 * @category getters
 * @since 0.1.0
 */
export const transcript = ({ records, run }: OpenRun.OpenRun, notRun: string): Transcript.Transcript => {
  const self = Transcript.make([], ActiveRun.userMessage(run), run.spent)
  Transcript.addAll(self, {
    step: (step) => {
      const record = records.steps.get(stepKey(step))
      return record === undefined ? undefined : Interrupts.edited(record, step, records)
    },
    result: (step, index) => records.results.get(resultKey(Ids.callKey(step, index)))
  }, notRun)
  return self
}

/**
 * Active time of an open run as far as it is recorded, in milliseconds.
 *
 * @category getters
 * @since 0.1.0
 */
export const activeMillis = (row: RunRow, records: Journal.Records): number =>
  [records.steps, records.results, records.requests, records.values]
    .flatMap((kind) => [...kind.values()])
    .reduce((most, { activeMillis }) => Math.max(most, activeMillis), row.activeMillis)

const json = <A>(schema: Schema.Codec<A, any>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (text: string | null): Result.Result<A, Schema.SchemaError> => decode(text)
}

const decodeSettled = json(Settled)
const decodeFailure = json(Failure)
const decodeUsage = json(RunUsage)
const decodeMessages = json(Schema.Array(Message))

// What a newer version wrote may decode, and mean something else.
const column = <A>(row: RunRow, name: string, decoded: Result.Result<A, Schema.SchemaError>): Decoded<A> =>
  row.format > rowFormat
    ? Result.fail(CorruptRow.of(row, `its format is ${row.format}; formats up to ${rowFormat} can be read`))
    : Result.mapError(decoded, (error) => CorruptRow.of(row, `${name}: ${SchemaIssues.lines(error).join("; ")}`))
