/**
 * Tables of runs and threads in memory, and the steps that operations of the
 * memory store are made of.
 *
 * @since 0.1.0
 */
import * as RunRecord from "../values/RunRecord.ts"
import type {
  Events,
  LeaseRequest,
  ListedThread,
  LoadedRun,
  NewRun,
  RunRow,
  Settlement,
  ThreadQuery
} from "./RunRow.ts"

/**
 * A run: its row, its records, its events, and the runs below it in the order
 * they were created.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  row: RunRow
  readonly records: Map<string, string>
  readonly events: Array<{ readonly sequence: number; readonly json: string }>
  readonly children: Array<string>
}

/**
 * A thread: who holds it until when, the last number of its tree's events, and
 * its runs in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Thread {
  epoch: number
  holder: string | null
  expiresAt: number
  sequence: number
  readonly runs: Array<string>
}

/**
 * Tables of runs and threads. Every step is synchronous.
 *
 * @category models
 * @since 0.1.0
 */
export class MemoryTables {
  readonly #runs = new Map<string, Run>()
  readonly #threads = new Map<string, Thread>()
  #epoch = 0

  find(runId: string | null | undefined): Run | undefined {
    return this.#runs.get(runId ?? "")
  }

  findThread(threadId: string): Thread | undefined {
    return this.#threads.get(threadId)
  }

  allRuns(): Iterable<Run> {
    return this.#runs.values()
  }

  allThreads(): Iterable<Thread> {
    return this.#threads.values()
  }

  /** Takes a lease and gives the thread an epoch that was never given before. */
  take(thread: Thread, lease: LeaseRequest): number {
    thread.holder = lease.holder
    thread.expiresAt = lease.now + lease.ttl
    thread.epoch = ++this.#epoch
    return thread.epoch
  }

  /** Takes the leases below a thread that its former holder has there. */
  takeBelow(thread: Thread, former: string, lease: LeaseRequest): void {
    for (const runId of thread.runs.flatMap((run) => this.get(run).children)) {
      const below = this.thread(this.get(runId).row.threadId)
      if (below.holder === former) this.take(below, lease)
      this.takeBelow(below, former, lease)
    }
  }

  /** The thread with an id, made if it is not there. */
  thread(threadId: string): Thread {
    const known = this.#threads.get(threadId)
    if (known !== undefined) return known
    const thread: Thread = { epoch: 0, holder: null, expiresAt: 0, sequence: 0, runs: [] }
    this.#threads.set(threadId, thread)
    return thread
  }

  /** A run that the same operation knows to be there. */
  get(runId: string): Run {
    return this.#runs.get(runId) as Run
  }

  /** Adds a run to its thread, with its first records. */
  insert(row: RunRow, records: NewRun["records"] = []): void {
    const kept = new Map(records.map(({ json, key }) => [key, json]))
    this.#runs.set(row.runId, { row, records: kept, events: [], children: [] })
    this.thread(row.threadId).runs.push(row.runId)
  }

  /** A run as operations give it. */
  loaded({ records, row }: Run): LoadedRun {
    return {
      row,
      records: Array.from(records, ([key, json]) => ({ key, json })),
      epoch: this.thread(row.threadId).epoch
    }
  }

  /** Numbers events and keeps each with its run. Gives the first number. */
  emit(events: Events): number {
    const first = events[0]
    if (first === undefined) return 0
    const root = this.thread(this.get(first.runId).row.rootThreadId)
    const sequence = root.sequence + 1
    for (const { json, runId } of events) this.get(runId).events.push({ sequence: ++root.sequence, json })
    return sequence
  }

  /** Marks a run that is not driven any more, and gives its lease back. */
  rest(run: Run, to: Partial<RunRow>, events: Events): number {
    run.row = { ...run.row, ...to }
    this.thread(run.row.threadId).holder = null
    return this.emit(events)
  }

  /** Settles a run, deletes its records and gives its lease back. */
  settle(run: Run, { activeMillis, messages, outcome, stoppedAt, usage }: Settlement): void {
    run.row = { ...run.row, state: "Settled", outcome, usage, messages, activeMillis, stoppedAt }
    run.records.clear()
    this.thread(run.row.threadId).holder = null
  }

  /** What follows when a run has settled: its own thread goes, or its children are pruned. */
  tidy(run: Run, keepChildren: number): void {
    if (run.row.ephemeral) this.forget(run.row.threadId)
    else this.prune(run.row.threadId, keepChildren)
  }

  /** Root threads with their last runs, in the order of their ids. */
  list({ after, agentId, freeAt, limit, states, stoppedBefore, tenant }: ThreadQuery): ReadonlyArray<ListedThread> {
    return [...this.#threads]
      .flatMap(([threadId, { expiresAt, holder, runs }]) => {
        const last = this.find(runs[runs.length - 1])?.row
        if (last === undefined || last.parentRunId !== null || threadId <= after) return []
        if (states?.includes(last.state) === false) return []
        if (tenant !== undefined && last.tenant !== tenant) return []
        if (agentId !== undefined && last.agentId !== agentId) return []
        if (stoppedBefore !== undefined && (last.stoppedAt ?? Infinity) >= stoppedBefore) return []
        if (freeAt !== undefined && holder !== null && expiresAt > freeAt) return []
        const { shape, startedAt, state, stoppedAt } = last
        return [{
          threadId,
          tenant: last.tenant,
          runId: last.runId,
          agentId: last.agentId,
          shape,
          state,
          startedAt,
          stoppedAt,
          holder,
          expiresAt
        }]
      })
      .sort((a, b) => a.threadId < b.threadId ? -1 : 1)
      .slice(0, limit)
  }

  /** A run and the open runs below it, parents first. */
  openTree(runId: string): ReadonlyArray<Run> {
    const run = this.#runs.get(runId)
    if (run === undefined || run.row.state === "Settled") return []
    return [run, ...run.children.flatMap((child) => this.openTree(child))]
  }

  /** Whether a child of a run, or of a suspended run below it, has settled without a result in its parent. */
  hasUnheard({ children, records }: Run): boolean {
    return children.map((runId) => this.get(runId)).some((child) =>
      child.row.state === "Settled"
        ? !records.has(RunRecord.resultKey(child.row.callKey ?? ""))
        : child.row.state === "Suspended" && this.hasUnheard(child)
    )
  }

  /** Deletes settled child threads of a thread that nobody needs, until `keep` are left. */
  prune(threadId: string, keep: number): void {
    const parents = this.thread(threadId).runs.map((runId) => this.get(runId))
    const prunable = parents.flatMap((parent) =>
      parent.children.map((runId) => this.get(runId)).filter(({ row }) =>
        row.state === "Settled" &&
        (parent.row.state === "Settled" || parent.records.has(RunRecord.resultKey(row.callKey ?? "")))
      )
    )
    for (const { row } of prunable.slice(0, Math.max(0, prunable.length - keep))) this.forget(row.threadId)
  }

  /** Deletes a thread and everything below it. */
  forget(threadId: string): void {
    for (const runId of this.#threads.get(threadId)?.runs ?? []) {
      const { children, row } = this.get(runId)
      for (const child of [...children]) this.forget(this.get(child).row.threadId)
      const siblings = this.#runs.get(row.parentRunId ?? "")?.children ?? []
      const at = siblings.indexOf(runId)
      if (at >= 0) siblings.splice(at, 1)
      this.#runs.delete(runId)
    }
    this.#threads.delete(threadId)
  }
}
