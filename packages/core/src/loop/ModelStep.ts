/**
 * One step of a run: a model response, with the retries it took.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A failed attempt leaves nothing but its usage, which the response counts
 *    or, after the last one, the run.
 * 2. Retries count anew with each drive: no record says how many there were.
 * 3. No attempt starts after the lease of the run is over.
 * 4. What is recorded is what a replay reads: the step goes on with the record,
 *    not with what the client gave.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as Json from "../values/Json.ts"
import type { Message } from "../values/Message.ts"
import type { ModelError } from "../values/ModelError.ts"
import type { ModelCall, ModelRequest } from "../values/ModelRequest.ts"
import type { ModelResponse, ModelStreamPart } from "../values/ModelResponse.ts"
import type { LiveEvent } from "../values/RunEvent.ts"
import type { StepRecord } from "../values/RunRecord.ts"
import * as Usage from "../values/Usage.ts"
import * as Utf8 from "../values/Utf8.ts"
import * as ActiveRun from "./ActiveRun.ts"
import * as CallIds from "./CallIds.ts"
import * as CallLimit from "./CallLimit.ts"
import type { Drive } from "./Drive.ts"
import * as GivenResponse from "./GivenResponse.ts"
import * as RequestForm from "./RequestForm.ts"
import * as ResponseBounds from "./ResponseBounds.ts"
import { decide } from "./Verdicts.ts"

/**
 * A step that is not recorded yet, or the failure of its last attempt with
 * what all attempts used. There is no failure where another attempt was due,
 * and the tree had no tokens left for it.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Result.Result<
  { readonly record: StepRecord; readonly json: string },
  { readonly error: ModelError | undefined; readonly spent: Usage.Usage }
>

/**
 * Asks the model for the next response.
 *
 * **Details**
 *
 * Failures that may pass are retried by the agent's schedule, each time at the
 * earliest when the provider says so. Where the provider asks to wait longer
 * than the agent accepts, the call fails at once. The response gets unique call ids and
 * whole characters before anything is made of it. What attempts use counts in
 * the tree as they come.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function*(
  drive: Drive,
  messages: ReadonlyArray<Message>,
  step: number,
  takenIds: ReadonlySet<string>
): Effect.fn.Return<Outcome, Fenced | StoreError> {
  const { agent } = drive
  const tools = agent.refresh === undefined ? agent.offered : yield* agent.refresh(agent.offered)
  const request = RequestForm.make(agent, messages, tools)
  const state = {
    attempt: 0,
    error: undefined as ModelError | undefined,
    isOutOfTokens: false,
    spent: Usage.zero,
    notBefore: 0,
    retryAfter: 0
  }
  const once = Effect.suspend(() => {
    // Other runs of the tree may have used it up since the attempt before.
    if (state.error !== undefined && drive.meter?.isOutOfTokens() === true) {
      state.isOutOfTokens = true
      return Effect.fail(state.error)
    }
    const call = callOf(drive, step, state.attempt++)
    return Effect.catch(ask(drive, request, call), (error) => {
      state.error = error
      const used = ofFailure(error)
      drive.meter?.addTokens(used)
      state.spent = Usage.add(state.spent, used)
      state.retryAfter = error.retryAfter ?? 0
      state.notBefore = drive.now() + state.retryAfter
      drive.journal.emit(() => ({
        ...liveOrigin(drive),
        _tag: "ModelAttemptDiscarded",
        step,
        attempt: call.attempt,
        reason: error.reason
      }))
      return Effect.fail(error)
    })
  })
  // A lost run is no failure of the model, so it is not retried.
  const leased = Effect.suspend((): Effect.Effect<ModelResponse | Fenced | StoreError, ModelError> => {
    const renewal = drive.leaseRenewal()
    return renewal === undefined
      ? once
      : Effect.matchEffect(renewal, { onFailure: (lost) => Effect.succeed(lost), onSuccess: () => once })
  })
  const attempt = Effect.suspend(() => {
    // A clock that was set back since makes nobody wait longer than the provider says.
    const wait = Math.min(state.notBefore - drive.now(), state.retryAfter)
    return wait > 0 ? Effect.andThen(Effect.sleep(wait), leased) : leased
  })
  const canRetry = (error: ModelError): boolean =>
    error.isRetryable && state.retryAfter <= drive.agent.maxRetryAfter && !state.isOutOfTokens
  // Only a failure needs what retries: the schedule starts with the failure of the first attempt.
  const retried = (first: ModelError): Effect.Effect<ModelResponse | Fenced | StoreError, ModelError> => {
    let failed: ModelError | undefined = first
    const next = Effect.suspend(() => {
      if (failed === undefined) return attempt
      const error = failed
      failed = undefined
      return Effect.fail(error)
    })
    return Effect.retry(next, { schedule: drive.agent.retry, while: canRetry })
  }
  const answered = yield* Effect.result(
    Effect.catch(leased, (error) => canRetry(error) ? retried(error) : Effect.fail(error))
  )
  if (Result.isFailure(answered)) {
    return Result.fail({ error: state.isOutOfTokens ? undefined : answered.failure, spent: state.spent })
  }

  if ("_tag" in answered.success) return yield* Effect.fail(answered.success)
  const response = answered.success
  const used = Usage.fromModel(response.usage, {
    request: () => Utf8.byteLength(JSON.stringify([request.messages, request.tools], withoutContent)),
    response: () => Utf8.byteLength(JSON.stringify(response.parts, withoutContent))
  })
  drive.meter?.addTokens(used)
  const offered = tools.map((tool) => tool.name)
  const { parts, verdict: refusal } = CallLimit.hold(response.parts, drive.run.limits.maxCallsPerResponse)
  const whole = {
    ...response,
    parts: CallIds.unique(parts, takenIds, `${runNumber(drive)}_${step}`, new Set(offered))
  }
  const verdict = yield* decide(whole, drive.agent.answer, refusal)
  const { text, value } = Json.stringify<StepRecord>({
    response: whole,
    verdict,
    offered,
    usage: Usage.add(state.spent, used),
    activeMillis: drive.activeMillis()
  })
  return Result.succeed({ record: value, json: text })
})

// A file costs tokens by what it shows, not by its bytes, which would use up any budget.
const withoutContent = (_: string, value: unknown): unknown =>
  Predicate.hasProperty(value, "base64") && Predicate.hasProperty(value, "type") && value.type === "base64"
    ? ""
    : value
const callOf = ({ agent, run }: Drive, step: number, attempt: number): ModelCall => ({
  agentId: run.agentId,
  agentPath: run.agentPath,
  threadId: run.threadId,
  runId: run.runId,
  depth: run.depth,
  step,
  attempt,
  call: run.call,
  maxRetryAfter: agent.maxRetryAfter
})

const runNumber = ({ run }: Drive): string => run.runId.slice(run.runId.lastIndexOf("#") + 1)

const liveOrigin = (drive: Drive) => ({ ...ActiveRun.origin(drive.run), at: drive.now() })

const ask = (
  drive: Drive,
  request: ModelRequest,
  call: ModelCall
): Effect.Effect<ModelResponse, ModelError> => {
  const { client } = drive.agent
  drive.journal.emit(() => ({
    ...liveOrigin(drive),
    _tag: "ModelCallStarted",
    step: call.step,
    attempt: call.attempt,
    provider: client.provider,
    modelId: client.modelId
  }))
  const response = drive.streaming && client.stream !== undefined
    ? collect(drive, client.stream(request, call), call)
    : client.generate(request, call)
  return Effect.matchEffect(response, {
    onFailure: (error) => Effect.fail(GivenResponse.error(client, error)),
    onSuccess: (given) => {
      const whole = GivenResponse.whole(client, given)
      return Result.isSuccess(whole) ? Effect.succeed(whole.success) : Effect.fail(whole.failure)
    }
  })
}

const ofFailure = (error: ModelError): Usage.Usage =>
  error.usage === undefined
    ? Usage.zero
    : { ...Usage.fromModel(error.usage, { request: () => 0, response: () => 0 }), modelCalls: 0, estimated: false }

// Gathers the parts of a streamed response and shows the deltas to whoever watches.
const collect = (
  drive: Drive,
  stream: Stream.Stream<ModelStreamPart, ModelError>,
  { attempt, step }: ModelCall
): Effect.Effect<ModelResponse, ModelError> =>
  Effect.suspend(() => {
    const parts: Array<ModelResponse["parts"][number]> = []
    let finish: Extract<ModelStreamPart, { type: "finish" }> | undefined
    let problem: string | undefined
    let isContradictory = false
    const show = (event: Record<string, unknown>) =>
      drive.journal.emit(() => ({ ...liveOrigin(drive), step, attempt, ...event }) as LiveEvent)
    const over = ResponseBounds.counter()
    const take = (piece: ModelStreamPart): void => {
      problem ??= over(piece)
      if (problem !== undefined) return
      switch (piece.type) {
        case "part":
          parts.push(piece.part)
          break
        case "finish":
          isContradictory ||= finish !== undefined
          finish = piece
          break
        case "text-delta":
          return show({ _tag: "TextDelta", delta: piece.delta })
        case "reasoning-delta":
          return show({ _tag: "ReasoningDelta", delta: piece.delta })
        case "tool-input-delta":
          return show({ _tag: "ToolInputDelta", toolCallId: piece.id, tool: piece.name, delta: piece.delta })
      }
    }
    return Effect.flatMap(
      Stream.runForEachArray(stream, (pieces) =>
        Effect.flatMap(
          // The pieces are the client's own objects.
          Effect.try({ try: () => pieces.forEach(take), catch: () => GivenResponse.unreadable(drive.agent.client) }),
          () =>
            problem === undefined
              ? Effect.void
              : Effect.fail(GivenResponse.overBounds(drive.agent.client, problem))
        )),
      () => {
        if (isContradictory) return Effect.fail(GivenResponse.unreadable(drive.agent.client))
        if (finish === undefined) return Effect.fail(GivenResponse.cutOff(drive.agent.client, "network"))
        const { client } = drive.agent
        const response = Result.try({
          try: (): ModelResponse => {
            const { type: _, ...rest } = finish!
            return { ...rest, parts }
          },
          catch: () => GivenResponse.unreadable(client)
        })
        return Effect.fromResult(response)
      }
    )
  })
