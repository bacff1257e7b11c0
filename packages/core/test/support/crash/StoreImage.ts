/**
 * All that a store holds of the story, read from a file that no process uses.
 */
import { RunEvent, type RunRow, RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import * as Story from "./Story.ts"

export interface StoreImage {
  readonly rows: ReadonlyArray<RunRow.RunRow>
  /** Keys of the records that are left, by run. */
  readonly records: ReadonlyMap<string, ReadonlyArray<string>>
  readonly events: ReadonlyArray<RunEvent.DurableEvent>
  /** Threads whose lease somebody holds. */
  readonly held: ReadonlyArray<string>
  /** What SQLite says of the file: `ok`. */
  readonly integrity: string
}

/** Reads a file. SQLite tidies it up when the last one closes it: what is to be found as it was left is copied first. */
export const read = (filename: string): Effect.Effect<StoreImage, unknown> =>
  Effect.gen(function*() {
    const store = yield* RunStore.RunStore
    const runs: Array<RunRow.LoadedRun> = []
    const visit: (row: RunRow.RunRow) => Effect.Effect<void, RunStore.StoreError> = Effect.fnUntraced(function*(row) {
      const loaded = yield* store.load(row.runId)
      if (loaded !== undefined) runs.push(loaded)
      yield* Effect.forEach(yield* store.children(row.runId), visit, { discard: true })
    })
    yield* Effect.forEach(yield* store.thread(Story.threadId), visit, { discard: true })
    const rows = runs.map(({ row }) => row)
    const nobody = { holder: "nobody", now: Date.now(), ttl: 0 }
    return {
      rows,
      records: new Map(runs.map(({ records, row }) => [row.runId, records.map(({ key }) => key)])),
      events: yield* Effect.forEach(yield* store.events(Story.threadId, 0), decodeEvent),
      held: yield* Effect.filter(rows.map(({ threadId }) => threadId), (thread) => store.isHeld(thread, nobody)),
      integrity: integrityOf(filename)
    }
  }).pipe(Effect.provide(SqliteRunStore.layer({ filename })))

/** Whether a run has a record, or is settled, which it is only when it needs none any more. */
export const isRecorded = ({ records, rows }: StoreImage, runId: string, key: string): boolean =>
  records.get(runId)?.includes(key) === true ||
  rows.some((row) => row.runId === runId && row.state === "Settled")

const decode = Schema.decodeUnknownEffect(RunEvent.RunEvent)

const decodeEvent = ({ json, sequence }: { readonly json: string; readonly sequence: number }) =>
  Effect.map(decode({ ...JSON.parse(json), sequence }), (event) => event as RunEvent.DurableEvent)

const integrityOf = (filename: string): string => {
  const db = new DatabaseSync(filename, { readOnly: true })
  const found = db.prepare("PRAGMA integrity_check").all().map((row) => String(row["integrity_check"]))
  db.close()
  return found.join(", ")
}
