/**
 * The reference job, run many times on one runtime, and what that leaves in memory and in the file.
 */
import { Mandate, MemoryRunStore, RunStore } from "@mandate/core"
import { MandateSqlite } from "@mandate/core/sqlite"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setImmediate } from "node:timers/promises"
import { answer } from "./job.ts"
import * as mandate from "./mandate.ts"

export const stores = ["memory", "sqlite"] as const
export const ways = ["unnamed", "forgotten"] as const

/** Where runs are kept, and which threads they are on. */
export interface Case {
  readonly store: typeof stores[number]
  readonly way: typeof ways[number]
}

/** What is there after so many runs. */
export interface Sample {
  readonly runs: number
  readonly heapBytes: number
  readonly fileBytes: number | undefined
  readonly rows: { readonly [table: string]: number }
}

export const retention = 2
export const threads = 10
export const runsPerThread = 5

/** Runs after which every thread is as long as it was before them: only then do two samples compare. */
export const cycle = threads * runsPerThread

/** Samples one case in this process, at each of some counts of runs. */
export const sample = async (
  { store, way }: Case,
  at: ReadonlyArray<number>,
  progress: (runs: number) => void
): Promise<ReadonlyArray<Sample>> => {
  const kept = store === "memory" ? inMemory() : inFile()
  const side = await mandate.make(kept.runtime)
  const samples: Array<Sample> = []
  for (let runs = 0; samples.length < at.length;) {
    await once(side, way, runs++)
    if (runs % 1000 === 0) progress(runs)
    if (runs === at[samples.length]) samples.push({ runs, heapBytes: await heap(), ...await kept.sizes() })
  }
  const { modelCalls, reports } = side.counts
  const last = at[at.length - 1]!
  if (modelCalls !== 8 * last || reports !== 3 * last) throw new Error("the job was not done whole")
  await side.close()
  kept.remove()
  return samples
}

const once = async (side: mandate.Mandated, way: Case["way"], index: number): Promise<void> => {
  const threadId = `thread-${index % threads}`
  // Each thread has had its runs, in turn with the others, when it is forgotten and starts anew.
  if (way === "forgotten" && Math.floor(index / threads) % runsPerThread === 0) await side.forget(threadId)
  const given = await side.run({ childRetention: retention, ...(way === "forgotten" ? { threadId } : {}) })
  if (given !== answer) throw new Error(`the parent answered ${JSON.stringify(given)}`)
}

/** Bytes in use once nothing more can be collected. */
const heap = async (): Promise<number> => {
  const collect = (globalThis as { readonly gc?: () => void }).gc
  if (collect === undefined) throw new Error("it needs node --expose-gc")
  // Finalizers and weak references free more in later turns.
  for (let i = 0; i < 5; i++) {
    await setImmediate()
    collect()
  }
  return process.memoryUsage().heapUsed
}

const inMemory = () => {
  const store = MemoryRunStore.make()
  return {
    runtime: Layer.provide(Mandate.layer, Layer.succeed(RunStore.RunStore, store)),
    sizes: async () => ({ fileBytes: undefined, rows: await Effect.runPromise(reachable(store)) }),
    remove: () => {}
  }
}

const reachable = Effect.fnUntraced(function*(store: RunStore.RunStore["Service"]) {
  const rows = { threads: 0, runs: 0, records: 0, events: 0 }
  const add: (runId: string) => Effect.Effect<void, RunStore.StoreError> = Effect.fnUntraced(function*(runId) {
    rows.runs++
    rows.records += (yield* store.load(runId))?.records.length ?? 0
    for (const child of yield* store.children(runId)) {
      rows.threads++
      yield* add(child.runId)
    }
  })
  for (const { threadId } of yield* store.list({ after: "", limit: Number.MAX_SAFE_INTEGER })) {
    rows.threads++
    for (const { runId } of yield* store.thread(threadId)) yield* add(runId)
    rows.events += (yield* store.events(threadId, 0)).length
  }
  return rows
})

const inFile = () => {
  const folder = mkdtempSync(join(tmpdir(), "mandate-flat-"))
  const filename = join(folder, "runs.db")
  const sizes = async () => {
    const db = new DatabaseSync(filename, { timeout: 5000 })
    const busy = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"]
    if (busy !== 0) throw new Error("the file could not be checkpointed")
    const tables = ["threads", "runs", "results", "records", "events", "definitions"]
    const count = (table: string) => Number(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"])
    const rows = Object.fromEntries(tables.map((table) => [table, count(table)]))
    db.close()
    return { fileBytes: statSync(filename).size, rows }
  }
  return {
    runtime: MandateSqlite.layer({ filename }),
    sizes,
    remove: () => rmSync(folder, { recursive: true })
  }
}
