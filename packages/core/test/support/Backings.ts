/** Stores that a test runs over, and how the test clock moves beside each. */
import { MemoryRunStore, type RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Duration, Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as SqliteFiles from "./SqliteFiles.ts"

export interface Backing {
  readonly name: string
  readonly make: Effect.Effect<RunStore.RunStore["Service"], unknown, Scope.Scope>

  /** A place for a store, which goes with the scope; each process opens the store there for itself. */
  readonly place: Effect.Effect<Place, never, Scope.Scope>

  /** Lets time pass, until all that could happen in it has happened. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
}

/** Opens a store, whatever was opened there before. It is closed with its scope. */
export type Place = Effect.Effect<RunStore.RunStore["Service"], never, Scope.Scope>

// The test clock does not wait for a commit: it would pass the next timer before what follows the commit sets its own.
const passSlowly = Effect.fnUntraced(function*(duration: Duration.Input) {
  const millis = Duration.toMillis(duration)
  const steps = Math.min(smallSteps, millis)
  yield* settled
  for (let passed = 0; passed < steps; passed++) {
    yield* TestClock.adjust(1)
    yield* settled
  }
  yield* TestClock.adjust(millis - steps)
  yield* settled
})

const smallSteps = 50

const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
})

export const backings: ReadonlyArray<Backing> = [
  {
    name: "memory",
    make: Effect.sync(MemoryRunStore.make),
    place: Effect.map(Effect.sync(MemoryRunStore.make), Effect.succeed),
    pass: TestClock.adjust
  },
  {
    name: "SQLite",
    make: SqliteRunStore.make({ filename: ":memory:" }),
    place: Effect.map(SqliteFiles.path, (filename) => Effect.orDie(SqliteRunStore.make({ filename }))),
    pass: passSlowly
  }
]
