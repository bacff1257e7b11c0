/** Commands as processes of their own. */
import { Deferred, Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import * as Written from "./Written.ts"

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

/** Starts a command by its main file. It is killed when the scope closes, if it still runs then. */
export const start = Effect.fnUntraced(function*(
  main: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): Effect.fn.Return<Running, never, Scope.Scope> {
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
  child.on(
    "close",
    (exitCode) => Deferred.doneUnsafe(done, Effect.succeed({ exitCode, stdout: stdout.text(), stderr: stderr.text() }))
  )
  return {
    process: child,
    wrote: (text) =>
      Effect.raceAll([stdout.includes(text), stderr.includes(text), Effect.asVoid(Deferred.await(done))]),
    ended: Deferred.await(done)
  }
})

/** Runs a command to its end. */
export const run = (
  main: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): Effect.Effect<Ended> => Effect.scoped(Effect.flatMap(start(main, args, environment), ({ ended }) => ended))
