/**
 * An audit as a run of agents: the parent is run on the files, and what its
 * children reported is read from its conversation.
 */
import type { AgentDefinitionError, Mandate, ModelRegistry, RunEvent, RunResult } from "@mandate/core"
import { Effect, Fiber, Result, type Scope, Stream } from "effect"
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
  AgentDefinitionError.AgentDefinitionError,
  Folder | Mandate.Mandate | ModelRegistry.ModelRegistry | Scope.Scope
> {
  const agent = yield* Agents.linkAudit(files.length, concurrency).build()
  let summary: Result.Result<string, string> = Result.fail("The parent did not end")
  const run = yield* agent.stream(Agents.request(files, concurrency), { threadId }).pipe(
    Stream.runForEachArray((elements) => {
      for (const element of elements) if (element._tag === "RunFinished") summary = summaryOf(element.result)
      return onEvents(elements.filter((element) => element._tag !== "RunFinished"))
    }),
    Effect.catch(({ message }) => Effect.sync(() => (summary = Result.fail(message)))),
    Effect.forkScoped({ startImmediately: true })
  )

  const collect = Effect.gen(function*() {
    const settled = yield* agent.history(threadId)
    return { ...TaskResults.collect(files, settled.flatMap(({ messages }) => messages)), summary }
  })
  // A run that failed is open for a recovery, and its messages can be read only when it is settled.
  const cancel = Effect.andThen(agent.cancel(threadId), Fiber.join(run))

  return {
    await: Effect.orDie(Effect.andThen(Effect.andThen(Fiber.join(run), cancel), collect)),
    cancel: Effect.orDie(Effect.andThen(cancel, collect))
  }
})

const summaryOf = ({ status }: RunResult.RunResult<string>): Result.Result<string, string> => {
  switch (status._tag) {
    case "Completed":
      return Result.succeed(status.answer)
    case "StepLimitReached":
      return Result.fail(`The parent did not end after ${status.maxSteps} steps`)
    case "Blocked":
      return Result.fail(`The parent was blocked by ${status.guardrail}: ${status.reason}`)
    case "InvalidReport":
      return Result.fail(`The parent gave no answer: ${status.issues.join("; ")}`)
    default:
      return Result.fail(`The parent ended without an answer: ${status._tag}`)
  }
}
