/**
 * Plays random trees of agents and checks what must hold for each: `npm run test:soak -- N`, from another seed on
 * `npm run test:soak -- N --from 1001`, or one again, with all that happened in it: `npm run test:soak -- --seed 123`.
 * The first 500 are those of `packages/core/test/run/Soak.test.ts`. Exits with 1 when a case breaks a promise or the
 * mix of 100 cases or more is too thin.
 */
import { Effect } from "effect"
import * as Mix from "../packages/core/test/support/soak/Mix.ts"
import * as Soak from "../packages/core/test/support/soak/Soak.ts"
import * as Story from "../packages/core/test/support/soak/Story.ts"
import { readArguments, wholeNumber } from "./lib/arguments.ts"

const usage = "npm run test:soak -- [N] [--from SEED], or npm run test:soak -- --seed SEED"
const { positionals, values } = readArguments(usage, {
  allowPositionals: true,
  options: { seed: { type: "string" }, from: { type: "string", default: "1" } }
})
const count = values.seed === undefined ? wholeNumber("N", positionals[0] ?? "500", 1, usage) : 1
const from = values.seed === undefined
  ? wholeNumber("--from", values.from, 0, usage)
  : wholeNumber("--seed", values.seed, 0, usage)

const started = performance.now()
const progress = () =>
  `${mix.cases} cases from seed ${from}, ${failed.length} failed, ${
    ((performance.now() - started) / 1000).toFixed(1)
  } s`
const failed: Array<number> = []
let mix = Mix.empty
for (let seed = from; seed < from + count; seed++) {
  const judged = await Effect.runPromise(Soak.seed(seed))
  mix = Mix.add(mix, judged.facts)
  if (values.seed !== undefined) console.log(`${Story.tell(judged.facts.entries)}\n`)
  if (judged.problems.length > 0) failed.push(seed)
  if (judged.problems.length > 0 || values.seed !== undefined) console.log(`${Soak.describe(judged)}\n`)
  if (mix.cases % 500 === 0 && mix.cases < count) console.log(progress())
}

console.log(`${progress()}\n${Mix.format(mix)}`)
const thin = count < 100 ? [] : Mix.least.filter(([trait, share]) => Mix.percent(mix, trait) < share)
for (const [trait, share] of thin) console.log(`too few cases: ${trait}, at least ${share} %`)
if (failed.length > 0) console.log(`failed: ${failed.join(", ")}`)
process.exitCode = failed.length + thin.length > 0 ? 1 : 0
