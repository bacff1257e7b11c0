/**
 * A run store in memory. It is lost with the process.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ids from "../values/Ids.ts"
import * as RunRecord from "../values/RunRecord.ts"
import type { Events, Fence, Leased, LeaseRequest, LoadedRun, NewRun, Record, RunRow, Settlement } from "./RunRow.ts"
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

interface Run {
  row: RunRow
  readonly records: Map<string, string>
  readonly events: Array<{ readonly sequence: number; readonly json: string }>
  readonly children: Array<string>
}

interface Thread {
  epoch: number
  holder: string | null
  expiresAt: number
  sequence: number
  readonly runs: Array<string>
}

class MemoryRunStore {
  readonly #runs = new Map<string, Run>()
  readonly #threads = new Map<string, Thread>()
  #epoch = 0

  open(run: NewRun, lease: LeaseRequest, events: (runId: string) => Events) {
    return Effect.sync(() => {
      const thread = this.#thread(run.threadId)
      const last = this.#runs.get(thread.runs[thread.runs.length - 1] ?? "")
      if (last !== undefined && last.row.state !== "Settled") {
        return { _tag: "Occupied" as const, run: last.row, held: isHeld(thread, lease.now) }
      }
      const runId = Ids.runId(run.threadId, nextNumber(thread))
      this.#insert({ ...run, runId, ...fresh })
      return { _tag: "Started" as const, runId, epoch: this.#take(thread, lease), sequence: this.#emit(events(runId)) }
    })
  }

  create(parent: Fence, run: NewRun, lease: LeaseRequest, events: Events) {
    return this.#fenced(parent, (parentRun) => {
      const thread = this.#thread(run.threadId)
      const runId = Ids.runId(run.threadId, 0)
      const created = !this.#runs.has(runId)
      if (created) {
        this.#insert({ ...run, runId, ...fresh })
        parentRun.children.push(runId)
      }
      const child = this.#get(runId)
      if (child.row.state !== "Settled") this.#take(thread, lease)
      return { created, run: this.#loaded(child), sequence: created ? this.#emit(events) : 0 }
    })
  }

  load(runId: string) {
    return Effect.sync(() => {
      const run = this.#runs.get(runId)
      return run === undefined ? undefined : this.#loaded(run)
    })
  }

  thread(threadId: string) {
    return Effect.sync(() => (this.#threads.get(threadId)?.runs ?? []).map((runId) => this.#get(runId).row))
  }

  children(runId: string) {
    return Effect.sync(() => (this.#runs.get(runId)?.children ?? []).map((child) => this.#get(child).row))
  }

  append(fence: Fence, batch: {
    readonly records: ReadonlyArray<Record>
    readonly events: Events
    readonly close?: ReadonlyArray<{ readonly runId: string; readonly settlement: Settlement }>
    readonly keepChildren?: number
  }) {
    return this.#fenced(fence, (run) => {
      for (const { json, key } of batch.records) if (!run.records.has(key)) run.records.set(key, json)
      for (const { runId, settlement } of batch.close ?? []) this.#settle(this.#get(runId), settlement)
      const sequence = this.#emit(batch.events)
      if (batch.keepChildren !== undefined) this.#prune(fence.threadId, batch.keepChildren)
      return sequence
    })
  }

  suspend(fence: Fence, to: { readonly usage: string; readonly activeMillis: number }, events: Events) {
    return this.#fenced(fence, (run) => this.#rest(run, { ...to, state: "Suspended" }, events))
  }

  fail(
    fence: Fence,
    to: { readonly outcome: string; readonly usage: string; readonly activeMillis: number },
    events: Events
  ) {
    return this.#fenced(fence, (run) => this.#rest(run, { ...to, state: "Failed" }, events))
  }

  settle(fence: Fence, settlement: Settlement, events: Events, keepChildren: number) {
    return this.#fenced(fence, (run) => {
      this.#settle(run, settlement)
      const sequence = this.#emit(events)
      this.#tidy(run, keepChildren)
      return sequence
    })
  }

  lease(threadId: string, lease: LeaseRequest & { readonly force?: boolean }) {
    return Effect.sync((): Leased => {
      const thread = this.#thread(threadId)
      return isHeld(thread, lease.now) && thread.holder !== lease.holder && lease.force !== true
        ? { _tag: "Held", until: thread.expiresAt }
        : { _tag: "Taken", epoch: this.#take(thread, lease) }
    })
  }

  reopen(fence: Fence, events: Events) {
    return this.#fenced(fence, (run) => {
      run.row = { ...run.row, state: "Running", outcome: null }
      return this.#emit(events)
    })
  }

  renew(lease: LeaseRequest) {
    return Effect.sync(() => {
      for (const thread of this.#threads.values()) {
        if (thread.holder === lease.holder) thread.expiresAt = lease.now + lease.ttl
      }
    })
  }

  release(holder: string) {
    return Effect.sync(() => {
      for (const thread of this.#threads.values()) if (thread.holder === holder) thread.holder = null
    })
  }

  seize(runId: string, lease: LeaseRequest) {
    return Effect.sync(() => {
      const tree = this.#openTree(runId)
      for (const run of tree) this.#take(this.#thread(run.row.threadId), lease)
      return tree.map((run) => this.#loaded(run))
    })
  }

  close(
    runs: ReadonlyArray<{ readonly fence: Fence; readonly settlement: Settlement }>,
    events: Events,
    keepChildren: number
  ) {
    return Effect.suspend(() => {
      const lost = runs.find(({ fence }) => !this.#holds(fence))
      if (lost !== undefined) return Effect.fail(new Fenced({ runId: lost.fence.runId }))
      for (const { fence, settlement } of runs) this.#settle(this.#get(fence.runId), settlement)
      const sequence = this.#emit(events)
      const top = this.#runs.get(runs[0]?.fence.runId ?? "")
      if (top !== undefined) this.#tidy(top, keepChildren)
      return Effect.succeed(sequence)
    })
  }

  forget(threadId: string) {
    return Effect.sync(() => this.#forget(threadId))
  }

  events(rootThreadId: string, after: number) {
    return Effect.sync(() =>
      [...this.#runs.values()]
        .filter((run) => run.row.rootThreadId === rootThreadId)
        .flatMap((run) => run.events.filter(({ sequence }) => sequence > after))
        .sort((a, b) => a.sequence - b.sequence)
    )
  }

  #fenced<A>(fence: Fence, write: (run: Run) => A): Effect.Effect<A, Fenced> {
    return Effect.suspend(() =>
      this.#holds(fence)
        ? Effect.succeed(write(this.#get(fence.runId)))
        : Effect.fail(new Fenced({ runId: fence.runId }))
    )
  }

  #holds(fence: Fence): boolean {
    const run = this.#runs.get(fence.runId)
    return run !== undefined && run.row.state !== "Settled" && this.#threads.get(fence.threadId)?.epoch === fence.epoch
  }

  #take(thread: Thread, lease: LeaseRequest): number {
    thread.holder = lease.holder
    thread.expiresAt = lease.now + lease.ttl
    thread.epoch = ++this.#epoch
    return thread.epoch
  }

  #thread(threadId: string): Thread {
    const known = this.#threads.get(threadId)
    if (known !== undefined) return known
    const thread: Thread = { epoch: 0, holder: null, expiresAt: 0, sequence: 0, runs: [] }
    this.#threads.set(threadId, thread)
    return thread
  }

  // Callers hold an id that the store gave out in the same operation.
  #get(runId: string): Run {
    return this.#runs.get(runId) as Run
  }

  #insert(row: RunRow): void {
    this.#runs.set(row.runId, { row, records: new Map(), events: [], children: [] })
    this.#thread(row.threadId).runs.push(row.runId)
  }

  #loaded({ records, row }: Run): LoadedRun {
    return {
      row,
      records: Array.from(records, ([key, json]) => ({ key, json })),
      epoch: this.#thread(row.threadId).epoch
    }
  }

  #emit(events: Events): number {
    const first = events[0]
    if (first === undefined) return 0
    const root = this.#thread(this.#get(first.runId).row.rootThreadId)
    const sequence = root.sequence + 1
    for (const { json, runId } of events) this.#get(runId).events.push({ sequence: ++root.sequence, json })
    return sequence
  }

  #rest(run: Run, to: Partial<RunRow>, events: Events): number {
    run.row = { ...run.row, ...to }
    this.#thread(run.row.threadId).holder = null
    return this.#emit(events)
  }

  #settle(run: Run, { activeMillis, messages, outcome, usage }: Settlement): void {
    run.row = { ...run.row, state: "Settled", outcome, usage, messages, activeMillis }
    run.records.clear()
    this.#thread(run.row.threadId).holder = null
  }

  #tidy(run: Run, keepChildren: number): void {
    if (run.row.ephemeral) this.#forget(run.row.threadId)
    else this.#prune(run.row.threadId, keepChildren)
  }

  #openTree(runId: string): ReadonlyArray<Run> {
    const run = this.#runs.get(runId)
    if (run === undefined || run.row.state === "Settled") return []
    return [run, ...run.children.flatMap((child) => this.#openTree(child))]
  }

  #prune(threadId: string, keep: number): void {
    const parents = this.#thread(threadId).runs.map((runId) => this.#get(runId))
    const prunable = parents.flatMap((parent) =>
      parent.children.map((runId) => this.#get(runId)).filter(({ row }) =>
        row.state === "Settled" &&
        (parent.row.state === "Settled" || parent.records.has(RunRecord.resultKey(row.callKey ?? "")))
      )
    )
    for (const { row } of prunable.slice(0, Math.max(0, prunable.length - keep))) this.#forget(row.threadId)
  }

  #forget(threadId: string): void {
    for (const runId of this.#threads.get(threadId)?.runs ?? []) {
      const { children, row } = this.#get(runId)
      for (const child of [...children]) this.#forget(this.#get(child).row.threadId)
      const siblings = this.#runs.get(row.parentRunId ?? "")?.children ?? []
      const at = siblings.indexOf(runId)
      if (at >= 0) siblings.splice(at, 1)
      this.#runs.delete(runId)
    }
    this.#threads.delete(threadId)
  }
}

const fresh = { state: "Running", outcome: null, usage: null, messages: null, activeMillis: 0 } as const

const isHeld = (thread: Thread, now: number): boolean => thread.holder !== null && thread.expiresAt > now

const nextNumber = (thread: Thread): number => {
  const last = thread.runs[thread.runs.length - 1]
  return last === undefined ? 0 : Number(last.slice(last.lastIndexOf("#") + 1)) + 1
}
