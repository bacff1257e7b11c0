import { assert, describe, it } from "@effect/vitest"
import { type RunRow, RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const program = new URL("../support/CrashProgram.ts", import.meta.url).pathname
const flags = ["--conditions=mandate-source", "--disable-warning=ExperimentalWarning"]

/** Runs the program on a folder's file, and kills it some time after so many tool calls have ended. */
const start = (mode: "run" | "recover", folder: string, kill?: { readonly calls: number; readonly millis: number }) =>
  new Promise<{ readonly code: number | null; readonly last: string; readonly errors: string }>((resolve) => {
    const child = spawn(process.execPath, [...flags, program, mode, join(folder, "runs.db"), join(folder, "ledger")])
    let output = ""
    let errors = ""
    child.stdout.on("data", (data) => {
      output += data
      const calls = output.split("\n").filter((line) => line.startsWith("noted")).length
      if (kill === undefined || calls < kill.calls) return
      if (kill.millis === 0) child.kill("SIGKILL")
      else setTimeout(() => child.kill("SIGKILL"), kill.millis)
    })
    child.stderr.on("data", (data) => errors += data)
    child.on("close", (code) => resolve({ code, last: output.trim().split("\n").at(-1) ?? "", errors }))
  })

/** Tool calls in the order in which they ran, or model calls. */
const ledgerOf = (folder: string, name: "ledger" | "ledger-models" = "ledger"): ReadonlyArray<string> =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8").trim().split("\n") : []

/** A model is only asked for a step when all calls of the steps before it are recorded. */
const isFollowed = (models: ReadonlyArray<string>) => (call: string): boolean => {
  const [, run, step] = /^(.*)\/(\d+)\.\d+$/.exec(call)!
  return models.includes(`${run}/${Number(step) + 1}`)
}

/** The tool calls that may not run again: those with a record, and all of a run that is settled. */
const recordedIn = async (folder: string): Promise<(call: string) => boolean> => {
  const runs = await Effect.runPromise(
    Effect.gen(function*() {
      const store = yield* RunStore.RunStore
      const found: Array<RunRow.LoadedRun> = []
      const visit: (runId: string) => Effect.Effect<void, RunStore.StoreError> = Effect.fnUntraced(function*(runId) {
        const loaded = yield* store.load(runId)
        if (loaded !== undefined) found.push(loaded)
        for (const child of yield* store.children(runId)) yield* visit(child.runId)
      })
      yield* visit("t#0")
      return found
    }).pipe(Effect.provide(SqliteRunStore.layer({ filename: join(folder, "runs.db") })))
  )
  const settled = runs.filter(({ row }) => row.state === "Settled").map(({ row }) => row.runId)
  const recorded = new Set(
    runs.flatMap(({ records, row }) =>
      records.filter(({ key }) => key.startsWith("t/")).map(({ key }) => `${row.runId}/${key.slice(2)}`)
    )
  )
  return (call) => recorded.has(call) || settled.some((runId) => call.startsWith(`${runId}/`))
}

/** A history without times. */
const timeless = (history: string): unknown =>
  JSON.parse(history, (key, value) => /Millis$|^at$|duration/i.test(key) ? 0 : value)

const inFolder = async <A>(body: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "mandate-crash-"))
  try {
    return await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const whole = inFolder(async (folder) => ({ ...await start("run", folder), ledger: ledgerOf(folder) }))

const moments = [
  { calls: 1, millis: 0 },
  { calls: 3, millis: 1 },
  { calls: 5, millis: 0 },
  { calls: 8, millis: 2 },
  { calls: 11, millis: 0 },
  { calls: 10, millis: 1 }
]

describe("a process that is killed", () => {
  it("runs to the end when it is not", async () => {
    const { code, errors, last, ledger } = await whole

    assert.deepStrictEqual([code, errors], [0, ""])
    assert.lengthOf(JSON.parse(last), 1)
    assert.lengthOf(new Set(ledger), 12)
    assert.lengthOf(ledger, 12)
  })

  it.each(moments)(
    "is gone on with by another one, and no recorded call runs again: $calls calls and $millis ms",
    { timeout: 20_000 },
    (kill) =>
      inFolder(async (folder) => {
        const killed = await start("run", folder, kill)
        const isRecorded = await recordedIn(folder)
        const before = ledgerOf(folder)
        const models = ledgerOf(folder, "ledger-models")
        const recovered = await start("recover", folder)
        const after = ledgerOf(folder).slice(before.length)
        const check = new DatabaseSync(join(folder, "runs.db"), { readOnly: true })
        const integrity = check.prepare("PRAGMA integrity_check").get()
        check.close()

        // Towards the end it may be done before it is killed, which must be right too.
        if (kill.calls <= 8) assert.isNull(killed.code)
        if (kill.calls >= 8) assert.isNotEmpty(before.filter(isRecorded))
        assert.deepStrictEqual([recovered.code, recovered.errors], [0, ""])
        assert.deepStrictEqual(after.filter(isRecorded), [])
        assert.deepStrictEqual(after.filter(isFollowed(models)), [])
        if (kill.calls >= 8) assert.isNotEmpty(before.filter(isFollowed(models)))
        assert.sameMembers([...new Set([...before, ...after])], [...new Set((await whole).ledger)])
        assert.deepStrictEqual(timeless(recovered.last), timeless((await whole).last))
        assert.deepStrictEqual({ ...integrity }, { integrity_check: "ok" })
      })
  )
})
