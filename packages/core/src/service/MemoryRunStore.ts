/**
 * A run store in memory. It is lost with the process.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ids from "../values/Ids.ts"
import * as FirstRow from "./FirstRow.ts"
import { MemoryTables, type Run, type Thread } from "./MemoryTables.ts"
import type { Fence, Leased } from "./RunRow.ts"
import { Fenced, RunStore } from "./RunStore.ts"

/**
 * Creates a store in memory. Every operation is synchronous, so each is one
 * transaction by itself: it checks first and changes afterwards.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): RunStore["Service"] => {
  const tables = new MemoryTables()

  const holds = (fence: Fence): boolean => {
    const run = tables.find(fence.runId)
    return run !== undefined && run.row.state !== "Settled" && tables.findThread(fence.threadId)?.epoch === fence.epoch
  }

  const fenced = <A>(fence: Fence, write: (run: Run) => A): Effect.Effect<A, Fenced> =>
    Effect.suspend(() =>
      holds(fence)
        ? Effect.succeed(write(tables.get(fence.runId)))
        : Effect.fail(new Fenced({ runId: fence.runId }))
    )

  // Pruning a thread takes all below it, which is gone then.
  const pruneBelow = (closed: ReadonlyArray<{ readonly runId: string; readonly keepChildren: number }>): void => {
    for (const { keepChildren, runId } of closed) {
      const run = tables.find(runId)
      if (run !== undefined) tables.prune(run.row.threadId, keepChildren)
    }
  }

  return {
    open: (run, lease, events) =>
      Effect.sync(() => {
        const thread = tables.thread(run.threadId)
        const last = tables.find(thread.runs[thread.runs.length - 1] ?? "")
        if (last !== undefined && last.row.tenant !== run.tenant) return { _tag: "OtherTenant" as const }
        if (last !== undefined && last.row.state !== "Settled") {
          return { _tag: "Occupied" as const, run: last.row, held: isHeld(thread, lease.now) }
        }
        const row = FirstRow.make(run, nextNumber(thread))
        tables.insert(row, run.records)
        return {
          _tag: "Started" as const,
          runId: row.runId,
          epoch: tables.take(thread, lease),
          sequence: tables.emit(events(row.runId))
        }
      }),

    create: (parent, run, lease, events) =>
      fenced(parent, (parentRun) => {
        const thread = tables.thread(run.threadId)
        const row = FirstRow.make(run, 0)
        const created = tables.find(row.runId) === undefined
        if (created) {
          tables.insert(row, run.records)
          parentRun.children.push(row.runId)
        }
        const child = tables.get(row.runId)
        if (child.row.state !== "Settled") tables.take(thread, lease)
        return { created, run: tables.loaded(child), sequence: created ? tables.emit(events) : 0 }
      }),

    load: (runId) =>
      Effect.sync(() => {
        const run = tables.find(runId)
        return run === undefined ? undefined : tables.loaded(run)
      }),

    thread: (threadId) =>
      Effect.sync(() => (tables.findThread(threadId)?.runs ?? []).map((runId) => tables.get(runId).row)),

    list: (query) => Effect.sync(() => tables.list(query)),

    children: (runId) => Effect.sync(() => (tables.find(runId)?.children ?? []).map((child) => tables.get(child).row)),

    append: (fence, batch) =>
      fenced(fence, (run) => {
        for (const { json, key } of batch.records) if (!run.records.has(key)) run.records.set(key, json)
        for (const { runId, settlement } of batch.close ?? []) {
          const closed = tables.find(runId)
          if (closed !== undefined && closed.row.state !== "Settled") tables.settle(closed, settlement)
        }
        const sequence = tables.emit(batch.events)
        pruneBelow(batch.close ?? [])
        if (batch.keepChildren !== undefined) tables.prune(fence.threadId, batch.keepChildren)
        return sequence
      }),

    suspend: (fence, to, events) =>
      fenced(
        fence,
        (run) => tables.hasUnheard(run) ? undefined : tables.rest(run, { ...to, state: "Suspended" }, events)
      ),

    fail: (fence, to, events) => fenced(fence, (run) => tables.rest(run, { ...to, state: "Failed" }, events)),

    settle: (fence, settlement, events, keepChildren) =>
      fenced(fence, (run) => {
        tables.settle(run, settlement)
        const sequence = tables.emit(events)
        tables.tidy(run, keepChildren)
        return sequence
      }),

    lease: (threadId, lease) =>
      Effect.sync((): Leased => {
        const thread = tables.thread(threadId)
        const former = thread.holder === lease.holder ? null : thread.holder
        if (former !== null && isHeld(thread, lease.now) && lease.force !== true) {
          return { _tag: "Held", until: thread.expiresAt }
        }
        if (former !== null) tables.takeBelow(thread, former, lease)
        return { _tag: "Taken", epoch: tables.take(thread, lease) }
      }),

    isHeld: (threadId, lease) =>
      Effect.sync(() => {
        const thread = tables.findThread(threadId)
        return thread !== undefined && thread.holder !== lease.holder && isHeld(thread, lease.now)
      }),

    reopen: (fence, events) =>
      fenced(fence, (run) => {
        run.row = { ...run.row, state: "Running", stoppedAt: null, outcome: null }
        return tables.emit(events)
      }),

    answer: (threadId, lease, runs, events) =>
      Effect.suspend(() => {
        const lost = runs.find(({ records, runId }) => {
          const run = tables.find(runId)
          return run?.row.state !== "Suspended" || records.some(({ key }) => run.records.has(key))
        })
        if (lost !== undefined) return Effect.fail(new Fenced({ runId: lost.runId }))
        for (const { records, runId } of runs) {
          const run = tables.get(runId)
          for (const { json, key } of records) if (!run.records.has(key)) run.records.set(key, json)
          run.row = { ...run.row, state: "Running", stoppedAt: null }
        }
        const epoch = tables.take(tables.thread(threadId), lease)
        return Effect.succeed({ epoch, sequence: tables.emit(events) })
      }),

    renew: (lease) =>
      Effect.sync(() => {
        for (const thread of tables.allThreads()) {
          if (thread.holder === lease.holder) thread.expiresAt = lease.now + lease.ttl
        }
      }),

    release: (holder) =>
      Effect.sync(() => {
        for (const thread of tables.allThreads()) if (thread.holder === holder) thread.holder = null
      }),

    seize: (runId, lease) =>
      Effect.sync(() => {
        const epoch = tables.findThread(tables.find(runId)?.row.threadId ?? "")?.epoch
        const tree = lease.epoch === undefined || lease.epoch === epoch ? tables.openTree(runId) : []
        for (const run of tree) tables.take(tables.thread(run.row.threadId), lease)
        return tree.map((run) => tables.loaded(run))
      }),

    close: (runs, events) =>
      Effect.suspend(() => {
        const lost = runs.find(({ fence }) => !holds(fence))
        if (lost !== undefined) return Effect.fail(new Fenced({ runId: lost.fence.runId }))
        for (const { fence, settlement } of runs) tables.settle(tables.get(fence.runId), settlement)
        const sequence = tables.emit(events)
        const [top, ...below] = runs
        pruneBelow(below.map(({ fence, keepChildren }) => ({ runId: fence.runId, keepChildren })))
        if (top !== undefined) tables.tidy(tables.get(top.fence.runId), top.keepChildren)
        return Effect.succeed(sequence)
      }),

    forget: (threadId, epoch) =>
      Effect.suspend(() => {
        const thread = tables.findThread(threadId)
        if (thread === undefined) return Effect.void
        if (epoch !== undefined && epoch !== thread.epoch) {
          return Effect.fail(new Fenced({ runId: thread.runs[thread.runs.length - 1] ?? Ids.runId(threadId, 0) }))
        }
        return Effect.sync(() => tables.forget(threadId))
      }),

    events: (rootThreadId, after) =>
      Effect.sync(() =>
        [...tables.allRuns()]
          .filter((run) => run.row.rootThreadId === rootThreadId)
          .flatMap((run) => run.events.filter(({ sequence }) => sequence > after))
          .sort((a, b) => a.sequence - b.sequence)
      )
  }
}

/**
 * Layer with a store in memory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<RunStore> = Layer.sync(RunStore, make)

const isHeld = (thread: Thread, now: number): boolean => thread.holder !== null && thread.expiresAt > now

const nextNumber = (thread: Thread): number => {
  const last = thread.runs[thread.runs.length - 1]
  return last === undefined ? 0 : Number(last.slice(last.lastIndexOf("#") + 1)) + 1
}
