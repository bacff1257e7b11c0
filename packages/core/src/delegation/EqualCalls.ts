/**
 * Equal calls at the same time in one process: one works, the others wait for
 * what it gives.
 *
 * **Details**
 *
 * The first call of a key leads. Equal calls that come while it works follow:
 * they get what it shares, and run by themselves where it shares nothing.
 *
 * Invariants:
 *
 * 1. Each key has at most one leader at any time. It is free again as soon as
 *    the leader's effect has ended, however that was.
 * 2. A call waits for one leader at most. Where that gives nothing, the call
 *    runs, and leads nobody.
 * 3. No call waits for a leader that cannot end before it: one that the call is
 *    inside of, one that stands in a queue behind what the call is inside of, or
 *    one that waits itself, over any number of leaders, for such a one.
 * 4. No call waits longer than `maxWait`.
 * 5. A call that is gone leaves nothing behind, and disturbs no other.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Restore } from "../run/Restore.ts"

/**
 * A call.
 *
 * **Details**
 *
 * - `key`: what equal calls have in common
 * - `id`: names this call among all that are in progress, such as the id of
 *   the thread that it works on
 * - `within`: the ids of the calls that it is inside of, which end only after
 *   it, and of the queues in which these hold a place. The nearest one is enough
 *   where that is a call in progress here, since what that is inside of is
 *   known; in any order
 * - `queue`: the id of the queue in which the call stands, as long as its work
 *   waits there for those that hold a place
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly key: string
  readonly id: string
  readonly within: ReadonlyArray<string>
  readonly queue?: (() => string | undefined) | undefined
}

/**
 * What a call's own work gave: its value, and what equal calls may use of it.
 * Absent where they are to run by themselves.
 *
 * @category models
 * @since 0.1.0
 */
export interface Work<out A, out S> {
  readonly value: A
  readonly shared: Option.Option<S>
}

/**
 * How a call ended: by its own work, or with what its leader shared.
 *
 * @category models
 * @since 0.1.0
 */
export type Ended<A, S> =
  | { readonly _tag: "Ran"; readonly value: A }
  | { readonly _tag: "Followed"; readonly shared: S }

/**
 * The calls of one process.
 *
 * @category models
 * @since 0.1.0
 */
export interface EqualCalls<in out S> {
  /**
   * Runs a call, or waits for an equal one and takes what it shares.
   *
   * The leader's followers go on when its effect has ended. What should be
   * found by calls that come later, such as an entry of a cache, is written
   * within the effect.
   */
  readonly run: <A, E, R>(call: Call, work: Effect.Effect<Work<A, S>, E, R>) => Effect.Effect<Ended<A, S>, E, R>

  /** How many calls are in progress, how many of them lead and how many wait. */
  readonly counts: () => { readonly calls: number; readonly leading: number; readonly waiting: number }
}

/**
 * Creates the calls of one process.
 *
 * **Details**
 *
 * `maxWait` (5 minutes) ends waits that `within` does not show to be in vain:
 * code of an application that waits for a run without telling who waits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <S>(options: { readonly maxWait?: Duration.Input } = {}): EqualCalls<S> => {
  const maxWait = Duration.fromInputUnsafe(options.maxWait ?? "5 minutes")
  const inProgress = new Map<string, Call>()
  const leaders = new Map<string, Leader<S>>()
  const waits = new Set<Wait<S>>()

  const lead = <A, E, R>(call: Call, work: Effect.Effect<Work<A, S>, E, R>): Effect.Effect<Work<A, S>, E, R> => {
    const leader: Leader<S> = { call, ended: Deferred.makeUnsafe() }
    leaders.set(call.key, leader)
    return Effect.onExit(work, (exit) =>
      Effect.sync(() => {
        // Free before anybody goes on, so that who comes next leads.
        leaders.delete(call.key)
        Deferred.doneUnsafe(leader.ended, Effect.succeed(Exit.isSuccess(exit) ? exit.value.shared : Option.none()))
      }))
  }
  const follow = (call: Call, leader: Leader<S>, restore: Restore): Effect.Effect<Option.Option<S>> => {
    const wait = { call, leader }
    waits.add(wait)
    return restore(Effect.timeoutOption(Deferred.await(leader.ended), maxWait)).pipe(
      Effect.map(Option.flatten),
      Effect.ensuring(Effect.sync(() => waits.delete(wait)))
    )
  }

  const enter = <A, E, R>(
    call: Call,
    work: Effect.Effect<Work<A, S>, E, R>,
    restore: Restore
  ): Effect.Effect<Ended<A, S>, E, R> => {
    const leader = leaders.get(call.key)
    if (leader === undefined) return Effect.map(lead(call, restore(work)), ran)
    if (endsAfter(leader, call, waits)) return Effect.map(restore(work), ran)
    return Effect.flatMap(
      follow(call, leader, restore),
      (shared): Effect.Effect<Ended<A, S>, E, R> =>
        Option.isSome(shared)
          ? Effect.succeed({ _tag: "Followed", shared: shared.value })
          : Effect.map(restore(work), ran)
    )
  }

  return {
    run: (given, work) =>
      // What is entered in the tables is taken out again, wherever an interruption falls.
      Effect.uninterruptibleMask((restore) => {
        const { id, key, queue } = given
        const call: Call = { key, id, queue, within: enclosing(given, inProgress) }
        inProgress.set(call.id, call)
        return Effect.ensuring(
          enter(call, work, restore),
          Effect.sync(() => {
            if (inProgress.get(call.id) === call) inProgress.delete(call.id)
          })
        )
      }),
    counts: () => ({ calls: inProgress.size, leading: leaders.size, waiting: waits.size })
  }
}

interface Leader<in out S> {
  readonly call: Call
  readonly ended: Deferred.Deferred<Option.Option<S>>
}

interface Wait<in out S> {
  readonly call: Call
  readonly leader: Leader<S>
}

const ran = <A>({ value }: Work<A, unknown>): Ended<A, never> => ({ _tag: "Ran", value })

const enclosing = ({ within }: Call, inProgress: ReadonlyMap<string, Call>): ReadonlyArray<string> => {
  const all = new Set(within)
  for (const id of all) for (const outer of inProgress.get(id)?.within ?? []) all.add(outer)
  return [...all]
}

// A leader ends after all calls inside of it and of what holds it up; those that wait end after their leaders.
const endsAfter = <S>(leader: Leader<S>, call: Call, waits: Iterable<Wait<S>>): boolean => {
  const all = [...waits]
  const reached = new Set([leader])
  for (const each of reached) {
    if (holdsUp(call, each)) return true
    for (const wait of all) if (holdsUp(wait.call, each)) reached.add(wait.leader)
  }
  return false
}

const holdsUp = <S>({ within }: Call, leader: Leader<S>): boolean => {
  const queue = leader.call.queue?.()
  return within.includes(leader.call.id) || (queue !== undefined && within.includes(queue))
}
