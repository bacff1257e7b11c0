/**
 * One act of the story, as a process: `node Act.ts <folder> [write|within|millis <n>]`.
 *
 * It asks how the thread stands and does what follows from that: it starts it, recovers it, gives one answer, or does
 * nothing. It prints `ready` when its program is loaded and its work begins, and at the end what it did. With `write`
 * it kills itself right after its `n`th write, with `within` while it makes it, and with `millis` so long after it was
 * ready.
 */
import { type Agent, Mandate, ModelRegistry, RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"
import { join } from "node:path"
import * as Killer from "./Killer.ts"
import * as KillingStore from "./KillingStore.ts"
import * as Ledger from "./Ledger.ts"
import * as Story from "./Story.ts"

/** What the time of a kill is told in. */
export type Unit = "write" | "within" | "millis"

/** What an act prints when it ends. */
export interface Report {
  readonly did: "run" | "resume" | "recover" | "nothing"
  readonly status: string
  readonly writes: number
  readonly millis: number
  /** The history of the thread, of a story that has ended. */
  readonly history?: unknown
}

const [folder, unit, number] = process.argv.slice(2) as [string, Unit | undefined, string | undefined]
const amount = Number(number)
let writes = 0

const perform = Effect.fnUntraced(function*(agent: Agent.Agent<string>) {
  const standing = yield* agent.status(Story.threadId).pipe(
    Effect.catchReason("RunError", "UnknownThread", () => Effect.succeed(undefined))
  )
  if (standing === undefined) {
    return ["run", (yield* agent.run("Go", { threadId: Story.threadId })).status._tag] as const
  }
  switch (standing.status._tag) {
    case "Running":
    case "Failed":
      return ["recover", (yield* agent.recover(Story.threadId)).status._tag] as const
    case "Suspended": {
      const { answer, line } = Story.answerTo(standing.status.pending[0]!)
      yield* Ledger.append(folder, "answers", line)
      return ["resume", (yield* agent.resume(Story.threadId, [answer])).status._tag] as const
    }
    default:
      return ["nothing", standing.status._tag] as const
  }
})

const act = Effect.gen(function*() {
  const agent = yield* Story.agent(folder).build()
  const [did, status] = yield* perform(agent)
  const hasEnded = status !== "Suspended"
  return { did, status, ...(hasEnded ? { history: yield* agent.history(Story.threadId) } : {}) }
})

const store = Layer.effect(
  RunStore.RunStore,
  Effect.map(SqliteRunStore.make({ filename: join(folder, "runs.db") }), (inner) =>
    KillingStore.make(
      inner,
      (n) => unit === "within" && n === amount ? killer?.begin() : undefined,
      (n) => {
        writes = n
        if (unit === "write" && n === amount) Killer.kill()
      }
    ))
)

const runtime = Mandate.layer.pipe(
  Layer.provide(store),
  Layer.provide(Mandate.layerConfig({ leaseTtl: 250, leaseRenewal: 80 }))
)

// A write takes some tenths of a millisecond. Which part of it is hit is another one for each.
const killer = unit === "millis" || unit === "within"
  ? await Killer.after(unit === "millis" ? amount : (amount % 8) / 20)
  : undefined
writeSync(1, "ready\n")
const start = performance.now()
if (unit === "millis") killer?.begin()
const done = await Effect.runPromise(Effect.provide(act, [
  runtime,
  ModelRegistry.layer({ default: Story.model(folder) })
]))
const report: Report = { ...done, writes, millis: performance.now() - start }
// Whatever has ended before its kill waits for it, so that no time that was chosen goes without one.
const isDue = unit === "millis" ? done.history !== undefined : unit === "within" && writes >= amount
if (isDue) await new Promise(() => {})
writeSync(1, `${JSON.stringify(report)}\n`)
process.exit(0)
