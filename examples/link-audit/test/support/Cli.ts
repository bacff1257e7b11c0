/** The command as a process of its own. */
import { Deferred, Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Written from "./Written.ts"

export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly process: ChildProcess
  /** Waits until a text was written to stderr. */
  readonly logged: (text: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
}

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** The words that start the command, for a shell. */
export const command = `"${process.execPath}" --conditions=mandate-source "${main}"`

/** Starts the command. It is killed when the scope closes, if it still runs then. */
export const start = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--conditions=mandate-source", main, ...args], {
          env: { PATH: process.env["PATH"], ...environment },
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const done = yield* Deferred.make<Ended>()
    const stdout = Written.make()
    const stderr = Written.make()
    child.stdout.setEncoding("utf8").on("data", stdout.append)
    child.stderr.setEncoding("utf8").on("data", stderr.append)
    child.on("close", (exitCode) =>
      Deferred.doneUnsafe(done, Effect.succeed({ exitCode, stdout: stdout.text(), stderr: stderr.text() })))
    return {
      process: child,
      logged: stderr.includes,
      ended: Deferred.await(done)
    }
  })

/** Runs the command to its end. */
export const run = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): Effect.Effect<Ended> => Effect.scoped(Effect.flatMap(start(args, environment), ({ ended }) => ended))
