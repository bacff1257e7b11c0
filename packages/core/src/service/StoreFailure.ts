/**
 * What becomes of a store's errors: a run's failure, and a line in the log.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Failure } from "../values/RunOutcome.ts"
import * as StoreCode from "../values/StoreCode.ts"
import { type RunStore, StoreError } from "./RunStore.ts"

/**
 * Why a run is `Failed` whose store failed.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = ({ code, operation }: StoreError): Extract<Failure, { readonly _tag: "StoreFailed" }> => {
  const kept = StoreCode.safe(code)
  return { _tag: "StoreFailed", operation, ...(kept === undefined ? {} : { code: kept }) }
}

/**
 * A store that logs each of its errors at level Debug, with the whole cause:
 * what callers get and what a run keeps holds its code alone.
 *
 * @category combinators
 * @since 0.1.0
 */
export const logged = (store: RunStore["Service"]): RunStore["Service"] => {
  const all = store as unknown as { readonly [name: string]: Operation }
  const entries = operations.map((name) => [
    name,
    (...args: ReadonlyArray<unknown>) => Effect.tapError(all[name]!(...args), log)
  ])
  return Object.fromEntries(entries)
}

type Operation = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

const log = (error: unknown): Effect.Effect<void> =>
  error instanceof StoreError
    ? Effect.logDebug(error.message, ...(error.cause === undefined ? [] : [error.cause]))
    : Effect.void

const names: { readonly [Name in keyof RunStore["Service"]]: true } = {
  open: true,
  create: true,
  load: true,
  thread: true,
  list: true,
  children: true,
  append: true,
  suspend: true,
  fail: true,
  settle: true,
  lease: true,
  isHeld: true,
  reopen: true,
  answer: true,
  renew: true,
  release: true,
  seize: true,
  close: true,
  forget: true,
  events: true
}

const operations = Object.keys(names)
