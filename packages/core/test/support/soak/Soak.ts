/** Plays cases and tells which of them broke a promise. */
import { Effect, Random, References } from "effect"
import { TestClock } from "effect/testing"
import * as Case from "./Case.ts"
import * as CaseGenerator from "./CaseGenerator.ts"
import * as CheckBounds from "./CheckBounds.ts"
import * as CheckCalls from "./CheckCalls.ts"
import * as CheckDelegates from "./CheckDelegates.ts"
import * as CheckEnds from "./CheckEnds.ts"
import * as CheckEvents from "./CheckEvents.ts"
import * as CheckInterrupts from "./CheckInterrupts.ts"
import * as CheckPostures from "./CheckPostures.ts"
import * as CheckUsage from "./CheckUsage.ts"
import * as Facts from "./Facts.ts"
import * as Play from "./Play.ts"

/** A case that was played, and the promises it found broken. */
export interface Judged {
  readonly facts: Facts.Facts
  readonly problems: ReadonlyArray<string>
}

/** Plays the case of a seed, on a clock of its own. */
export const seed = (seed: number): Effect.Effect<Judged> => judge(CaseGenerator.make(seed))

/** A case in words, with what was found and how to play it again. */
export const describe = ({ facts: { plan }, problems }: Judged): string =>
  [Case.format(plan), ...problems.map((problem) => `  ✗ ${problem}`), `again: npm run test:soak -- --seed ${plan.seed}`]
    .join("\n")

/** Plays a case, on a clock of its own. */
export const judge = (plan: Case.Case): Effect.Effect<Judged> =>
  Effect.scoped(Play.play(plan)).pipe(
    Effect.map((played) => {
      const facts = Facts.make(plan, played.log.entries)
      return { facts, problems: checks.flatMap((check) => check(facts, played)) }
    }),
    // Retries of postures have the default schedule, which has jitter.
    Random.withSeed(plan.seed),
    // Tools that break by a bug are part of the cases, and the runtime logs each.
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.provide(TestClock.layer()),
    Effect.orDie
  )

const checks = [
  CheckEnds.check,
  CheckCalls.check,
  CheckBounds.check,
  CheckUsage.check,
  CheckInterrupts.check,
  CheckEvents.check,
  CheckPostures.check,
  CheckDelegates.check
]
