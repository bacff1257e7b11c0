/**
 * The whole story, each act in a process of its own, and what is left of it. Some of the processes may be killed; the
 * next one goes on from the store.
 */
import { Effect } from "effect"
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Report, Unit } from "./Act.ts"
import * as Ledger from "./Ledger.ts"
import * as StoreImage from "./StoreImage.ts"

/**
 * When a process is killed: after so many writes, within the last of so many, or after so many milliseconds of work,
 * counted from the beginning of an act. Acts count from 1, and from the kill before, if there was one.
 */
export interface Kill {
  readonly unit: Unit
  readonly amount: number
  readonly act: number
}

/** What was there when a process had been killed. */
export interface Killed {
  /** The act in which it was, from 1. */
  readonly act: number
  readonly image: StoreImage.StoreImage
  readonly ledgers: Ledger.Ledgers
}

/** What a story leaves. */
export interface Left {
  /** The acts that came to their end. */
  readonly acts: ReadonlyArray<Report>
  readonly killed: ReadonlyArray<Killed>
  readonly image: StoreImage.StoreImage
  readonly ledgers: Ledger.Ledgers
}

/** A folder that goes with the scope. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "mandate-crash-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The program of an act as one file, which starts five times faster. It goes with the scope. */
export const program = Effect.flatMap(folder, (path) => {
  const outfile = join(path, "Act.mjs")
  return Effect.as(
    Effect.promise(() =>
      build({
        entryPoints: [fileURLToPath(new URL("Act.ts", import.meta.url))],
        outfile,
        bundle: true,
        platform: "node",
        format: "esm",
        conditions: ["mandate-source"],
        logLevel: "warning"
      })
    ),
    outfile
  )
})

/** Lives the story to its end, with a kill after the other. */
export const live = (program: string, ...kills: ReadonlyArray<Kill>): Effect.Effect<Left, unknown> =>
  Effect.scoped(Effect.gen(function*() {
    const path = yield* folder
    const acts: Array<Report> = []
    const killed: Array<Killed> = []
    let sinceKill: ReadonlyArray<Report> = []
    while (acts.length < mostActs) {
      const ended = yield* perform(program, path, remaining(kills[killed.length], sinceKill))
      if (ended === "killed") {
        killed.push(yield* remains(path, killed.length, acts.length + 1))
        sinceKill = []
        continue
      }
      acts.push(ended)
      sinceKill = [...sinceKill, ended]
      if (ended.history !== undefined) {
        const image = yield* StoreImage.read(join(path, "runs.db"))
        return { acts, killed, image, ledgers: Ledger.read(path) }
      }
    }
    return yield* Effect.fail(new Error(`the story did not end: ${acts.map(({ did }) => did).join(", ")}`))
  }))

/** Three acts, one more to recover, and one more for an answer that was lost. */
const mostActs = 6

/** The way to a kill that is left after some acts; nothing if its act is still to come. */
const remaining = (kill: Kill | undefined, acts: ReadonlyArray<Report>): Omit<Kill, "act"> | undefined => {
  if (kill === undefined || acts.length + 1 < kill.act) return undefined
  const done = acts.slice(kill.act - 1)
    .reduce((sum, { millis, writes }) => sum + (kill.unit === "millis" ? millis : writes), 0)
  return { unit: kill.unit, amount: kill.amount - done }
}

const perform = (
  program: string,
  path: string,
  kill: Omit<Kill, "act"> | undefined
): Effect.Effect<Report | "killed", unknown> =>
  Effect.callback<Report | "killed", Error>((resume) => {
    const args = kill === undefined ? [] : [kill.unit, String(kill.amount)]
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, path, ...args])
    let output = ""
    let errors = ""
    child.stdout.on("data", (data) => output += data)
    child.stderr.on("data", (data) => errors += data)
    child.on("close", (code, signal) => {
      const [ready, report] = output.split("\n")
      if (signal === "SIGKILL" && kill !== undefined && ready === "ready") return resume(Effect.succeed("killed"))
      if (code === 0 && report !== undefined && errors === "") return resume(Effect.succeed(JSON.parse(report)))
      resume(Effect.fail(new Error(`a process ended with ${signal ?? code}: ${errors}`)))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  }).pipe(Effect.timeout("1 minute"))

// The next process is to find the files of the store as the killed one left them, so it is a copy that is read.
const remains = Effect.fnUntraced(function*(path: string, kills: number, act: number) {
  const copies = join(path, `copies-${kills}`)
  yield* Effect.sync(() => {
    mkdirSync(copies)
    for (const name of ["runs.db", "runs.db-wal"]) {
      if (existsSync(join(path, name))) copyFileSync(join(path, name), join(copies, name))
    }
  })
  return { act, image: yield* StoreImage.read(join(copies, "runs.db")), ledgers: Ledger.read(path) }
})
