/**
 * Operations of a run store on the tables of a SQLite file.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type {
  Answered,
  Events,
  Fence,
  Leased,
  LeaseRequest,
  NewRun,
  Opened,
  Record,
  Settlement,
  ThreadQuery
} from "../service/RunRow.ts"
import { Fenced, type RunStore, type StoreError } from "../service/RunStore.ts"
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
export const make = (commits: GroupCommit, tables: SqliteTables): RunStore["Service"] =>
  new SqliteDriver(commits, tables)

class SqliteDriver {
  readonly #commits: GroupCommit
  readonly #tables: SqliteTables

  constructor(commits: GroupCommit, tables: SqliteTables) {
    this.#commits = commits
    this.#tables = tables
  }

  open(run: NewRun, lease: LeaseRequest, events: (runId: string) => Events) {
    return this.#write("open", (): Opened => {
      const thread = this.#tables.sql.thread(run.threadId)
      const last = thread === undefined ? undefined : this.#tables.sql.lastRun(thread.id)
      if (last !== undefined && last.tenant !== run.tenant) return { _tag: "OtherTenant" }
      if (thread !== undefined && last !== undefined && last.state !== "Settled") {
        return { _tag: "Occupied", run: rowOf(last), held: isHeld(thread, lease.now) }
      }
      if (thread !== undefined && last === undefined) this.#tables.sql.setTenant(run.tenant, thread.id)
      const taken = this.#take(run.threadId, run.tenant, thread, lease)
      const number = last === undefined ? 0 : last.number + 1
      const runId = Ids.runId(run.threadId, number)
      const sequence = this.#tables.insert(run, number, taken, undefined, events(runId))
      return { _tag: "Started", runId, epoch: taken.epoch, sequence }
    })
  }

  create(parent: Fence, run: NewRun, lease: LeaseRequest, events: Events) {
    return this.#fenced("create", parent, (above) => {
      const thread = this.#tables.sql.thread(run.threadId)
      const known = thread === undefined ? undefined : this.#tables.sql.run(run.threadId, 0)
      if (known !== undefined) {
        const epoch = known.state === "Settled" ? known.epoch : this.#tables.take(known.thread, lease)
        return { created: false, run: this.#tables.loaded(known, epoch), sequence: 0 }
      }
      const taken = this.#take(run.threadId, run.tenant, thread, lease)
      const sequence = this.#tables.insert(run, 0, taken, above, events)
      const row = { ...run, runId: Ids.runId(run.threadId, 0), ...fresh }
      return { created: true, run: { row, records: [], epoch: taken.epoch }, sequence }
    })
  }

  load(runId: string) {
    return this.#commits.read("load", () => {
      const run = this.#tables.sql.run(...split(runId))
      return run === undefined ? undefined : this.#tables.loaded(run)
    })
  }

  thread(threadId: string) {
    return this.#commits.read("thread", () => this.#tables.sql.runsOf(threadId).map(rowOf))
  }

  list(query: ThreadQuery) {
    return this.#commits.read("list", () => this.#tables.list(query))
  }

  children(runId: string) {
    return this.#commits.read("children", () => {
      const run = this.#tables.place(runId)
      return run === undefined ? [] : this.#tables.sql.children(run.thread, run.id).map(rowOf)
    })
  }

  append(fence: Fence, batch: {
    readonly records: ReadonlyArray<Record>
    readonly events: Events
    readonly close?: ReadonlyArray<{ readonly runId: string; readonly settlement: Settlement }>
    readonly keepChildren?: number
  }) {
    return this.#fenced("append", fence, (run) => {
      for (const { json, key } of batch.records) this.#tables.sql.insertRecord(run.id, key, json)
      for (const { runId, settlement } of batch.close ?? []) {
        const closed = this.#tables.place(runId)
        if (closed !== undefined && closed.state !== "Settled") this.#tables.settle(closed, settlement)
      }
      const sequence = this.#tables.emit(batch.events, fence.runId, run)
      if (batch.keepChildren !== undefined) this.#tables.prune(run.thread, batch.keepChildren)
      return sequence
    })
  }

  suspend(fence: Fence, to: { readonly usage: string; readonly activeMillis: number }, events: Events) {
    return this.#fenced("suspend", fence, (run) => {
      this.#tables.rest(run, { ...to, state: "Suspended" })
      return this.#tables.emit(events, fence.runId, run)
    })
  }

  fail(
    fence: Fence,
    to: { readonly outcome: string; readonly usage: string; readonly activeMillis: number },
    events: Events
  ) {
    return this.#fenced("fail", fence, (run) => {
      this.#tables.rest(run, { ...to, state: "Failed" })
      return this.#tables.emit(events, fence.runId, run)
    })
  }

  settle(fence: Fence, settlement: Settlement, events: Events, keepChildren: number) {
    return this.#fenced("settle", fence, (run) => {
      this.#tables.settle(run, settlement)
      const sequence = this.#tables.emit(events, fence.runId, run, usagesOf([{ runId: fence.runId, settlement }]))
      this.#tables.tidy(run, keepChildren)
      return sequence
    })
  }

  lease(threadId: string, lease: LeaseRequest & { readonly force?: boolean }) {
    return this.#write("lease", (): Leased => {
      const thread = this.#tables.sql.thread(threadId)
      return thread !== undefined && isHeld(thread, lease.now) && thread.holder !== lease.holder && lease.force !== true
        ? { _tag: "Held", until: thread.expiresAt }
        : { _tag: "Taken", epoch: this.#take(threadId, "", thread, lease).epoch }
    })
  }

  isHeld(threadId: string, lease: LeaseRequest) {
    return this.#commits.read("isHeld", () => {
      const thread = this.#tables.sql.thread(threadId)
      return thread !== undefined && thread.holder !== lease.holder && isHeld(thread, lease.now)
    })
  }

  reopen(fence: Fence, events: Events) {
    return this.#fenced("reopen", fence, (run) => {
      this.#tables.sql.running(run.id)
      this.#tables.sql.clearOutcome(run.id)
      return this.#tables.emit(events, fence.runId, run)
    })
  }

  answer(
    threadId: string,
    lease: LeaseRequest,
    runs: ReadonlyArray<Answered>,
    events: Events
  ): Effect.Effect<{ readonly epoch: number; readonly sequence: number }, Fenced | StoreError> {
    return this.#commits.write("answer", () => {
      const asked = runs.map(({ records, runId }) => this.#tables.asked(runId, records))
      const lost = asked.indexOf(undefined)
      if (lost >= 0) return Result.fail(new Fenced({ runId: runs[lost]!.runId }))
      const places = asked as ReadonlyArray<Place>
      runs.forEach(({ records }, index) => this.#tables.answer(places[index]!, records))
      const { epoch } = this.#take(threadId, "", this.#tables.sql.thread(threadId), lease)
      const top = places[0]
      return Result.succeed({
        epoch,
        sequence: top === undefined ? 0 : this.#tables.emit(events, runs[0]!.runId, top)
      })
    })
  }

  renew(lease: LeaseRequest) {
    return this.#write("renew", () => void this.#tables.sql.renew(lease.now + lease.ttl, lease.holder))
  }

  release(holder: string) {
    return this.#write("release", () => void this.#tables.sql.release(holder))
  }

  seize(runId: string, lease: LeaseRequest) {
    return this.#write("seize", () => {
      const top = this.#tables.sql.run(...split(runId))
      const tree = top === undefined || top.state === "Settled" ? [] : this.#tables.openTree(top)
      return tree.map((run) => this.#tables.loaded(run, this.#tables.take(run.thread, lease)))
    })
  }

  close(
    runs: ReadonlyArray<{ readonly fence: Fence; readonly settlement: Settlement }>,
    events: Events,
    keepChildren: number
  ): Effect.Effect<number, Fenced | StoreError> {
    return this.#commits.write("close", () => {
      const held = runs.map(({ fence }) => this.#tables.held(fence))
      const lost = held.indexOf(undefined)
      if (lost >= 0) return Result.fail(new Fenced({ runId: runs[lost]!.fence.runId }))
      const places = held as ReadonlyArray<Place>
      runs.forEach(({ settlement }, index) => this.#tables.settle(places[index]!, settlement))
      const top = places[0]
      if (top === undefined) return Result.succeed(0)
      const usages = usagesOf(runs.map(({ fence, settlement }) => ({ runId: fence.runId, settlement })))
      const sequence = this.#tables.emit(events, runs[0]!.fence.runId, top, usages)
      this.#tables.tidy(top, keepChildren)
      return Result.succeed(sequence)
    })
  }

  forget(threadId: string) {
    return this.#write("forget", () => {
      const thread = this.#tables.sql.thread(threadId)
      if (thread !== undefined) this.#tables.forget(thread.id)
    })
  }

  events(rootThreadId: string, after: number) {
    return this.#commits.read(
      "events",
      () => this.#tables.sql.events(rootThreadId, after).map(eventOf)
    )
  }

  #write<A>(operation: string, write: () => A): Effect.Effect<A, StoreError> {
    return this.#commits.write(operation, () => Result.succeed(write()))
  }

  #fenced<A>(operation: string, fence: Fence, write: (run: Place) => A): Effect.Effect<A, Fenced | StoreError> {
    return this.#commits.write(operation, () => {
      const run = this.#tables.held(fence)
      return run === undefined ? Result.fail(new Fenced({ runId: fence.runId })) : Result.succeed(write(run))
    })
  }

  #take(
    threadId: string,
    tenant: string,
    thread: ThreadRow | undefined,
    lease: LeaseRequest
  ): Pick<Place, "thread" | "epoch"> {
    return thread === undefined
      ? this.#tables.insertThread(threadId, tenant, lease)
      : { thread: thread.id, epoch: this.#tables.take(thread.id, lease) }
  }
}

const fresh = { state: "Running", outcome: null, usage: null, messages: null, activeMillis: 0 } as const

const usagesOf = (settled: ReadonlyArray<{ readonly runId: string; readonly settlement: Settlement }>) =>
  new Map(settled.map(({ runId, settlement }) => [runId, settlement.usage]))

const isHeld = (thread: ThreadRow, now: number): boolean => thread.holder !== null && thread.expiresAt > now
