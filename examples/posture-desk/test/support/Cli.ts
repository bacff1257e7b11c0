/** The command, as a process of its own and in the process of the test. */
import { Effect, Layer, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Output } from "../../../support/src/Output.ts"
import * as Processes from "../../../support/test/Processes.ts"
import * as Command from "../../src/Command.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A folder that is removed with the scope. */
export const newFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "posture-desk-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Starts the command, its temporary folder in another one. It is killed when the scope closes, if it still runs then. */
export const start = (folder: string, ...args: ReadonlyArray<string>) => Processes.start(main, args, { TMPDIR: folder })

/** Runs the command to its end. */
export const run = (folder: string, ...args: ReadonlyArray<string>) => Processes.run(main, args, { TMPDIR: folder })

/** Runs the command in the process of the test, on other postures if they are given. */
export const here = (args: ReadonlyArray<string>, postures?: string) =>
  Effect.suspend(() => {
    const written = { stdout: "", stderr: "" }
    const writer = (name: "stdout" | "stderr") => (line: string) =>
      Effect.sync(() => void (written[name] += `${line}\n`))
    return Command.run(args, postures).pipe(
      Effect.provide(Layer.succeed(Output, { print: writer("stdout"), log: writer("stderr") })),
      Effect.map((exitCode) => ({ exitCode, ...written }))
    )
  })
