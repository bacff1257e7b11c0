/**
 * Shows that memory and the file stay flat: heap after a collection, size of the file after a checkpoint, and rows, after
 * few and after many runs of the reference job (a parent and three typed children) with a retention of two.
 *
 * `npm run bench:flat -- [--json] [--runs few,many]`. Exits with 1 when any of them differs by 10 % or more.
 *
 * A thread keeps its own settled runs by design, so its history grows with them. What must stay flat is all else:
 * - `unnamed`: each run has a thread of its own, which goes when the run settles
 * - `forgotten`: the runs are on a fixed set of threads in turn, and each of them is forgotten after five runs
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { misused, readArguments } from "../lib/arguments.ts"
import { type Case, cycle, retention, runsPerThread, type Sample, sample, stores, threads, ways } from "./flatCase.ts"
import { job } from "./job.ts"

const usage = "npm run bench:flat -- [--json] [--runs FEW,MANY]"
const { values } = readArguments(usage, {
  options: { json: { type: "boolean" }, runs: { type: "string", default: "2000,20000" }, case: { type: "string" } }
})
const runs = values.runs.split(",").map(Number)
const [few, many] = runs
if (
  few === undefined || many === undefined || runs.length !== 2 || few >= many ||
  !runs.every((count) => Number.isSafeInteger(count) && count > 0 && count % cycle === 0)
) {
  misused(`--runs takes two multiples of ${cycle}, the smaller first, not "${values.runs}"`, usage)
}
const limitPercent = 10

interface Row {
  readonly of: string
  readonly few: number
  readonly many: number
  readonly percent: number
  /** What one more run adds: small leaks do not show in percent of a heap that is mostly code. */
  readonly perRun: number
}

const percent = (before: number, after: number): number =>
  before === after ? 0 : Math.round(Math.abs(after - before) / before * 10_000) / 100
const row = (of: string, before: number, after: number): Row => ({
  of,
  few: before,
  many: after,
  percent: percent(before, after),
  perRun: Math.round((after - before) / (many - few) * 100) / 100
})

const compared = ([before, after]: readonly [Sample, Sample]): ReadonlyArray<Row> => [
  row("heap bytes", before.heapBytes, after.heapBytes),
  ...(before.fileBytes === undefined ? [] : [row("file bytes", before.fileBytes, after.fileBytes ?? 0)]),
  ...Object.keys(before.rows).map((table) => row(`${table} rows`, before.rows[table] ?? 0, after.rows[table] ?? 0))
]

const nameOf = ({ store, way }: Case): string => `${store}/${way}`
const cases = stores.flatMap((store) => ways.map((way): Case => ({ store, way })))

// A process of its own, so that no case finds the heap that another has left.
const inProcess = (one: Case): readonly [Sample, Sample] => {
  const options = ["--case", nameOf(one), "--runs", values.runs]
  const { status, stdout } = spawnSync(
    process.execPath,
    [...process.execArgv, fileURLToPath(import.meta.url), ...options],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
  )
  if (status !== 0) {
    console.error(`${nameOf(one)} ended with ${status}`)
    process.exit(1)
  }
  return JSON.parse(stdout)
}

if (values.case !== undefined) {
  const one = cases.find((known) => nameOf(known) === values.case)
  if (one === undefined) {
    console.error(`--case is one of ${cases.map(nameOf).join(", ")}`)
    process.exit(2)
  }
  const progress = (done: number) => console.error(`${nameOf(one)}: ${done} of ${many} runs`)
  console.log(JSON.stringify(await sample(one, [few, many], progress)))
} else {
  const results = cases.map((one) => ({ case: nameOf(one), rows: compared(inProcess(one)) }))
  if (values.json === true) {
    console.log(JSON.stringify({ job, node: process.version, retention, runs: { few, many }, limitPercent, results }))
  } else {
    console.log(
      `${job}; retention ${retention}; after ${few} and after ${many} runs of the parent, by node ${process.version}`
    )
    console.log("unnamed: a thread for each run, which goes when the run settles")
    console.log(`forgotten: ${threads} threads in turn, each forgotten after ${runsPerThread} runs`)
    for (const result of results) {
      console.log(`\n${result.case}`)
      for (const { few, many, of, percent, perRun } of result.rows) {
        const figures = [of.padEnd(16), String(few).padStart(10), String(many).padStart(10)]
        console.log(`  ${figures.join(" ")} ${percent.toFixed(2).padStart(7)} % ${perRun.toFixed(2).padStart(8)} a run`)
      }
    }
  }
  for (const result of results) {
    for (const { of, percent } of result.rows.filter((row) => !(row.percent < limitPercent))) {
      console.error(`${result.case}: ${of} differ by ${percent} %`)
      process.exitCode = 1
    }
  }
}
