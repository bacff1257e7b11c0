/**
 * Steps that operations of the SQLite store are made of. Each is a part of its
 * caller's transaction.
 *
 * @since 0.1.0
 */
import type {
  Events,
  Fence,
  LeaseRequest,
  ListedThread,
  LoadedRun,
  NewRun,
  Record,
  RunRow,
  Settlement,
  Stopped,
  ThreadQuery
} from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"
import * as RunRecord from "../values/RunRecord.ts"
import { listedOf, type Place, rowOf, shorten, split, type StoredRun } from "./SqliteRows.ts"
import type { SqliteStatements } from "./SqliteStatements.ts"

/**
 * Tables of a SQLite file.
 *
 * @category models
 * @since 0.1.0
 */
export class SqliteTables {
  readonly sql: SqliteStatements
  readonly #taken = new Map<number, { readonly runId: string; readonly place: Place }>()

  constructor(sql: SqliteStatements) {
    this.sql = sql
  }

  /** Where a run is, if it is there. */
  place(runId: string): Place | undefined {
    return this.sql.place(...split(runId))
  }

  /**
   * Where a run is that a writer holds. Epochs are given once, so one that a
   * thread still has tells that what is known of its run still holds. An epoch
   * that was rolled back was given to nobody, so nobody asks by it.
   */
  held({ epoch, runId }: Fence): Place | undefined {
    const known = this.#taken.get(epoch)
    if (known?.runId === runId) {
      const held = this.sql.held(known.place.id, known.place.thread, epoch)
      return held === undefined ? undefined : { ...known.place, sequence: held.sequence }
    }
    const place = this.place(runId)
    if (place === undefined || place.state === "Settled" || place.epoch !== epoch) return undefined
    this.#remember(runId, place)
    return place
  }

  /** Takes a lease and gives the thread an epoch that was never given before. */
  take(thread: number, { holder, now, ttl }: LeaseRequest): number {
    const epoch = this.#nextEpoch()
    this.sql.take(holder, now + ttl, epoch, thread)
    return epoch
  }

  /** Takes the leases below a thread that its former holder has there. */
  takeBelow(top: number, former: string, lease: LeaseRequest): void {
    for (const { thread } of this.sql.heldBelow(top, former)) this.take(thread, lease)
  }

  /** Adds a thread whose lease is taken. */
  insertThread(threadId: string, tenant: string, lease: LeaseRequest): Pick<Place, "thread" | "epoch"> {
    const { holder, now, ttl } = lease
    const epoch = this.#nextEpoch()
    return { thread: Number(this.sql.insertThread(threadId, tenant, holder, now + ttl, epoch).lastInsertRowid), epoch }
  }

  /** Root threads with their last runs. */
  list({ after, agentId, freeAt, limit, states, stoppedBefore, tenant }: ThreadQuery): ReadonlyArray<ListedThread> {
    const query = states === undefined || states.includes("Settled") ? this.sql.list : this.sql.listOpen
    const wanted = states === undefined ? null : `|${states.join("|")}|`
    return query(after, wanted, tenant ?? null, agentId ?? null, freeAt ?? null, stoppedBefore ?? null, limit).map(
      listedOf
    )
  }

  /** Adds a run to its thread, below a parent or none, with its events. Gives the number of the first. */
  insert(
    run: NewRun,
    number: number,
    { epoch, thread }: Pick<Place, "thread" | "epoch">,
    parent: Place | undefined,
    events: Events
  ): number {
    const runId = Ids.runId(run.threadId, number)
    const firstEvent = events.find((event) => event.runId === runId)?.json ?? null
    const ephemeral = run.ephemeral ? 1 : 0
    const root = parent?.root ?? thread
    const { lastInsertRowid } = this.sql.insertRun(
      thread,
      number,
      root,
      parent?.id ?? null,
      parent?.thread ?? null,
      ephemeral,
      firstEvent,
      run.callKey,
      run.toolCallId,
      this.#definition(run),
      run.depth,
      run.depthLeft,
      run.budget,
      run.input,
      run.prompt,
      run.startedAt
    )
    const id = Number(lastInsertRowid)
    for (const { json, key } of run.records ?? []) this.sql.insertRecord(id, key, json)
    const sequence = parent?.sequence ?? this.sql.sequence(root)?.sequence ?? 0
    const place: Place = { id, thread, root, state: "Running", ephemeral, firstEvent, epoch, sequence }
    this.#remember(runId, place)
    return this.emit(events, runId, place)
  }

  /** A run as operations give it. */
  loaded(run: StoredRun, epoch = run.epoch): LoadedRun {
    return { row: rowOf(run), records: this.sql.records(run.id).map(({ json, key }) => ({ key, json })), epoch }
  }

  /**
   * Numbers events and keeps each with its run; `near` is the run they are
   * likely of, `usages` those of runs that were settled just now. Gives the
   * first number.
   */
  emit(events: Events, nearId: string, near: Place, usages?: ReadonlyMap<string, string>): number {
    if (events.length === 0) return 0
    const { root, sequence } = near
    events.forEach(({ json, runId }, index) => {
      const place = runId === nearId ? near : this.place(runId)
      const { cut, rest, shared } = shorten(json, place?.firstEvent ?? null, usages?.get(runId))
      // The column refuses the event of a run that is not there.
      this.sql.insertEvent(place?.id ?? null, sequence + 1 + index, shared, rest, cut)
    })
    this.sql.setSequence(sequence + events.length, root)
    return sequence + 1
  }

  /** Marks a run that is not driven any more, and gives its lease back. */
  rest(
    { epoch, id, thread }: Place,
    to: Stopped & Pick<RunRow, "state"> & { readonly outcome?: string }
  ): void {
    this.sql.stop(to.state, to.activeMillis, to.stoppedAt, id)
    this.sql.rest(id, to.outcome ?? null, to.usage)
    this.sql.letGo(thread)
    this.#taken.delete(epoch)
  }

  /** Where a suspended run is that has none of some records. */
  asked(runId: string, records: ReadonlyArray<Record>): Place | undefined {
    const place = this.place(runId)
    return place?.state === "Suspended" && !records.some(({ key }) => this.sql.record(place.id, key) !== undefined)
      ? place
      : undefined
  }

  /** Adds records to a suspended run and marks it `Running`. */
  answer({ id }: Place, records: ReadonlyArray<Record>): void {
    for (const { json, key } of records) this.sql.insertRecord(id, key, json)
    this.sql.running(id)
  }

  /** Settles a run, deletes its records and gives its lease back. */
  settle({ epoch, id, thread }: Place, { activeMillis, messages, outcome, stoppedAt, usage }: Settlement): void {
    this.sql.stop("Settled", activeMillis, stoppedAt, id)
    this.sql.settle(id, outcome, usage, messages)
    this.sql.deleteRecords(id)
    this.sql.letGo(thread)
    this.#taken.delete(epoch)
  }

  /** What follows when a run has settled: its own thread goes, or its children are pruned. */
  tidy(run: Place, keepChildren: number): void {
    if (run.ephemeral === 1) this.forget(run.thread)
    else this.prune(run.thread, keepChildren)
  }

  /** A run and the open runs below it, parents first, each once: a file that was edited may have them in a circle. */
  openTree(top: StoredRun): ReadonlyArray<StoredRun> {
    const tree = new Map<number, StoredRun>()
    const next = [top]
    for (let run = next.pop(); run !== undefined; run = next.pop()) {
      if (tree.has(run.id)) continue
      tree.set(run.id, run)
      next.push(...this.sql.openChildren(run.thread, run.id).toReversed())
    }
    return [...tree.values()]
  }

  /** Whether a child of a run, or of a suspended run below it, has settled without a result in its parent. */
  hasUnheard({ id, thread }: Place): boolean {
    return this.sql.unheard(id, thread, RunRecord.resultKey("")) !== undefined
  }

  /** Deletes settled child threads of a thread that nobody needs, until `keep` are left. */
  prune(thread: number, keep: number): void {
    if ((this.sql.childCount(thread)?.count ?? 0) <= keep) return
    for (const child of this.sql.prunable(thread, RunRecord.resultKey(""), keep)) this.forget(child.thread)
  }

  /** Deletes a thread and everything below it. */
  forget(top: number): void {
    for (const { thread } of this.sql.below(top)) {
      this.sql.deleteRecordsOf(thread)
      this.sql.deleteEventsOf(thread)
      this.sql.deleteResultsOf(thread)
      this.sql.deleteRunsOf(thread)
      this.sql.deleteThread(thread)
    }
  }

  #definition({ agentId, agentPath, binding, format, limits, shape }: NewRun): number {
    const values = [agentId, agentPath, shape, limits, binding, format] as const
    return this.sql.definition(...values)?.id ?? Number(this.sql.insertDefinition(...values).lastInsertRowid)
  }

  #nextEpoch(): number {
    const epoch = (this.sql.lastEpoch()?.value ?? 0) + 1
    this.sql.setEpoch(epoch)
    return epoch
  }

  // A process that dies with runs, or loses them, leaves them here: none may be kept for ever.
  #remember(runId: string, place: Place): void {
    if (this.#taken.size >= maxTaken) this.#taken.clear()
    this.#taken.set(place.epoch, { runId, place })
  }
}

const maxTaken = 10_000
