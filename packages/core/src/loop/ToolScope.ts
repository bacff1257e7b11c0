/**
 * What one call's handler can reach of its run.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. The first signal decides how the call ends, whatever its handler does then.
 * 2. A question is recorded before its handler stops, and an `ask` finds its
 *    answer by the text and the answer schema of the question.
 * 3. A value of `once` is recorded before it is given back, and decoded from
 *    its JSON the first time too. Answers that were taken for it are taken,
 *    also when its questions are not asked again.
 * 4. Once the handler has ended, its service records nothing and shows nothing:
 *    whoever kept it dies, and so does whoever waits in it.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ToolContext } from "../definition/ToolContext.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as Json from "../values/Json.ts"
import * as JsonForm from "../values/JsonForm.ts"
import type { ValueRecord } from "../values/RunRecord.ts"
import type { Drive, ToolCall } from "./Drive.ts"
import * as Interrupts from "./Interrupts.ts"
import * as Questions from "./Questions.ts"
import * as RunContext from "./RunContext.ts"

/**
 * Why a drive cannot write any more.
 *
 * @category models
 * @since 0.1.0
 */
export type Lost = Fenced | StoreError

/**
 * What stops a handler for good.
 *
 * @category models
 * @since 0.1.0
 */
export type Signal =
  | { readonly _tag: "Fatal"; readonly reason: string }
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Lost"; readonly error: Lost }

/**
 * The service of one call, and the handler's fiber with what stopped it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolScope {
  readonly service: ToolContext["Service"]
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  signal: Signal | undefined

  /** Ends what the handler can reach: whoever uses it from then on dies. */
  readonly end: () => void
}

/**
 * The scope of one call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  call: ToolCall,
  drive: Drive,
  progress: (value: Json.Json) => Effect.Effect<void>
): ToolScope => {
  const { journal, run } = drive
  const questions = Questions.make(journal.records, call.key)
  let openQuestion: string | undefined
  let isOver = false
  const waiting: Array<() => void> = []
  const over = Effect.suspend(() =>
    Effect.die(new Error(`The call ${call.key} of the tool "${call.part.name}" is over, and its ToolContext with it`))
  )
  const ensureOpen = Effect.suspend(() => isOver ? over : Effect.void)
  const scope: ToolScope = {
    fiber: undefined,
    signal: undefined,
    end: () => {
      isOver = true
      waiting.forEach((end) => end())
    },
    service: {
      threadId: run.threadId,
      runId: run.runId,
      callKey: call.key,
      toolCallId: call.part.id,
      depth: run.depth,
      depthLeft: run.depthLeft,
      tenant: run.tenant === "" ? undefined : run.tenant,
      epoch: journal.fence.epoch,
      idempotencyKey: `${run.runId}/${call.key}`,
      fatal: (reason) =>
        stop({ _tag: "Fatal", reason: typeof reason === "string" ? reason : "The tool gave no reason" }),
      emit: (value) => Effect.andThen(ensureOpen, Effect.suspend(() => progress(value))),
      context: RunContext.service(drive, call.part.name),
      ask: Effect.fnUntraced(function*(question, { answer }) {
        yield* ensureOpen
        const decode = Schema.decodeUnknownEffect(yield* jsonCodec(answer, `an answer to the tool "${call.part.name}"`))
        const request: Questions.Question = {
          _tag: "Question",
          tool: call.part.name,
          question: question.toWellFormed(),
          answerSchema: Tool.getJsonSchemaFromSchema(answer) as Json.Json
        }
        // An answer was held to a JSON Schema, which says less than the schema itself.
        // What does not decode is asked again.
        for (const given of questions.answers(request)) {
          const decoded = yield* Effect.result(decode(given.value))
          if (Result.isSuccess(decoded)) return decoded.success
          yield* Effect.logWarning(
            `The answer to ${given.id} of the run "${run.runId}" does not decode; it is asked for again`
          )
        }
        yield* ensureOpen
        const id = questions.next()
        if (openQuestion !== undefined) {
          return yield* Effect.die(
            new Error(`The tool "${call.part.name}" asked ${id} while its question ${openQuestion} was open`)
          )
        }
        openQuestion = id
        const asked = Interrupts.ask(drive, id, request)
        // What is asked waits, whatever becomes of the handler while that is written.
        return yield* Effect.uninterruptible(Effect.matchEffect(journal.append({ records: [asked], events: [] }), {
          onFailure: (error) => stop({ _tag: "Lost", error }),
          onSuccess: () => stop({ _tag: "Wait" })
        }))
      }),
      once: Effect.fnUntraced(function*(name, schema, effect) {
        yield* ensureOpen
        const key = onceKey(call, name)
        const codec = yield* jsonCodec(schema, `the value "${name}" of the tool "${call.part.name}"`)
        const recorded = journal.records.values.get(key)
        if (recorded !== undefined) {
          // Answers that were taken for it are no other question's.
          questions.skip(recorded.questions ?? Array.from({ length: recorded.nextQuestion ?? 0 }, (_, n) => n))
          return yield* Effect.orDie(Schema.decodeUnknownEffect(codec)(recorded.value))
        }
        const before = new Set(questions.taken())
        const encoded = yield* Effect.flatMap(effect, (value) => Effect.orDie(Schema.encodeUnknownEffect(codec)(value)))
        yield* ensureOpen
        const asked = [...questions.taken()].filter((n) => !before.has(n))
        const given: ValueRecord = {
          value: encoded as Json.Json,
          activeMillis: drive.activeMillis(),
          ...(asked.length === 0 ? {} : { questions: asked })
        }
        const { text } = Json.stringify(given)
        const stored = JSON.parse(text) as ValueRecord
        journal.records.values.set(key, stored)
        yield* Effect.catch(
          journal.append({ records: [{ key, json: text }], events: [] }),
          (error) => stop({ _tag: "Lost", error })
        )
        return yield* Effect.orDie(Schema.decodeUnknownEffect(codec)(stored.value))
      })
    }
  }
  // Interrupting the fiber from inside is what no `catch` can see; the wait must not shield it.
  const stop = (signal: Signal): Effect.Effect<never> =>
    Effect.suspend(() => {
      if (isOver) return over
      scope.signal ??= signal
      scope.fiber?.interruptUnsafe()
      // A fiber that the handler left behind is not interrupted with it.
      return Effect.interruptible(Effect.callback<never>((resume) => void waiting.push(() => resume(over))))
    })
  return scope
}

// Before anybody is asked, and before anything is done whose value could not be kept.
const jsonCodec = <S extends Schema.Constraint>(schema: S, what: string): Effect.Effect<Schema.toCodecJson<S>> =>
  Effect.suspend(() => {
    const codec = Schema.toCodecJson(schema)
    const problem = JsonForm.missing(codec.ast)
    return problem === undefined
      ? Effect.succeed(codec)
      : Effect.die(new Error(`The schema of ${what} ${problem}`))
  })

// Written as in JSON: half a surrogate pair, which no store keeps in a key, still tells two names apart.
const onceKey = ({ key }: ToolCall, name: string): string => `s/${key}/${JSON.stringify(name).slice(1, -1)}`
