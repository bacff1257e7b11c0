/** A Redis server of the test's own: Debian's `redis-server`, on a free port, in a folder that goes with it. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Whether the binary is on the path. */
export const isInstalled = spawnSync("redis-server", ["--version"]).status === 0

export interface RedisServer {
  readonly url: string

  /** Starts it, with nothing in it, and waits until it answers. */
  readonly start: Effect.Effect<void>

  /** Kills it, and waits until it is gone. */
  readonly kill: Effect.Effect<void>

  /** It keeps its connections and answers none until it is resumed. */
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

/** A server that runs until the scope closes. */
export const make: Effect.Effect<RedisServer, never, Scope.Scope> = Effect.gen(function*() {
  const port = yield* Effect.promise(freePort)
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "mandate-redis-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  let child: ChildProcess | undefined
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    start: Effect.promise(async () => {
      child = await started(port, folder)
    }),
    kill: Effect.promise(async () => {
      if (child !== undefined) await killed(child)
      child = undefined
    }),
    pause: Effect.sync(() => child?.kill("SIGSTOP")),
    resume: Effect.sync(() => child?.kill("SIGCONT"))
  }
  yield* Effect.acquireRelease(server.start, () => server.kill)
  return server
})

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer().on("error", reject).listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => typeof address === "object" && address !== null ? resolve(address.port) : reject(address))
    })
  })

const started = (port: number, folder: string) =>
  new Promise<ChildProcess>((resolve, reject) => {
    const flags = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
    const child = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    const read = (data: Buffer) => {
      output += data
      if (output.includes("Ready to accept connections")) resolve(child)
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.on("error", reject)
    child.on("exit", () => reject(new Error(`redis-server ended:\n${output}`)))
  })

const killed = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.on("exit", () => resolve())
    child.kill("SIGKILL")
  })
