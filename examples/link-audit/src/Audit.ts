/**
 * An audit as a run of agents: the parent is started on the files, and what
 * its children reported is read from its conversation.
 */
import {
  type AgentDefinitionError,
  type Mandate,
  type ModelRegistry,
  type RunError,
  type RunEvent
} from "@mandate/core"
import { Effect, Fiber, Result, Stream } from "effect"
import * as Agents from "./Agents.ts"
import type { Folder } from "./Folder.ts"
import * as TaskResults from "./TaskResults.ts"

/** How an audit came out: the parent's summary, or why there is none, beside what became of each file. */
export interface Audited extends TaskResults.Audited {
  readonly summary: Result.Result<string, string>
}

/** An audit at work. */
export interface Audit {
  /** How it comes out. Interrupting this stops nothing. */
  readonly await: Effect.Effect<Audited>

  /** Stops the parent and all its children, and gives what was done until then. */
  readonly cancel: Effect.Effect<Audited>
}

const threadId = "audit"

/** Starts the audit of some files. The events are handed over in order, all of them before the audit is done. */
export const start = Effect.fnUntraced(function*(
  files: ReadonlyArray<string>,
  concurrency: number,
  onEvents: (events: ReadonlyArray<RunEvent.RunEvent>) => Effect.Effect<void>
): Effect.fn.Return<
  Audit,
  AgentDefinitionError.AgentDefinitionError | RunError.RunError,
  Folder | Mandate.Mandate | ModelRegistry.ModelRegistry
> {
  const agent = yield* Agents.linkAudit(files.length, concurrency).build()
  const run = yield* agent.start(Agents.request(files, concurrency), { threadId })
  // Ends with the run, which ends before the runtime does.
  const watching = yield* Effect.forkDetach(Stream.runForEachArray(run.events, onEvents), { startImmediately: true })

  const collect = Effect.gen(function*() {
    // A run that failed is still open, for a recovery that this command does not do. Its messages can be read once it is settled.
    yield* run.cancel
    yield* Fiber.join(watching)
    const settled = yield* agent.history(threadId)
    return TaskResults.collect(files, settled.flatMap(({ messages }) => messages))
  }).pipe(Effect.orDie)

  return {
    await: Effect.gen(function*() {
      const ended = yield* Effect.result(run.await)
      return { ...yield* collect, summary: Result.flatMap(Result.mapError(ended, ({ message }) => message), summaryOf) }
    }),
    cancel: Effect.map(collect, (audited) => ({ ...audited, summary: Result.fail("The audit was cancelled") }))
  }
})
