/**
 * A run store in memory. It is lost with the process.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ids from "../values/Ids.ts"
import { MemoryTables, type Run, type Thread } from "./MemoryTables.ts"
import type {
  Answered,
  ClosedRun,
  Events,
  Fence,
  Leased,
  LeaseRequest,
  NewRun,
  Record,
  Settlement,
  ThreadQuery
} from "./RunRow.ts"
import { Fenced, RunStore } from "./RunStore.ts"

/**
 * Creates a store in memory. Every operation is synchronous, so each is one
 * transaction by itself: it checks first and changes afterwards.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): RunStore["Service"] => new MemoryRunStore()

/**
 * Layer with a store in memory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<RunStore> = Layer.sync(RunStore, make)

class MemoryRunStore {
  readonly #tables = new MemoryTables()

  open(run: NewRun, lease: LeaseRequest, events: (runId: string) => Events) {
    return Effect.sync(() => {
      const thread = this.#tables.thread(run.threadId)
      const last = this.#tables.find(thread.runs[thread.runs.length - 1] ?? "")
      if (last !== undefined && last.row.tenant !== run.tenant) return { _tag: "OtherTenant" as const }
      if (last !== undefined && last.row.state !== "Settled") {
        return { _tag: "Occupied" as const, run: last.row, held: isHeld(thread, lease.now) }
      }
      const runId = Ids.runId(run.threadId, nextNumber(thread))
      this.#tables.insert({ ...run, runId, ...fresh })
      return {
        _tag: "Started" as const,
        runId,
        epoch: this.#tables.take(thread, lease),
        sequence: this.#tables.emit(events(runId))
      }
    })
  }

  create(parent: Fence, run: NewRun, lease: LeaseRequest, events: Events) {
    return this.#fenced(parent, (parentRun) => {
      const thread = this.#tables.thread(run.threadId)
      const runId = Ids.runId(run.threadId, 0)
      const created = this.#tables.find(runId) === undefined
      if (created) {
        this.#tables.insert({ ...run, runId, ...fresh })
        parentRun.children.push(runId)
      }
      const child = this.#tables.get(runId)
      if (child.row.state !== "Settled") this.#tables.take(thread, lease)
      return { created, run: this.#tables.loaded(child), sequence: created ? this.#tables.emit(events) : 0 }
    })
  }

  load(runId: string) {
    return Effect.sync(() => {
      const run = this.#tables.find(runId)
      return run === undefined ? undefined : this.#tables.loaded(run)
    })
  }

  thread(threadId: string) {
    return Effect.sync(() =>
      (this.#tables.findThread(threadId)?.runs ?? []).map((runId) => this.#tables.get(runId).row)
    )
  }

  list(query: ThreadQuery) {
    return Effect.sync(() => this.#tables.list(query))
  }

  children(runId: string) {
    return Effect.sync(() => (this.#tables.find(runId)?.children ?? []).map((child) => this.#tables.get(child).row))
  }

  append(fence: Fence, batch: {
    readonly records: ReadonlyArray<Record>
    readonly events: Events
    readonly close?: ReadonlyArray<ClosedRun & { readonly runId: string }>
    readonly keepChildren?: number
  }) {
    return this.#fenced(fence, (run) => {
      for (const { json, key } of batch.records) if (!run.records.has(key)) run.records.set(key, json)
      for (const { runId, settlement } of batch.close ?? []) {
        const closed = this.#tables.find(runId)
        if (closed !== undefined && closed.row.state !== "Settled") this.#tables.settle(closed, settlement)
      }
      const sequence = this.#tables.emit(batch.events)
      this.#pruneBelow(batch.close ?? [])
      if (batch.keepChildren !== undefined) this.#tables.prune(fence.threadId, batch.keepChildren)
      return sequence
    })
  }

  suspend(fence: Fence, to: { readonly usage: string; readonly activeMillis: number }, events: Events) {
    return this.#fenced(fence, (run) => this.#tables.rest(run, { ...to, state: "Suspended" }, events))
  }

  fail(
    fence: Fence,
    to: { readonly outcome: string; readonly usage: string; readonly activeMillis: number },
    events: Events
  ) {
    return this.#fenced(fence, (run) => this.#tables.rest(run, { ...to, state: "Failed" }, events))
  }

  settle(fence: Fence, settlement: Settlement, events: Events, keepChildren: number) {
    return this.#fenced(fence, (run) => {
      this.#tables.settle(run, settlement)
      const sequence = this.#tables.emit(events)
      this.#tables.tidy(run, keepChildren)
      return sequence
    })
  }

  lease(threadId: string, lease: LeaseRequest & { readonly force?: boolean }) {
    return Effect.sync((): Leased => {
      const thread = this.#tables.thread(threadId)
      const former = thread.holder === lease.holder ? null : thread.holder
      if (former !== null && isHeld(thread, lease.now) && lease.force !== true) {
        return { _tag: "Held", until: thread.expiresAt }
      }
      if (former !== null) this.#tables.takeBelow(thread, former, lease)
      return { _tag: "Taken", epoch: this.#tables.take(thread, lease) }
    })
  }

  isHeld(threadId: string, lease: LeaseRequest) {
    return Effect.sync(() => {
      const thread = this.#tables.findThread(threadId)
      return thread !== undefined && thread.holder !== lease.holder && isHeld(thread, lease.now)
    })
  }

  reopen(fence: Fence, events: Events) {
    return this.#fenced(fence, (run) => {
      run.row = { ...run.row, state: "Running", outcome: null }
      return this.#tables.emit(events)
    })
  }

  answer(threadId: string, lease: LeaseRequest, runs: ReadonlyArray<Answered>, events: Events) {
    return Effect.suspend(() => {
      const lost = runs.find(({ records, runId }) => {
        const run = this.#tables.find(runId)
        return run?.row.state !== "Suspended" || records.some(({ key }) => run.records.has(key))
      })
      if (lost !== undefined) return Effect.fail(new Fenced({ runId: lost.runId }))
      for (const { records, runId } of runs) {
        const run = this.#tables.get(runId)
        for (const { json, key } of records) if (!run.records.has(key)) run.records.set(key, json)
        run.row = { ...run.row, state: "Running" }
      }
      const epoch = this.#tables.take(this.#tables.thread(threadId), lease)
      return Effect.succeed({ epoch, sequence: this.#tables.emit(events) })
    })
  }

  renew(lease: LeaseRequest) {
    return Effect.sync(() => {
      for (const thread of this.#tables.allThreads()) {
        if (thread.holder === lease.holder) thread.expiresAt = lease.now + lease.ttl
      }
    })
  }

  release(holder: string) {
    return Effect.sync(() => {
      for (const thread of this.#tables.allThreads()) if (thread.holder === holder) thread.holder = null
    })
  }

  seize(runId: string, lease: LeaseRequest) {
    return Effect.sync(() => {
      const tree = this.#tables.openTree(runId)
      for (const run of tree) this.#tables.take(this.#tables.thread(run.row.threadId), lease)
      return tree.map((run) => this.#tables.loaded(run))
    })
  }

  close(
    runs: ReadonlyArray<ClosedRun & { readonly fence: Fence }>,
    events: Events
  ) {
    return Effect.suspend(() => {
      const lost = runs.find(({ fence }) => !this.#holds(fence))
      if (lost !== undefined) return Effect.fail(new Fenced({ runId: lost.fence.runId }))
      for (const { fence, settlement } of runs) this.#tables.settle(this.#tables.get(fence.runId), settlement)
      const sequence = this.#tables.emit(events)
      const [top, ...below] = runs
      this.#pruneBelow(below.map(({ fence, keepChildren }) => ({ runId: fence.runId, keepChildren })))
      if (top !== undefined) this.#tables.tidy(this.#tables.get(top.fence.runId), top.keepChildren)
      return Effect.succeed(sequence)
    })
  }

  forget(threadId: string) {
    return Effect.sync(() => this.#tables.forget(threadId))
  }

  events(rootThreadId: string, after: number) {
    return Effect.sync(() =>
      [...this.#tables.allRuns()]
        .filter((run) => run.row.rootThreadId === rootThreadId)
        .flatMap((run) => run.events.filter(({ sequence }) => sequence > after))
        .sort((a, b) => a.sequence - b.sequence)
    )
  }

  // What is deepest first: pruning a thread takes all below it.
  #pruneBelow(closed: ReadonlyArray<{ readonly runId: string; readonly keepChildren: number }>): void {
    for (const { keepChildren, runId } of closed.toReversed()) {
      const run = this.#tables.find(runId)
      if (run !== undefined) this.#tables.prune(run.row.threadId, keepChildren)
    }
  }

  #fenced<A>(fence: Fence, write: (run: Run) => A): Effect.Effect<A, Fenced> {
    return Effect.suspend(() =>
      this.#holds(fence)
        ? Effect.succeed(write(this.#tables.get(fence.runId)))
        : Effect.fail(new Fenced({ runId: fence.runId }))
    )
  }

  #holds(fence: Fence): boolean {
    const run = this.#tables.find(fence.runId)
    return run !== undefined && run.row.state !== "Settled" &&
      this.#tables.findThread(fence.threadId)?.epoch === fence.epoch
  }
}

const fresh = { state: "Running", outcome: null, usage: null, messages: null, activeMillis: 0 } as const

const isHeld = (thread: Thread, now: number): boolean => thread.holder !== null && thread.expiresAt > now

const nextNumber = (thread: Thread): number => {
  const last = thread.runs[thread.runs.length - 1]
  return last === undefined ? 0 : Number(last.slice(last.lastIndexOf("#") + 1)) + 1
}
