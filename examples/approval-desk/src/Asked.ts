/**
 * What a case waits on, with who asks and since when.
 *
 * `pending` says which run asks, and neither its time nor its path of agents.
 * Both are in the durable events: a run that begins to wait leaves a
 * `RunSuspended` with the ids it waits on.
 */
import { Ids, type Interrupt, RunStore } from "@mandate/core"
import { Effect, Option, Schema } from "effect"

/** One thing that a case waits on. */
export interface Asked {
  readonly id: string
  readonly agentPath: ReadonlyArray<string>
  readonly request: Interrupt.InterruptRequest
  /** Milliseconds since 1970. */
  readonly since: number | undefined
}

const Suspended = Schema.Struct({
  _tag: Schema.Literal("RunSuspended"),
  runId: Schema.String,
  agentPath: Schema.Array(Schema.String),
  at: Schema.Finite,
  pending: Schema.Array(Schema.String)
})

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Suspended))

/** Adds to what is pending on a thread who asks and since when. */
export const list = Effect.fnUntraced(function*(
  threadId: string,
  pending: ReadonlyArray<Interrupt.PendingInterrupt>
): Effect.fn.Return<ReadonlyArray<Asked>, RunStore.StoreError, RunStore.RunStore> {
  const store = yield* RunStore.RunStore
  const events = (yield* store.events(threadId, 0)).flatMap(({ json }) =>
    Option.match(decode(json), { onNone: () => [], onSome: (event) => [event] })
  )
  return pending.map(({ id, request, run }) => {
    const { interrupt } = Ids.split(id)
    // A run suspends again whenever others were answered; the first time is when it asked.
    const event = events.find(({ pending, runId }) => runId === run.runId && pending.includes(interrupt))
    return { id, request, agentPath: event?.agentPath ?? [run.subagent], since: event?.at }
  })
})
