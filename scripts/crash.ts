/**
 * Kills processes that run a tree of agents on a SQLite file, and checks that others go on as if nothing had happened:
 * `npm run test:crash`. A process is killed after every write of the story in turn, then also a second one a few writes
 * later, then within every write, and at 100 random times.
 *
 * A failure names its kill point, and `npm run test:crash -- --write 17` repeats it; so do `--write 17+3` for two kills,
 * `--within 17` and `--seed 42`. A seed stands for a share of the story's duration, so its time is about the same again.
 */
import { Effect } from "effect"
import * as Campaign from "../packages/core/test/support/crash/Campaign.ts"
import { readArguments, wholeNumber } from "./lib/arguments.ts"
import { report } from "./lib/report.ts"

const usage = "npm run test:crash -- [--write N[+M]]... [--within N]... [--seed SEED]..."
const { values } = readArguments(usage, {
  options: {
    write: { type: "string", multiple: true, default: [] },
    within: { type: "string", multiple: true, default: [] },
    seed: { type: "string", multiple: true, default: [] }
  }
})

const chosen: ReadonlyArray<Campaign.KillPoint> = [
  ...values.write.map((write): Campaign.KillPoint => {
    const [n, again] = write.split("+")
    return {
      _tag: "Write",
      n: wholeNumber("--write", n ?? "", 1, usage),
      ...(again === undefined ? {} : { again: wholeNumber("--write", again, 1, usage) })
    }
  }),
  ...values.within.map((n): Campaign.KillPoint => ({ _tag: "Within", n: wholeNumber("--within", n, 1, usage) })),
  ...values.seed.map((seed): Campaign.KillPoint => ({ _tag: "Seed", seed: wholeNumber("--seed", seed, 0, usage) }))
]

const program = Effect.gen(function*() {
  const { failures, whole } = yield* Campaign.uninterrupted
  console.log(`uninterrupted: ${whole.writes} writes, ${whole.millis.toFixed(0)} ms of work in 3 processes`)
  const points = chosen.length > 0
    ? chosen
    : [
      ...Campaign.writes(whole, 1),
      ...Campaign.twice(whole, 1),
      ...Campaign.within(whole, 1),
      ...Campaign.seeds(100)
    ]
  let done = 0
  const outcomes = yield* Campaign.run(whole, points, ({ failures, point }) => {
    if (failures.length > 0) console.log(`${Campaign.name(point)} failed`)
    if (++done % 25 === 0) console.log(`${done} of ${points.length} stories`)
  })
  for (const line of Campaign.figures(outcomes)) console.log(line)
  return [...failures, ...Campaign.failures(outcomes), ...(chosen.length > 0 ? [] : Campaign.lateness(outcomes))]
})

const started = performance.now()
const failures = await Effect.runPromise(Effect.scoped(program))
report(failures, `failures: ${failures.length}, after ${((performance.now() - started) / 1000).toFixed(0)} s`)
