/**
 * Hands events to whoever watches, in this process.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Publishing never waits and never fails, so no reader can slow a run.
 * 2. A reader gets every durable event that is published after it subscribed,
 *    in order.
 * 3. A reader that has {@link liveCapacity} events unread misses live events
 *    from then on, and gets one `EventsMissed` where they are missing.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { ThreadId } from "../values/Ids.ts"
import type { RunEvent } from "../values/RunEvent.ts"

/**
 * A reader's events. It ends when its reader ends it, and with its scope.
 *
 * @category models
 * @since 0.1.0
 */
export type Subscription = Queue.Queue<RunEvent, Cause.Done>

/**
 * The events of a runtime.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunEvents {
  /** Whether anybody watches this tree, so that live events are worth making. */
  readonly isWatched: (rootThreadId: ThreadId) => boolean

  /** Hands out events of one tree, in order. */
  readonly publish: (rootThreadId: ThreadId, events: ReadonlyArray<RunEvent>) => void

  /** Subscribes to the events of one tree, or of all. */
  readonly subscribe: (rootThreadId?: ThreadId) => Effect.Effect<Subscription, never, Scope.Scope>
}

/**
 * Unread events from which on a reader misses live ones.
 *
 * @category constants
 * @since 0.1.0
 */
export const liveCapacity = 4096

/**
 * Creates the events of one runtime.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): RunEvents => {
  const readers = new Set<Reader>()
  const matching = (rootThreadId: ThreadId) =>
    [...readers].filter((reader) => reader.rootThreadId === undefined || reader.rootThreadId === rootThreadId)
  return {
    isWatched: (rootThreadId) => readers.size > 0 && matching(rootThreadId).length > 0,
    publish: (rootThreadId, events) => {
      if (readers.size === 0) return
      for (const reader of matching(rootThreadId)) for (const event of events) give(reader, rootThreadId, event)
    },
    subscribe: (rootThreadId) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.map(Queue.unbounded<RunEvent, Cause.Done>(), (queue) => {
            const reader: Reader = { rootThreadId, queue, missed: 0 }
            readers.add(reader)
            return reader
          }),
          (reader) =>
            Effect.sync(() => {
              readers.delete(reader)
              Queue.endUnsafe(reader.queue)
            })
        ),
        (reader) => reader.queue
      )
  }
}

interface Reader {
  readonly rootThreadId: ThreadId | undefined
  readonly queue: Subscription
  missed: number
}

const give = (reader: Reader, rootThreadId: ThreadId, event: RunEvent): void => {
  const isLive = !("sequence" in event)
  if (isLive && Queue.sizeUnsafe(reader.queue) >= liveCapacity) {
    reader.missed++
    return
  }
  if (reader.missed > 0) {
    Queue.offerUnsafe(reader.queue, { _tag: "EventsMissed", rootThreadId, missed: reader.missed, at: event.at })
    reader.missed = 0
  }
  Queue.offerUnsafe(reader.queue, event)
}
