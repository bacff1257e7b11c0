/**
 * What is said of a call from code that would run a posture too deep.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ToolContext } from "../definition/ToolContext.ts"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { DelegateError } from "../values/DelegateError.ts"
import { type DelegateRequest, maxTurnBytes } from "../values/DelegateResult.ts"
import * as Ids from "../values/Ids.ts"
import type { Origin } from "../values/RunEvent.ts"
import * as Utf8 from "../values/Utf8.ts"

/**
 * Tells those who watch of a call that was refused for its depth.
 *
 * **Details**
 *
 * No record of a run says that such a call was made, so no store has the event:
 * its `sequence` is 0. From a tool's handler it stands where the handler's run
 * does. From outside of any run it stands on `delegate/<posture>`, which is no
 * thread, as its root, thread and agent.
 *
 * @category running
 * @since 0.1.0
 */
export const tell = (
  runtime: Mandate["Service"],
  { parentDepth = 0, parentTurn }: DelegateRequest,
  { reason }: DelegateError
): Effect.Effect<void> => {
  if (reason._tag !== "RecursionLimit") return Effect.void
  const { posture } = reason
  return Effect.contextWith((context: Context.Context<never>) => {
    const call = Context.getOption(context, ToolContext)
    const from = call._tag === "None"
      ? Effect.succeed(outside(posture, parentDepth))
      : Effect.map(placeOf(runtime, call.value.runId), (origin) => origin && { ...origin, key: call.value.callKey })
    return Effect.map(Effect.all([from, runtime.lease]), ([origin, { now }]) => {
      if (origin === undefined) return
      runtime.events.publish(origin.rootThreadId, [{
        ...origin,
        _tag: "DelegateRefused",
        sequence: 0,
        at: now,
        posture,
        reason: reason._tag,
        ...turnOf(parentTurn)
      }])
    })
  })
}

// The depth is looked at before the rest of a call, which may be anything still.
const turnOf = (parentTurn: unknown): { readonly parentTurn?: string } =>
  typeof parentTurn === "string" && Utf8.byteLength(parentTurn) <= maxTurnBytes
    ? { parentTurn: parentTurn.toWellFormed() }
    : {}

const outside = (posture: string, depth: number): Origin => {
  const agentId = `delegate/${posture}`
  const threadId = agentId as Ids.ThreadId
  return { rootThreadId: threadId, threadId, runId: Ids.runId(threadId, 0), agentId, agentPath: [], depth }
}

// A run that cannot be read has nobody to tell.
const placeOf = ({ store }: Mandate["Service"], runId: string): Effect.Effect<Origin | undefined> =>
  store.load(runId).pipe(
    Effect.flatMap((loaded) =>
      loaded === undefined
        ? Effect.undefined
        : Effect.map(Effect.fromResult(OpenRun.place(loaded.row)), ActiveRun.origin)
    ),
    Effect.orElseSucceed(() => undefined)
  )
