/** The commands, as processes of their own and in the process of the test. */
import { Effect, Layer, type Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Output } from "../../../support/src/Output.ts"
import * as Processes from "../../../support/test/Processes.ts"
import * as Command from "../../src/Command.ts"

export type Running = Processes.Running

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A path for a store, in a folder that is removed with the scope. */
export const newDb: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "approval-desk-test-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "desk.db")
)

/** Starts a command. It is killed when the scope closes, if it still runs then. */
export const start = (args: ReadonlyArray<string>) => Processes.start(main, args)

/** Runs a command to its end. */
export const run = (...args: ReadonlyArray<string>) => Processes.run(main, args)

/** Runs a command in the process of the test, for what only sets the scene. */
export const here = (...args: ReadonlyArray<string>): Effect.Effect<Processes.Ended> =>
  Effect.suspend(() => {
    const written = { stdout: "", stderr: "" }
    const writer = (name: "stdout" | "stderr") => (line: string) =>
      Effect.sync(() => void (written[name] += `${line}\n`))
    return Command.run(args).pipe(
      Effect.provide(Layer.succeed(Output, { print: writer("stdout"), log: writer("stderr") })),
      Effect.map((exitCode) => ({ exitCode, ...written }))
    )
  })

/** The lines of a store's ledger: their keys, and what was done. */
export const ledger = (db: string): ReadonlyArray<{ readonly key: string; readonly entry: unknown }> =>
  readFileSync(`${db}.ledger`, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
