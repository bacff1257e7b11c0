/**
 * Measures overhead: CPU time of the reference job on Mandate, in memory and on a SQLite file, against the AI SDK wired by
 * hand, in one interleaved run; and the bytes that a run takes in that file, before retention.
 *
 * `npm run bench -- [--json] [--runs N]`. Exits with 1 when either side did not do the whole job.
 */
import { MandateSqlite } from "@mandate/core/sqlite"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readArguments, wholeNumber } from "../lib/arguments.ts"
import * as aiSdk from "./aiSdk.ts"
import { answer, job, noCounts, type Side } from "./job.ts"
import * as mandate from "./mandate.ts"

// The AI SDK prints a hint on each warning of a model; the mock gives none worth reading.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const usage = "npm run bench -- [--json] [--runs N]"
const { values } = readArguments(usage, {
  options: { json: { type: "boolean" }, runs: { type: "string", default: "500" } }
})
const runs = wholeNumber("--runs", values.runs, 1, usage)
const repetitions = 5
const warmUp = Math.min(runs, 100)

/** CPU milliseconds a run, over one block of runs. */
const measure = async (side: Side, times: number): Promise<number> => {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const given = await side.once()
    if (given !== answer) throw new Error(`the parent answered ${JSON.stringify(given)}`)
  }
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1000 / times
}

const median = (samples: ReadonlyArray<number>): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN
const rounded = (value: number): number => Math.round(value * 1000) / 1000
const version = (name: string): string => {
  const path = createRequire(import.meta.url).resolve.paths(name)?.map((folder) => `${folder}/${name}/package.json`)
  for (const candidate of path ?? []) {
    try {
      return JSON.parse(readFileSync(candidate, "utf8")).version
    } catch {
      continue
    }
  }
  return "unknown"
}

const folder = mkdtempSync(join(tmpdir(), "mandate-bench-"))
const filename = join(folder, "runs.db")
const ours = await mandate.make()
const stored = await mandate.make(MandateSqlite.layer({ filename }), { named: true })
const theirs = aiSdk.make()
for (const side of [ours, stored, theirs]) {
  await measure(side, warmUp)
  Object.assign(side.counts, noCounts())
}

const samples: { readonly [side in "ours" | "sqlite" | "aiSdk"]: Array<number> } = { ours: [], sqlite: [], aiSdk: [] }
for (let i = 0; i < repetitions; i++) {
  samples.ours.push(await measure(ours, runs))
  samples.sqlite.push(await measure(stored, runs))
  samples.aiSdk.push(await measure(theirs, runs))
}
await ours.close()
// The last connection writes everything into the file itself.
await stored.close()
const bytesPerRun = Math.round(statSync(filename).size / (repetitions * runs + warmUp))
rmSync(folder, { recursive: true })

const per = (side: Side) => {
  const all = repetitions * runs
  return {
    modelCalls: side.counts.modelCalls / all,
    toolCalls: side.counts.toolCalls / all,
    reports: side.counts.reports / all
  }
}
const result = {
  job,
  versions: { node: process.version, effect: version("effect"), ai: version("ai") },
  runs: repetitions * runs,
  ours: { cpuMs: rounded(median(samples.ours)), samples: samples.ours.map(rounded) },
  sqlite: {
    cpuMs: rounded(median(samples.sqlite)),
    samples: samples.sqlite.map(rounded),
    ratio: rounded(median(samples.sqlite) / median(samples.aiSdk)),
    bytesPerRun
  },
  aiSdk: { cpuMs: rounded(median(samples.aiSdk)), samples: samples.aiSdk.map(rounded) },
  ratio: rounded(median(samples.ours) / median(samples.aiSdk)),
  ...per(ours)
}
const isWhole = (side: Side) =>
  JSON.stringify(per(side)) === JSON.stringify({ modelCalls: 8, toolCalls: 3, reports: 3 })

if (values.json === true) console.log(JSON.stringify(result))
else {
  console.log(`${job}\n${result.runs} runs each, medians of ${repetitions} interleaved blocks, CPU ms a run`)
  console.log(`Mandate ${result.ours.cpuMs}, AI SDK ${result.aiSdk.cpuMs}, ratio ${result.ratio}`)
  console.log(`On SQLite ${result.sqlite.cpuMs}, ratio ${result.sqlite.ratio}, ${bytesPerRun} bytes a run`)
}
for (const [name, side] of [["Mandate", ours], ["Mandate on SQLite", stored], ["the AI SDK", theirs]] as const) {
  if (!isWhole(side)) {
    console.error(`${name} did not do the whole job: ${JSON.stringify(per(side))}`)
    process.exitCode = 1
  }
}
