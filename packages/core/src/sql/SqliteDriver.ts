/**
 * Operations of a run store on the tables of a SQLite file.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FirstRow from "../service/FirstRow.ts"
import type { Fence, Leased, LeaseRequest, Opened, Settlement } from "../service/RunRow.ts"
import { Fenced, type RunStore, type StoreError } from "../service/RunStore.ts"
import { words } from "../service/StoreOperation.ts"
import * as Ids from "../values/Ids.ts"
import type { GroupCommit } from "./GroupCommit.ts"
import { eventOf, type Place, rowOf, split, type ThreadRow } from "./SqliteRows.ts"
import type { SqliteTables } from "./SqliteTables.ts"

/**
 * Creates a store from the transactions and the tables of a connection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  commits: GroupCommit,
  tables: SqliteTables
): RunStore["Service"] => {
  const write = <A>(operation: () => string, step: () => A): Effect.Effect<A, StoreError> =>
    commits.write(operation, () => Result.succeed(step()))

  const fenced = <A>(
    operation: (runId: string) => string,
    fence: Fence,
    step: (run: Place) => A
  ): Effect.Effect<A, Fenced | StoreError> =>
    commits.write(() => operation(fence.runId), () => {
      const run = tables.held(fence)
      return run === undefined ? Result.fail(new Fenced({ runId: fence.runId })) : Result.succeed(step(run))
    })

  const take = (
    threadId: string,
    tenant: string,
    thread: ThreadRow | undefined,
    lease: LeaseRequest
  ): Pick<Place, "thread" | "epoch"> =>
    thread === undefined
      ? tables.insertThread(threadId, tenant, lease)
      : { thread: thread.id, epoch: tables.take(thread.id, lease) }

  return {
    open: (run, lease, events) =>
      write(() => words.open(run.threadId), (): Opened => {
        const thread = tables.sql.thread(run.threadId)
        const last = thread === undefined ? undefined : tables.sql.lastRun(thread.id)
        if (last !== undefined && last.tenant !== run.tenant) return { _tag: "OtherTenant" }
        if (thread !== undefined && last !== undefined && last.state !== "Settled") {
          return { _tag: "Occupied", run: rowOf(last), held: isHeld(thread, lease.now) }
        }
        // Who takes a lease does not say whose the thread is; its first run does.
        if (thread !== undefined && last === undefined) tables.sql.setTenant(run.tenant, thread.id)
        const taken = take(run.threadId, run.tenant, thread, lease)
        const number = last === undefined ? 0 : last.number + 1
        const runId = Ids.runId(run.threadId, number)
        const sequence = tables.insert(run, number, taken, undefined, events(runId))
        return { _tag: "Started", runId, epoch: taken.epoch, sequence }
      }),

    create: (parent, run, lease, events) =>
      fenced(() => words.create(Ids.runId(run.threadId, 0)), parent, (above) => {
        const thread = tables.sql.thread(run.threadId)
        const known = thread === undefined ? undefined : tables.sql.run(run.threadId, 0)
        if (known !== undefined) {
          const epoch = known.state === "Settled" ? known.epoch : tables.take(known.thread, lease)
          return { created: false, run: tables.loaded(known, epoch), sequence: 0 }
        }
        if (thread !== undefined) tables.sql.setTenant(run.tenant, thread.id)
        const taken = take(run.threadId, run.tenant, thread, lease)
        const sequence = tables.insert(run, 0, taken, above, events)
        return { created: true, run: { row: FirstRow.make(run, 0), records: [], epoch: taken.epoch }, sequence }
      }),

    load: (runId) =>
      commits.read(() => words.load(runId), () => {
        const run = tables.sql.run(...split(runId))
        return run === undefined ? undefined : tables.loaded(run)
      }),

    thread: (threadId) => commits.read(() => words.thread(threadId), () => tables.sql.runsOf(threadId).map(rowOf)),

    list: (query) => commits.read(words.list, () => tables.list(query)),

    children: (runId) =>
      commits.read(() => words.children(runId), () => {
        const run = tables.place(runId)
        return run === undefined ? [] : tables.sql.children(run.thread, run.id).map(rowOf)
      }),

    append: (fence, batch) =>
      fenced(words.append, fence, (run) => {
        for (const { json, key } of batch.records) tables.sql.insertRecord(run.id, key, json)
        for (const { runId, settlement } of batch.close ?? []) {
          const closed = tables.place(runId)
          if (closed !== undefined && closed.state !== "Settled") tables.settle(closed, settlement)
        }
        const sequence = tables.emit(batch.events, fence.runId, run)
        // Pruning a thread takes all below it, which is gone then.
        for (const { keepChildren, runId } of batch.close ?? []) {
          const closed = tables.place(runId)
          if (closed !== undefined) tables.prune(closed.thread, keepChildren)
        }
        if (batch.keepChildren !== undefined) tables.prune(run.thread, batch.keepChildren)
        return sequence
      }),

    suspend: (fence, to, events) =>
      fenced(words.suspend, fence, (run) => {
        if (tables.hasUnheard(run)) return undefined
        tables.rest(run, { ...to, state: "Suspended" })
        return tables.emit(events, fence.runId, run)
      }),

    fail: (fence, to, events) =>
      fenced(words.fail, fence, (run) => {
        tables.rest(run, { ...to, state: "Failed" })
        return tables.emit(events, fence.runId, run)
      }),

    settle: (fence, settlement, events, keepChildren) =>
      fenced(words.settle, fence, (run) => {
        tables.settle(run, settlement)
        const sequence = tables.emit(events, fence.runId, run, usagesOf([{ runId: fence.runId, settlement }]))
        tables.tidy(run, keepChildren)
        return sequence
      }),

    lease: (threadId, lease) =>
      write(() => words.lease(threadId), (): Leased => {
        const thread = tables.sql.thread(threadId)
        const former = thread === undefined || thread.holder === lease.holder ? null : thread.holder
        if (thread !== undefined && former !== null) {
          if (isHeld(thread, lease.now) && lease.force !== true) return { _tag: "Held", until: thread.expiresAt }
          tables.takeBelow(thread.id, former, lease)
        }
        return { _tag: "Taken", epoch: take(threadId, "", thread, lease).epoch }
      }),

    isHeld: (threadId, lease) =>
      commits.read(() => words.isHeld(threadId), () => {
        const thread = tables.sql.thread(threadId)
        return thread !== undefined && thread.holder !== lease.holder && isHeld(thread, lease.now)
      }),

    reopen: (fence, events) =>
      fenced(words.reopen, fence, (run) => {
        tables.sql.running(run.id)
        tables.sql.clearOutcome(run.id)
        return tables.emit(events, fence.runId, run)
      }),

    answer: (threadId, lease, runs, events) =>
      commits.write(() => words.answer(threadId), () => {
        const asked = runs.map(({ records, runId }) => tables.asked(runId, records))
        const lost = asked.indexOf(undefined)
        if (lost >= 0) return Result.fail(new Fenced({ runId: runs[lost]!.runId }))
        const places = asked as ReadonlyArray<Place>
        runs.forEach(({ records }, index) => tables.answer(places[index]!, records))
        const { epoch } = take(threadId, "", tables.sql.thread(threadId), lease)
        const top = places[0]
        return Result.succeed({
          epoch,
          sequence: top === undefined ? 0 : tables.emit(events, runs[0]!.runId, top)
        })
      }),

    renew: (lease) => write(words.renew, () => void tables.sql.renew(lease.now + lease.ttl, lease.holder)),

    release: (holder) => write(words.release, () => void tables.sql.release(holder)),

    seize: (runId, lease) =>
      write(() => words.seize(runId), () => {
        const top = tables.sql.run(...split(runId))
        const isFree = lease.epoch === undefined || lease.epoch === top?.epoch
        const tree = top === undefined || top.state === "Settled" || !isFree ? [] : tables.openTree(top)
        return tree.map((run) => tables.loaded(run, tables.take(run.thread, lease)))
      }),

    close: (runs, events) =>
      commits.write(() => words.close(runs[0]?.fence.runId ?? ""), () => {
        const held = runs.map(({ fence }) => tables.held(fence))
        const lost = held.indexOf(undefined)
        if (lost >= 0) return Result.fail(new Fenced({ runId: runs[lost]!.fence.runId }))
        const places = held as ReadonlyArray<Place>
        runs.forEach(({ settlement }, index) => tables.settle(places[index]!, settlement))
        const top = places[0]
        if (top === undefined) return Result.succeed(0)
        const usages = usagesOf(runs.map(({ fence, settlement }) => ({ runId: fence.runId, settlement })))
        const sequence = tables.emit(events, runs[0]!.fence.runId, top, usages)
        runs.forEach(({ keepChildren }, index) => {
          if (index > 0) tables.prune(places[index]!.thread, keepChildren)
        })
        tables.tidy(top, runs[0]!.keepChildren)
        return Result.succeed(sequence)
      }),

    forget: (threadId, epoch) =>
      commits.write(() => words.forget(threadId), () => {
        const thread = tables.sql.thread(threadId)
        if (thread === undefined) return Result.void
        if (epoch !== undefined && epoch !== thread.epoch) {
          return Result.fail(new Fenced({ runId: Ids.runId(threadId, tables.sql.lastRun(thread.id)?.number ?? 0) }))
        }
        tables.forget(thread.id)
        return Result.void
      }),

    events: (rootThreadId, after) =>
      commits.read(
        () => words.events(rootThreadId),
        () => tables.sql.events(rootThreadId, after).map(eventOf)
      )
  }
}

const usagesOf = (settled: ReadonlyArray<{ readonly runId: string; readonly settlement: Settlement }>) =>
  new Map(settled.map(({ runId, settlement }) => [runId, settlement.usage]))

const isHeld = (thread: ThreadRow, now: number): boolean => thread.holder !== null && thread.expiresAt > now
