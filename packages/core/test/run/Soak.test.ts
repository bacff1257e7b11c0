import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Mix from "../support/soak/Mix.ts"
import * as Soak from "../support/soak/Soak.ts"

const cases = 500
const block = 50
const blocks = Array.from({ length: cases / block }, (_, index) => index * block + 1)

/** What befell the cases so far. */
let mix = Mix.empty

describe("random trees of agents, scripts, suspension points, answers, crashes and cancels", () => {
  it.live.each(blocks)(
    "keep every promise: 50 cases from seed %i",
    (first) =>
      Effect.gen(function*() {
        for (let seed = first; seed < first + block; seed++) {
          const judged = yield* Soak.seed(seed)
          mix = Mix.add(mix, judged.facts)

          assert.isEmpty(judged.problems, Soak.describe(judged))
        }
      }),
    120_000
  )

  it("are deep, wait twice, crash, and are answered in part, often enough", () => {
    console.log(`${mix.cases} cases\n${Mix.format(mix)}`)

    assert.strictEqual(mix.cases, cases)
    for (const [trait, share] of Mix.least) assert.isAtLeast(Mix.percent(mix, trait), share, trait)
  })
})
