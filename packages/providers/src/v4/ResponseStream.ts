/**
 * A streamed call of a V4 model.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Failure from "./Failure.ts"
import * as FailureLog from "./FailureLog.ts"
import type { Problem } from "./Problem.ts"
import * as Response from "./Response.ts"
import * as StreamFailure from "./StreamFailure.ts"
import * as StreamParts from "./StreamParts.ts"

/**
 * Calls a model and gives the pieces of its response.
 *
 * **Details**
 *
 * One part is read at a time, when its pieces are asked for, so a slow reader
 * slows the provider and nothing piles up. The stream is read to its end, as
 * middleware that waits for it expects; only then comes the finish. Leaving it
 * early aborts the request.
 *
 * @category running
 * @since 0.1.0
 */
export const make = (
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions
): Stream.Stream<StreamParts.Piece, Problem> =>
  Stream.unwrap(Effect.map(open(model, options), (reader) => Stream.fromPull(Effect.succeed(pull(reader)))))

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>

const open = Effect.fnUntraced(function*(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions
): Effect.fn.Return<Reader, Problem, Scope.Scope> {
  const abort = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  return yield* Effect.acquireRelease(
    Failure.attempt(() =>
      model.doStream({ ...options, abortSignal: abort.signal }).then(({ stream }) => {
        const reader = stream.getReader()
        // Nobody waits any more: a client that does not heed the signal would leave its request open.
        if (abort.signal.aborted) cancel(reader)
        return reader
      })
    ),
    (reader) => Effect.sync(() => cancel(reader)),
    { interruptible: true }
  )
})

// Not waited for: a client may never settle the cancellation of its stream.
const cancel = (reader: Reader): void => void reader.cancel().catch(() => undefined)

const pull = (reader: Reader): Pull.Pull<Arr.NonEmptyReadonlyArray<StreamParts.Piece>, Problem> => {
  const parts = StreamParts.make()
  const read = Failure.attempt(() => reader.read())
  let isOver = false
  return Effect.gen(function*() {
    for (;;) {
      if (isOver) return yield* Cause.done()
      const { done, value } = yield* read
      isOver = done
      const taken = done ? parts.end() : yield* take(parts, value)
      if (Result.isFailure(taken)) return yield* Effect.fail(taken.failure)
      if (Arr.isReadonlyArrayNonEmpty(taken.success)) return taken.success
    }
  })
}

const take = (
  parts: StreamParts.StreamParts,
  part: LanguageModelV4StreamPart
): Effect.Effect<ReturnType<StreamParts.StreamParts["take"]>> => {
  switch (part?.type) {
    case "stream-start":
      return Effect.as(Response.logWarnings(part.warnings), nothing)
    case "response-metadata":
    case "ping":
    case "raw":
      return Effect.succeed(nothing)
    case "error":
      if (StreamFailure.isWithoutReason(part.error)) return Effect.sync(parts.noReason)
      return Effect.andThen(
        FailureLog.log(part.error),
        Effect.map(Clock.currentTimeMillis, (now) => Result.fail(StreamFailure.classify(part.error, now)))
      )
    default:
      return Effect.succeed(parts.take(part))
  }
}

const nothing: Result.Result<ReadonlyArray<StreamParts.Piece>, Problem> = Result.succeed([])
