/**
 * Transactions of one connection. Operations that wait at the same time share
 * one, since a commit costs far more than what it commits.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. An operation is acknowledged after its commit, and never before.
 * 2. None spoils another: one that is refused has written nothing, since each
 *    checks first and writes afterwards. If one breaks off, the transaction is
 *    rolled back and each of its operations runs again in one of its own.
 * 3. If a commit fails, all of its operations fail.
 * 4. All that one read gives is of one moment.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { DatabaseSync } from "node:sqlite"
import type { StoreError } from "../service/RunStore.ts"
import * as SqliteFault from "./SqliteFault.ts"

/**
 * Transactions of one connection.
 *
 * @category models
 * @since 0.1.0
 */
export interface GroupCommit {
  /** Writes in a transaction that it may share with others. It cannot be interrupted. */
  readonly write: <A, E>(operation: () => string, step: () => Result.Result<A, E>) => Effect.Effect<A, E | StoreError>

  /** Reads in a transaction of its own: all of it is of one moment. */
  readonly read: <A>(operation: () => string, step: () => A) => Effect.Effect<A, StoreError>

  /** Commits what waits, now. */
  readonly flush: () => void
}

interface Waiting {
  readonly operation: () => string
  readonly step: () => Result.Result<unknown, unknown>
  readonly done: (exit: Exit.Exit<unknown, unknown>) => void
}

/**
 * Creates the transactions of a connection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (db: DatabaseSync): GroupCommit => {
  const begin = db.prepare("BEGIN")
  const beginImmediate = db.prepare("BEGIN IMMEDIATE")
  const commit = db.prepare("COMMIT")
  let waiting: Array<Waiting> = []

  const transaction = <A>(start: typeof begin, body: () => A): Result.Result<A, Broken> => {
    const started = Result.try(() => start.run())
    if (Result.isFailure(started)) return Result.fail({ retry: false, cause: started.failure })
    const value = Result.try(body)
    const ended = Result.isSuccess(value) ? Result.try(() => void commit.run()) : Result.succeed(undefined)
    if (Result.isSuccess(value) && Result.isSuccess(ended)) return Result.succeed(value.success)
    // Some errors roll back by themselves.
    Result.try(() => db.isTransaction ? db.exec("ROLLBACK") : undefined)
    return Result.isFailure(value)
      ? Result.fail({ retry: true, cause: value.failure })
      : Result.fail({ retry: false, cause: Result.isFailure(ended) ? ended.failure : undefined })
  }

  const flush = (): void => {
    const group = waiting
    if (group.length === 0) return
    waiting = []
    const all = transaction(beginImmediate, () => group.map(({ step }) => step()))
    if (Result.isSuccess(all)) return group.forEach(({ done }, index) => done(exitOf(all.success[index]!)))
    const { cause, retry } = all.failure
    for (const { done, operation, step } of group) {
      const alone = retry && group.length > 1
        ? Result.mapError(transaction(beginImmediate, step), (broken) => broken.cause)
        : Result.fail(cause)
      done(Result.isSuccess(alone) ? exitOf(alone.success) : failed(operation, alone.failure))
    }
  }

  return {
    flush,
    write: <A, E>(operation: () => string, step: () => Result.Result<A, E>) =>
      Effect.uninterruptible(Effect.callback<A, E | StoreError>((resume) => {
        waiting.push({ operation, step, done: resume as Waiting["done"] })
        if (waiting.length === 1) queueMicrotask(flush)
      })),
    read: (operation, step) =>
      Effect.suspend(() => {
        const read = transaction(begin, step)
        return Result.isSuccess(read) ? Exit.succeed(read.success) : failed(operation, read.failure.cause)
      })
  }
}

/** A transaction that was rolled back. `retry`: not the transaction failed but what was in it. */
interface Broken {
  readonly retry: boolean
  readonly cause: unknown
}

const exitOf = <A, E>(result: Result.Result<A, E>): Exit.Exit<A, E> =>
  Result.isSuccess(result) ? Exit.succeed(result.success) : Exit.fail(result.failure)

const failed = (operation: () => string, cause: unknown): Exit.Exit<never, StoreError> =>
  Exit.fail(SqliteFault.storeError(operation(), cause))
