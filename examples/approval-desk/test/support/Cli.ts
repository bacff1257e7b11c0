/** The commands, as processes of their own and in the process of the test. */
import { Deferred, Effect, Layer, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Command from "../../src/Command.ts"
import { Output } from "../../src/Output.ts"

export interface Ended {
  /** None when it was killed. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly process: ChildProcess
  /** Waits until a text was written, or the process has ended. */
  readonly wrote: (text: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
}

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
export const start = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>
): Effect.fn.Return<Running, never, Scope.Scope> {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["--conditions=mandate-source", main, ...args], {
        env: { PATH: process.env["PATH"] },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const done = yield* Deferred.make<Ended>()
  const waiting = new Map<string, Deferred.Deferred<void>>()
  const written = { stdout: "", stderr: "" }
  const seen = (isOver: boolean) => {
    for (const [text, deferred] of waiting) {
      if (isOver || written.stdout.includes(text) || written.stderr.includes(text)) {
        Deferred.doneUnsafe(deferred, Effect.void)
      }
    }
  }
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      written[name] += text
      seen(false)
    })
  }
  child.on("close", (exitCode) => {
    Deferred.doneUnsafe(done, Effect.succeed({ exitCode, ...written }))
    seen(true)
  })
  return {
    process: child,
    wrote: (text) =>
      Effect.suspend(() => {
        const deferred = waiting.get(text) ?? Deferred.makeUnsafe<void>()
        waiting.set(text, deferred)
        seen(child.exitCode !== null || child.signalCode !== null)
        return Deferred.await(deferred)
      }),
    ended: Deferred.await(done)
  }
})

/** Runs a command to its end. */
export const run = (...args: ReadonlyArray<string>): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args), ({ ended }) => ended))

/** Runs a command in the process of the test, for what only sets the scene. */
export const here = (...args: ReadonlyArray<string>): Effect.Effect<Ended> =>
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
