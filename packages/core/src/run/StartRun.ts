/**
 * Starts runs that have no parent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Announce from "../loop/Announce.ts"
import * as Journal from "../loop/Journal.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Pending from "../loop/Pending.ts"
import * as TreeMeter from "../loop/TreeMeter.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { RunRow } from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { WithContext } from "../values/RunConfig.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunInput } from "../values/RunInput.ts"
import * as Usage from "../values/Usage.ts"
import * as Earlier from "./Earlier.ts"
import * as LetGo from "./LetGo.ts"
import * as RunFailure from "./RunFailure.ts"
import { bindingOf, request, type Runnable } from "./Runnable.ts"
import * as Terms from "./Terms.ts"

/**
 * A run that is being driven. `wait` gives how it comes out; `sequence` is the
 * number of its first event.
 *
 * @category models
 * @since 0.1.0
 */
export interface Started {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly sequence: number
  readonly wait: Effect.Effect<DriveEnd>
}

/**
 * Where a run starts that has no parent and is yet not the first of its line:
 * how deep it stands, and what it is bound to beyond its definition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly depth?: number
  readonly binding?: RunBinding
}

/**
 * Starts a run on a thread and its drive.
 *
 * **Details**
 *
 * Fails when the thread has an open run, and then changes nothing.
 *
 * @category running
 * @since 0.1.0
 */
export const start = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  threadId: Ids.ThreadId,
  input: RunInput,
  config: WithContext | undefined,
  streaming: boolean,
  place: Place = {}
): Effect.fn.Return<Started, RunError> {
  const asked = yield* Terms.of(runtime, runnable, config)
  const { tree } = asked.budget
  const binding = place.binding ?? (yield* bindingOf(runnable))
  const starting: ActiveRun.StartingRun = {
    ...root(runnable, threadId, input, { ...place, ...(binding === undefined ? {} : { binding }) }),
    ...asked,
    ephemeral: config?.threadId === undefined
  }
  // Read before anything is written: on a conversation that cannot be read no run starts.
  const before = config?.threadId === undefined ? Earlier.nothing : yield* Earlier.of(runtime, threadId)
  const lease = yield* runtime.lease
  const events = (runId: string) => Announce.started({ ...starting, runId: runId as Ids.RunId }, lease.now)
  const opened = yield* RunFailure.fromStore(threadId)(
    runtime.store.open(ActiveRun.toRow(starting, lease.now), lease, (runId) => Journal.encode(events(runId)))
  )
  if (opened._tag === "OtherTenant") {
    return yield* RunFailure.fail({ _tag: "InvalidInput", field: "tenant", issues: ["the thread is another tenant's"] })
  }
  if (opened._tag === "Occupied") return yield* occupied(runtime, opened.run, opened.held)
  const run = ActiveRun.started(starting, opened.runId as Ids.RunId)
  if (runtime.events.isWatched(threadId)) {
    runtime.events.publish(threadId, Journal.numbered(events(run.runId), opened.sequence))
  }

  // Another run of the thread may have started and settled since.
  const isNext = run.runId === Ids.runId(threadId, before.runs)
  const driving = {
    run,
    epoch: opened.epoch,
    leasedAt: lease.now,
    records: Journal.empty(),
    earlier: isNext
      ? before.messages
      : yield* LetGo.onError(runtime, { ...run, epoch: opened.epoch })(Earlier.messages(runtime, threadId, run.runId)),
    activeMillis: 0,
    meter: tree === undefined ? undefined : TreeMeter.make(tree, Usage.zero),
    isRecovery: false,
    streaming
  }
  const wait = yield* Effect.flatMap(request(runtime, runnable, driving), runtime.host.drive)
  return { threadId, runId: run.runId, sequence: opened.sequence, wait }
})

/**
 * A run with no parent as it would start, on a thread made for it, with what
 * its agent's definition says.
 *
 * @category constructors
 * @since 0.1.0
 */
export const root = (
  { agent, limits, maxDepth, shape }: Runnable,
  threadId: Ids.ThreadId,
  input: RunInput,
  { binding, depth = 0 }: Place
): ActiveRun.StartingRun => ({
  tenant: "",
  threadId,
  rootThreadId: threadId,
  parentRunId: undefined,
  call: undefined,
  agentId: agent.id as Ids.AgentId,
  agentPath: [agent.id],
  shape: shape.text,
  depth,
  depthLeft: maxDepth,
  binding,
  limits,
  budget: {},
  input: input.json,
  prompt: input.prompt,
  ...(input.files === undefined ? {} : { files: input.files }),
  ephemeral: true
})

const occupied = (
  runtime: Mandate["Service"],
  row: RunRow,
  held: boolean
): Effect.Effect<never, RunError> =>
  Effect.flatMap(RunFailure.decoded(OpenRun.state(row)), (state) => {
    const { runId, threadId } = row
    return state === "Suspended"
      ? Effect.flatMap(
        RunFailure.fromStore(threadId)(Pending.list(runtime.store, runId)),
        // Nobody can answer one that waits on nothing; it can be recovered.
        (pending) =>
          RunFailure.fail(
            pending.length === 0
              ? { _tag: "IncompleteRun", threadId }
              : { _tag: "PendingInterrupts", threadId, pending: pending.map(({ id }) => id) }
          )
      )
      : RunFailure.fail({ _tag: state === "Running" && held ? "ThreadBusy" : "IncompleteRun", threadId })
  })
