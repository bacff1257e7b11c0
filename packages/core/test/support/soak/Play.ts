/**
 * Plays a case to its end, as a person's tooling would: run, look at the
 * status, answer, recover, cancel, until the run is settled.
 */
import { MemoryRunStore, ResultCache, type RunResult, type RunRow, type RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { ScriptedModel, StrictProvider } from "@mandate/testing"
import { Deferred, Effect, Exit, Option, type Scope } from "effect"
import type { Case } from "./Case.ts"
import * as Desk from "./Desk.ts"
import type { Face } from "./Family.ts"
import { Log } from "./Log.ts"
import * as Model from "./Model.ts"
import * as Process from "./Process.ts"
import * as Random from "./Random.ts"

/** The thread that every case runs on. */
export const threadId = "t"

/** A case that was played to its end. */
export interface Played {
  readonly plan: Case
  readonly log: Log
  readonly violations: ReadonlyArray<StrictProvider.Violation>

  /** What went wrong in the playing itself. */
  readonly problems: ReadonlyArray<string>

  /** The runs that are left in the store, parents first, and their events. */
  readonly left: ReadonlyArray<RunRow.LoadedRun>
  readonly events: ReadonlyArray<{ readonly sequence: number; readonly json: string }>
  readonly history: ReadonlyArray<RunResult.SettledRun<unknown>>
}

type Store = RunStore.RunStore["Service"]

export const play = Effect.fnUntraced(function*(plan: Case): Effect.fn.Return<Played, unknown, Scope.Scope> {
  const log = new Log()
  const problems: Array<string> = []
  const store = log.watching(
    plan.store === "memory" ? MemoryRunStore.make() : yield* SqliteRunStore.make({ filename: ":memory:" })
  )
  const scripted = yield* ScriptedModel.make(Model.scripts(plan, (asked) => log.add({ _tag: "Asked", ...asked })))
  const model = yield* StrictProvider.wrap(scripted.client)
  let processes = 0
  const kept = ResultCache.memory()
  const boot = (act: number, dieAfter: number | undefined) =>
    Effect.suspend(() => {
      const cache = plan.postures?.cache === "of all processes" ? kept : ResultCache.memory()
      return Process.boot({ plan, log, store, model, instance: `process-${++processes}`, dieAfter, act, cache })
    })

  let process = yield* boot(0, dieAfter(plan, 0))
  for (let act = 0;; act++) {
    const registered = yield* process.edit(act)
    if (plan.postures !== undefined) log.registered(registered)
    const isOver = yield* playAct({ plan, act, log, store, problems, process, another: boot(act, undefined) })
    if (process.isDead()) log.add({ _tag: "Died", act })
    if (isOver || act === maxActs) break
    const dies = dieAfter(plan, act + 1)
    if (plan.restarts || process.isDead() || dies !== undefined) {
      yield* process.close
      process = yield* boot(act + 1, dies)
    }
  }
  const history = yield* process.face.history(threadId)
  const writes = log.writes
  yield* Process.passLong(plan)
  yield* process.close
  if (log.writes > writes) problems.push("something was written after the end")
  return {
    plan,
    log,
    problems,
    history,
    violations: yield* model.violations,
    left: yield* runsOf(store),
    events: yield* store.events(threadId, 0)
  }
})

interface Act {
  readonly plan: Case
  readonly act: number
  readonly log: Log
  readonly store: Store
  readonly problems: Array<string>
  readonly process: Process.Process
  readonly another: Effect.Effect<Process.Process>
}

const maxActs = 80
const maxRecoveries = 4

const dieAfter = ({ crashes }: Case, act: number) => crashes.find((crash) => crash.act === act)?.write

/** Plays one act. Gives whether the run is settled. */
const playAct = Effect.fnUntraced(function*(self: Act): Effect.fn.Return<boolean, unknown> {
  const { act, log, plan, problems, process: { face } } = self
  const standing = yield* Effect.option(face.status(threadId))
  if (Option.isNone(standing)) return yield* verb(self, "run", face.run(threadId))
  const { status } = standing.value
  const pending = status._tag === "Suspended" ? status.pending : []
  const rows = (yield* runsOf(self.store)).map(({ row }) => row)
  log.add({ _tag: "Saw", status: status._tag, pending, rows })
  switch (status._tag) {
    case "Running":
      return yield* verb(self, "recover", face.recover(threadId))
    case "Failed": {
      const isHopeless = log.entries.filter((entry) => entry._tag === "Saw" && entry.status === "Failed").length >
        maxRecoveries
      return yield* isHopeless
        ? verb(self, "cancel", cancel(self, "root"))
        : verb(self, "recover", face.recover(threadId))
    }
    case "Suspended": {
      const isPlanned = plan.cancel !== undefined && plan.cancel.afterWrites === undefined && plan.cancel.act <= act &&
        !log.entries.some(({ _tag }) => _tag === "Cancelling")
      const isThere = plan.cancel?.target === "root" || (yield* runsOf(self.store)).some(isOpenChild)
      if (isPlanned && isThere) return yield* verb(self, "cancel", cancel(self, plan.cancel.target))
      // A process that died of the cancel of a child left the root as it was.
      const isCut = log.entries.some(({ _tag }) => _tag === "Cancelling") && isAfterDeath(log)
      if (pending.length === 0 && isCut) return yield* verb(self, "recover", face.recover(threadId))
      if (pending.length === 0 || act > maxActs - 5) {
        problems.push(pending.length === 0 ? "the run is suspended and waits on nothing" : "the run does not end")
        return yield* verb(self, "cancel", cancel(self, "root"))
      }
      const answers = Desk.decide(plan, act, pending)
      log.add({ _tag: "Answered", answers, isPartial: answers.length < pending.length })
      return yield* verb(self, "resume", face.resume(threadId, answers))
    }
    default:
      return true
  }
})

/** Lets a verb do its work, and what is cancelled meanwhile, until both have ended or the process has died. */
const verb = Effect.fnUntraced(function*(
  self: Act,
  name: string,
  effect: Effect.Effect<unknown, unknown>
): Effect.fn.Return<boolean> {
  const { act, log, plan, problems, process } = self
  const isCancelled = plan.cancel?.act === act && plan.cancel.afterWrites !== undefined
  const due = Deferred.makeUnsafe<void>()
  const dueAt = log.writes + (plan.cancel?.afterWrites ?? 0)
  log.onWrite = (writes) => {
    if (isCancelled && writes === dueAt) Deferred.doneUnsafe(due, Exit.void)
  }
  let isCancelling = false
  const cancelling = yield* Effect.forkChild(
    Effect.andThen(
      Deferred.await(due),
      Effect.suspend(() => {
        isCancelling = true
        return cancel(self, plan.cancel?.target ?? "root")
      })
    ),
    { startImmediately: true }
  )
  const doing = yield* Effect.forkChild(effect, { startImmediately: true })
  const isOver = yield* Process.pass(plan, () =>
    process.isDead() ||
    (doing.pollUnsafe() !== undefined && (!isCancelling || cancelling.pollUnsafe() !== undefined)))
  log.onWrite = () => {}
  if (!isOver) problems.push(`act ${act}: ${name} did not end`)
  // The cancel of a child has the root driven, and waits for nothing.
  if (isCancelling || name === "cancel") yield* Process.pass(plan, () => process.isDead() || !log.isRunning)
  const result = Process.resultOf(doing.pollUnsafe())
  log.add({ _tag: "Returned", verb: name, result })
  const isFine = doing.pollUnsafe() === undefined || Exit.isSuccess(doing.pollUnsafe()!) || failures.has(result) ||
    (isCancelling && result === "ThreadBusy")
  if (!isFine) problems.push(`act ${act}: ${name} failed: ${result}`)
  const cancelled = cancelling.pollUnsafe()
  if (cancelled !== undefined && Exit.isFailure(cancelled)) {
    problems.push(`act ${act}: cancel failed: ${Process.resultOf(cancelled)}`)
  }
  // Who waits for a process that is dead waits for nothing.
  doing.interruptUnsafe()
  cancelling.interruptUnsafe()
  return false
})

const isAfterDeath = ({ entries }: Log): boolean =>
  entries.findLast(({ _tag }) => _tag !== "Saw" && _tag !== "Registered")?._tag === "Died"

const failures: ReadonlySet<string> = new Set(["ModelFailed", "ToolFatal", "ChildFailed"])

/** Cancels the root or one of the open children, from here or from another process. */
const cancel = Effect.fnUntraced(function*(
  { act, another, log, plan, process, store }: Act,
  target: "root" | "child"
): Effect.fn.Return<void, unknown> {
  const runs = yield* runsOf(store)
  const root = runs.find(({ row }) => row.parentRunId === null)?.row
  const children = runs.filter(isOpenChild).map(({ row }) => row)
  const [first, ...others] = children
  if (root === undefined || root.state === "Settled" || (target === "child" && first === undefined)) return
  const row = target === "root" || first === undefined
    ? root
    : Random.make(plan.seed, `cancel ${act}`).pick([first, ...others])
  log.add({ _tag: "Cancelling", runId: row.runId })
  const by = (face: Face) => face.cancel(threadId, row === root ? {} : { child: row.threadId })
  if (plan.cancel?.from === "another process") {
    const other = yield* another
    yield* Effect.ensuring(by(other.face), other.close)
  } else yield* by(process.face)
  log.add({ _tag: "Cancelled", runId: row.runId })
})

const isOpenChild = ({ row }: RunRow.LoadedRun): boolean => row.state !== "Settled" && row.parentRunId !== null

const runsOf: (store: Store) => Effect.Effect<ReadonlyArray<RunRow.LoadedRun>, RunStore.StoreError> = Effect.fnUntraced(
  function*(store) {
    const found: Array<RunRow.LoadedRun> = []
    const visit: (row: RunRow.RunRow) => Effect.Effect<void, RunStore.StoreError> = Effect.fnUntraced(function*(row) {
      const loaded = yield* store.load(row.runId)
      if (loaded !== undefined) found.push(loaded)
      for (const child of yield* store.children(row.runId)) yield* visit(child)
    })
    for (const row of yield* store.thread(threadId)) yield* visit(row)
    return found
  }
)
