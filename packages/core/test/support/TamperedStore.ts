/** A store some of whose rows and records were edited by hand. */
import type { RunRow, RunStore } from "@mandate/core"
import { Effect } from "effect"

type Store = RunStore.RunStore["Service"]

/** What to put in place of a run's column, or of one of its records. */
export interface Edit {
  readonly runId: string
  readonly column?: keyof RunRow.RunRow
  readonly record?: string
  readonly value: unknown
}

/** The store as it reads after an edit. What it writes goes to the store below. */
export const tampered = (inner: Store, edit: Edit): Store => {
  const row = (row: RunRow.RunRow): RunRow.RunRow =>
    row.runId === edit.runId && edit.column !== undefined ? { ...row, [edit.column]: edit.value } : row
  const loaded = (run: RunRow.LoadedRun): RunRow.LoadedRun => ({
    ...run,
    row: row(run.row),
    records: run.row.runId === edit.runId && edit.record !== undefined
      ? run.records.map((record) => record.key === edit.record ? { ...record, json: String(edit.value) } : record)
      : run.records
  })
  const reads: Partial<Store> = {
    load: (runId) => Effect.map(inner.load(runId), (run) => run === undefined ? undefined : loaded(run)),
    thread: (threadId) => Effect.map(inner.thread(threadId), (rows) => rows.map(row)),
    children: (runId) => Effect.map(inner.children(runId), (rows) => rows.map(row)),
    seize: (runId, lease) => Effect.map(inner.seize(runId, lease), (runs) => runs.map(loaded)),
    create: (parent, run, lease, events) =>
      Effect.map(inner.create(parent, run, lease, events), (created) => ({ ...created, run: loaded(created.run) }))
  }
  return new Proxy(inner, {
    get: (target, name) => {
      const method = reads[name as keyof Store] ?? target[name as keyof Store]
      return typeof method === "function" ? method.bind(target) : method
    }
  })
}
