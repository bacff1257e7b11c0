/**
 * The crash test with real processes in its reduced form; `npm run test:crash` is the full one, and repeats what fails
 * here.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Campaign from "../support/crash/Campaign.ts"

describe("a story of which a process is killed", () => {
  it.live(
    "comes out the same after every seventh write and at six random times, and does nothing twice",
    () =>
      Effect.gen(function*() {
        const { failures, whole } = yield* Campaign.uninterrupted
        const outcomes = yield* Campaign.run(whole, [
          ...Campaign.writes(whole, 7),
          ...Campaign.twice(whole, 15),
          ...Campaign.within(whole, 19),
          ...Campaign.seeds(6)
        ])

        assert.deepStrictEqual(failures, [])
        assert.isAbove(whole.writes, 50)
        assert.deepStrictEqual(Campaign.failures(outcomes), [])
        assert.deepStrictEqual(Campaign.lateness(outcomes), [])
      }),
    180_000
  )
})
