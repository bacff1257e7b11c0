/**
 * The world outside of the store, which keeps what it was told: files to which processes append a line for each thing
 * they do. A line is on the disk before the one who wrote it goes on.
 *
 * A line starts with the id of a run. What follows stands for a record of that run: `<prefix>/<rest of the line>`.
 */
import { Effect } from "effect"
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"

/** The ledgers, each with the prefix of the records that its lines stand for. */
const prefixes = {
  /** Tool calls by their idempotency key, just before their result. */
  tools: "t",
  /** Model calls as they begin. */
  models: "m",
  /** What handlers do under `once`. */
  effects: "s",
  /** Answers as they are about to be given. */
  answers: "a"
} as const

export type Name = keyof typeof prefixes

export const names = Object.keys(prefixes) as ReadonlyArray<Name>

/** All lines of all ledgers, in order. */
export type Ledgers = Readonly<Record<Name, ReadonlyArray<string>>>

/** Appends a line. */
export const append = (folder: string, name: Name, line: string): Effect.Effect<void> =>
  Effect.sync(() => {
    const descriptor = openSync(join(folder, name), "a")
    writeSync(descriptor, `${line}\n`)
    fsyncSync(descriptor)
    closeSync(descriptor)
  })

/** Reads all ledgers of a folder. */
export const read = (folder: string): Ledgers => ({
  tools: linesOf(join(folder, "tools")),
  models: linesOf(join(folder, "models")),
  effects: linesOf(join(folder, "effects")),
  answers: linesOf(join(folder, "answers"))
})

/** The run of a line, and the key of the record that it stands for. */
export const recordOf = (name: Name, line: string): { readonly runId: string; readonly key: string } => {
  const [, runId, rest] = /^(.*#\d+)\/(.+)$/.exec(line)!
  return { runId: runId!, key: `${prefixes[name]}/${rest!}` }
}

const linesOf = (file: string): ReadonlyArray<string> =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
