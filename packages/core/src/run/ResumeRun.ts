/**
 * Goes on with a suspended run after some of its interrupts were answered.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Every answer is matched, decoded and checked before anything is written;
 *    one that is refused refuses all.
 * 2. Answers are stored, the runs on the way to those that asked are `Running`,
 *    and the lease is taken, in one transaction or not at all. So of two calls
 *    with an answer to the same interrupt one goes on.
 * 3. What is found wrong after that leaves a run that can be recovered, and
 *    gives its thread back.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Interrupts from "../loop/Interrupts.ts"
import * as Journal from "../loop/Journal.ts"
import * as Pending from "../loop/Pending.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { Answered } from "../service/RunRow.ts"
import { Answer, maxBytes } from "../values/Answer.ts"
import * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import * as Json from "../values/Json.ts"
import * as JsonWalk from "../values/JsonWalk.ts"
import type { RunError } from "../values/RunError.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import * as Utf8 from "../values/Utf8.ts"
import * as GoOn from "./GoOn.ts"
import * as LetGo from "./LetGo.ts"
import * as Resumed from "./Resumed.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Runnable } from "./Runnable.ts"
import type { Started } from "./StartRun.ts"
import * as ThreadVerbs from "./ThreadVerbs.ts"

/**
 * Checks an answer against what was asked, by the agent of the run that asked.
 * Gives the answer as it is stored, or what is wrong with it.
 *
 * @category models
 * @since 0.1.0
 */
export type CheckAnswer = (
  answer: Answer,
  asked: PendingInterrupt
) => Effect.Effect<Result.Result<Answer, ReadonlyArray<string>>>

/**
 * Stores answers and drives the run.
 *
 * **Details**
 *
 * Any non-empty subset of what is pending may be answered. If one answer is
 * refused, all are, and nothing is written. The answers are stored in the runs
 * that asked, the whole path in one transaction; each is used once.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  threadId: string,
  answers: ReadonlyArray<Answer>,
  check: CheckAnswer
): Effect.fn.Return<Started, RunError> {
  yield* runtime.host.ensureOpen
  const row = yield* ThreadVerbs.lastRun(runtime, threadId)
  if (row.state === "Settled") return yield* RunFailure.fail({ _tag: "NotSuspended", threadId })
  if (row.state !== "Suspended") {
    const isBusy = row.state === "Running" && (yield* ThreadVerbs.isHeld(runtime, row))
    return yield* RunFailure.fail({ _tag: isBusy ? "ThreadBusy" : "IncompleteRun", threadId })
  }
  const { run } = yield* ThreadVerbs.loadOpen(runtime, row)
  yield* ThreadVerbs.sameAgent(runnable, row)
  const pending = yield* RunFailure.fromStore(threadId)(Pending.list(runtime.store, row.runId))
  const asked = yield* match(threadId, yield* named(answers), pending)
  const checked = yield* Effect.forEach(asked, ([answer, interrupt]) =>
    Effect.flatMap(
      Result.match(bounded(answer), {
        onFailure: (issues) => Effect.succeed(Result.fail(issues)),
        onSuccess: () => check(answer, interrupt)
      }),
      (checked) => {
        const stored = Result.flatMap(checked, bounded)
        return Result.isSuccess(stored)
          ? Effect.succeed([stored.success, interrupt] as const)
          : RunFailure.fail({ _tag: "InvalidAnswer", threadId, id: answer.id, issues: stored.failure })
      }
    ))
  yield* GoOn.check(runtime, row)
  const answered = pathsOf(run.runId, checked)
  const lease = yield* runtime.lease
  const events = yield* Resumed.events(runtime, threadId, answered.map(({ runId }) => runId), lease.now)
  const stored = yield* RunFailure.fromStore(threadId)(
    runtime.store.answer(threadId, lease, answered, Journal.encode(events))
  )
  runtime.events.publish(run.rootThreadId, Journal.numbered(events, stored.sequence))
  const fence = { threadId, runId: run.runId, epoch: stored.epoch, leasedAt: lease.now }
  return yield* LetGo.onError(runtime, fence)(GoOn.goOn(runtime, runnable, fence, stored.sequence))
})

const bounded = (answer: Answer): Result.Result<Answer, ReadonlyArray<string>> => {
  const text = Result.try(() => Json.stringify(answer).text)
  if (Result.isFailure(text)) return Result.fail(["it is nested too deeply to be written as JSON"])
  const bytes = Utf8.byteLength(text.success)
  return bytes > maxBytes
    ? Result.fail([`it has ${bytes} bytes; at most ${maxBytes} are allowed`])
    : Result.succeed(answer)
}

// Answers are made elsewhere, and may come as JSON that nobody has looked at.
const named = (answers: unknown): Effect.Effect<ReadonlyArray<Named>, RunError> => {
  const refuse = (issues: ReadonlyArray<string>) => RunFailure.fail({ _tag: "InvalidInput", field: "answers", issues })
  // A getter or a proxy may throw, and may give something else the next time.
  const read = Result.try((): unknown => Array.isArray(answers) ? Array.from(answers, copied) : answers)
  if (Result.isFailure(read)) return refuse(["they cannot be read"])
  return Result.match(decodeNamed(read.success), {
    // As they came: what else is in an answer is for its kind to say.
    onSuccess: () => Effect.succeed(read.success as ReadonlyArray<Named>),
    onFailure: (error) => refuse(SchemaIssues.lines(error))
  })
}

const copied = (answer: unknown): unknown =>
  typeof answer === "object" && answer !== null && !Array.isArray(answer) ? { ...answer } : answer

const NamedAnswers = Schema.Array(
  Schema.Struct({ _tag: Schema.Literals(["Approve", "Reject", "Edit", "Reply", "Proceed"]), id: Schema.String })
)
type Named = (typeof NamedAnswers.Type)[number]
const decodeNamed = Schema.decodeUnknownResult(NamedAnswers, { errors: "all" })

const decode = (answer: Named): Result.Result<Answer, ReadonlyArray<string>> => {
  const kind = Answer.cases[answer._tag]
  const misplaced = parts.filter((part) => Object.hasOwn(answer, part) && !Object.hasOwn(kind.fields, part))
  // An approval that has arguments beside it was meant to be an edit.
  if (misplaced.length > 0) {
    return Result.fail(misplaced.map((part) => `${part}: Expected no ${part} in an answer of the kind ${answer._tag}`))
  }
  const codec: Schema.Codec<Answer, unknown> = kind
  // What cannot be read throws.
  return Result.flatMap(
    Result.try({
      try: () => {
        const endless = JsonWalk.endless(answer)
        if (endless !== undefined) return Result.fail([endless])
        return Result.mapError(Schema.decodeUnknownResult(codec, { errors: "all" })(answer), SchemaIssues.lines)
      },
      catch: () => ["the value: Expected JSON that can be read"]
    }),
    identity
  )
}

const parts = ["reason", "arguments", "value"]

const match = Effect.fnUntraced(function*(
  threadId: string,
  answers: ReadonlyArray<Named>,
  pending: ReadonlyArray<PendingInterrupt>
): Effect.fn.Return<ReadonlyArray<readonly [Answer, PendingInterrupt]>, RunError> {
  if (answers.length === 0) {
    return yield* RunFailure.fail({ _tag: "InvalidInput", field: "answers", issues: ["there must be at least one"] })
  }
  const byId = new Map(pending.map((interrupt) => [interrupt.id as string, interrupt]))
  const pairs: Array<readonly [Named, PendingInterrupt]> = []
  const unknown: Array<string> = []
  for (const answer of answers) {
    const interrupt = byId.get(answer.id)
    if (interrupt === undefined) unknown.push(answer.id)
    else pairs.push([answer, interrupt])
    // Each is answered once: a second answer to one id is as unknown as any.
    byId.delete(answer.id)
  }
  if (unknown.length > 0) {
    const ids = pending.map(({ id }) => id)
    return yield* RunFailure.fail({ _tag: "UnknownInterrupt", threadId, ids: unknown, pending: ids })
  }
  return yield* Effect.forEach(pairs, ([answer, interrupt]) =>
    Result.match(decode(answer), {
      onSuccess: (decoded) => Effect.succeed([decoded, interrupt] as const),
      onFailure: (issues) => RunFailure.fail({ _tag: "InvalidAnswer", threadId, id: answer.id, issues })
    }))
})

// The runs on the way down to those that asked go on too, without an answer of their own.
const pathsOf = (
  rootRunId: string,
  asked: ReadonlyArray<readonly [Answer, PendingInterrupt]>
): ReadonlyArray<Answered> => {
  const runs = new Map<string, Array<Answered["records"][number]>>([[rootRunId, []]])
  for (const [answer, { id }] of asked) {
    const { interrupt, path } = Ids.split(id)
    let runId = rootRunId as Ids.RunId
    for (const call of path) {
      runId = Ids.childRunId(runId, call)
      if (!runs.has(runId)) runs.set(runId, [])
    }
    runs.get(runId)!.push({ key: Interrupts.answerKey(interrupt), json: Json.stringify(answer).text })
  }
  return [...runs].map(([runId, records]) => ({ runId, records }))
}
