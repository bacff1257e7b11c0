/**
 * Tells the story over and over, with a kill at another point each time, and compares each with the uninterrupted one.
 */
import { Cause, Effect, Exit } from "effect"
import * as Checks from "./Checks.ts"
import * as Ledger from "./Ledger.ts"
import * as Life from "./Life.ts"
import * as Story from "./Story.ts"

/**
 * Where a story is killed: after its `n`th write, and perhaps again so many writes later; within its `n`th write; or at
 * the time that a seed stands for.
 */
export type KillPoint =
  | { readonly _tag: "Write"; readonly n: number; readonly again?: number }
  | { readonly _tag: "Within"; readonly n: number }
  | { readonly _tag: "Seed"; readonly seed: number }

/** The arguments of `npm run test:crash` that repeat a kill point. */
export const name = (point: KillPoint): string => {
  switch (point._tag) {
    case "Write":
      return `--write ${point.n}${point.again === undefined ? "" : `+${point.again}`}`
    case "Within":
      return `--within ${point.n}`
    case "Seed":
      return `--seed ${point.seed}`
  }
}

/** What became of one kill point. */
export interface Outcome {
  readonly point: KillPoint
  readonly killed: ReadonlyArray<Life.Killed>
  readonly repeated: Readonly<Record<Ledger.Name, number>>
  /** What is wrong, each with the kill point that repeats it. */
  readonly failures: ReadonlyArray<string>
}

/** The uninterrupted story, and what is to be known of it. */
export interface Whole {
  readonly program: string
  readonly left: Life.Left
  readonly writes: number
  readonly millis: number
}

/** Lives the story without a kill, some times, and gives the fastest. Its program goes with the scope. */
export const uninterrupted = Effect.gen(function*() {
  const program = yield* Life.program
  const lives: Array<Whole> = []
  for (let time = 0; time < 3; time++) {
    const left = yield* Life.live(program)
    lives.push({
      program,
      left,
      writes: left.acts.reduce((sum, { writes }) => sum + writes, 0),
      millis: left.acts.reduce((sum, { millis }) => sum + millis, 0)
    })
  }
  const whole = lives.reduce((fastest, life) => life.millis < fastest.millis ? life : fastest)
  const failures = lives.flatMap(({ left, writes }) => [
    ...Checks.problems(whole.left, left),
    ...Checks.differs("acts", left.acts.map(({ did, status }) => `${did}: ${status}`), Story.acts),
    ...Checks.differs("writes", writes, whole.writes)
  ])
  return { whole, failures: failures.map((failure) => `uninterrupted: ${failure}`) }
})

/** After every `k`th write of the story. */
export const writes = (whole: Whole, k: number): ReadonlyArray<KillPoint> =>
  every(whole.writes, k).map((n) => ({ _tag: "Write", n }))

/** After every `k`th write, and again a few writes later, where a process recovers what the first kill left. */
export const twice = (whole: Whole, k: number): ReadonlyArray<KillPoint> =>
  every(whole.writes - 10, k).map((n) => ({ _tag: "Write", n, again: 1 + n % 6 }))

/** Within every `k`th write. */
export const within = (whole: Whole, k: number): ReadonlyArray<KillPoint> =>
  every(whole.writes, k).map((n) => ({ _tag: "Within", n }))

/** So many seeds. */
export const seeds = (count: number): ReadonlyArray<KillPoint> =>
  Array.from({ length: count }, (_, seed) => ({ _tag: "Seed", seed }))

/** Lives the story once for each kill point, two at a time. */
export const run = (
  whole: Whole,
  points: ReadonlyArray<KillPoint>,
  onOutcome: (outcome: Outcome) => void = () => {}
): Effect.Effect<ReadonlyArray<Outcome>> =>
  Effect.forEach(
    points,
    (point) => Effect.tap(outcome(whole, point), (outcome) => Effect.sync(() => onOutcome(outcome))),
    { concurrency: 2 }
  )

/** What is wrong with some stories. */
export const failures = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> =>
  outcomes.flatMap(({ failures }) => failures)

/** What is wrong with the kill points as a whole: too many come when there is nothing left to lose. */
export const lateness = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> =>
  [outcomes, outcomes.filter(({ point }) => point._tag === "Seed")].flatMap((some) => {
    const { before, kills } = count(some)
    return before >= leastShare * kills ? [] : [`only ${before} of ${kills} kills are before the last write`]
  })

/** The figures of a campaign, a line each. */
export const figures = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> => {
  const line = (kind: string, some: ReadonlyArray<Outcome>) => {
    const { acts, before, kills, stories } = count(some)
    const share = `${before} before the last write (${(100 * before / kills).toFixed(1)} %)`
    return kills === 0
      ? []
      : [`${kind}: ${stories} stories, ${kills} kills, ${share}, in acts 1 to 3: ${acts.join(", ")}`]
  }
  const repeated = (name: Ledger.Name) => outcomes.reduce((sum, outcome) => sum + outcome.repeated[name], 0)
  return [
    ...line("after a write", outcomes.filter(({ point }) => point._tag === "Write" && point.again === undefined)),
    ...line("twice", outcomes.filter(({ point }) => point._tag === "Write" && point.again !== undefined)),
    ...line("within a write", outcomes.filter(({ point }) => point._tag === "Within")),
    ...line("at a random time", outcomes.filter(({ point }) => point._tag === "Seed")),
    ...line("all", outcomes),
    `repeated, since in flight: ${Ledger.names.map((name) => `${repeated(name)} ${name}`).join(", ")}`
  ]
}

const leastShare = 0.6

const count = (outcomes: ReadonlyArray<Outcome>) => {
  const killed = outcomes.flatMap(({ killed }) => killed)
  return {
    stories: outcomes.length,
    kills: killed.length,
    before: killed.filter(Checks.isBeforeLastWrite).length,
    acts: [1, 2, 3].map((act) => killed.filter((one) => one.act === act).length)
  }
}

/** Every `k`th number up to the last one, which is one of them. */
const every = (last: number, k: number): ReadonlyArray<number> =>
  Array.from({ length: Math.ceil(last / k) }, (_, index) => last - index * k).reverse()

const outcome = Effect.fnUntraced(function*(whole: Whole, point: KillPoint): Effect.fn.Return<Outcome> {
  const exit = yield* Effect.exit(Life.live(whole.program, ...killsOf(whole, point)))
  const left = Exit.isSuccess(exit) ? exit.value : undefined
  const problems = Exit.isFailure(exit)
    ? [Cause.pretty(exit.cause)]
    : [
      ...(exit.value.killed.length === killsOf(whole, point).length ? [] : ["it was over before it was killed"]),
      ...Checks.problems(whole.left, exit.value)
    ]
  const repeated = (name: Ledger.Name) => left === undefined ? 0 : Checks.repeated(left, name)
  return {
    point,
    killed: left?.killed ?? [],
    repeated: {
      tools: repeated("tools"),
      models: repeated("models"),
      effects: repeated("effects"),
      answers: repeated("answers")
    },
    failures: problems.map((problem) => `${name(point)}: ${problem}`)
  }
})

const killsOf = ({ left, millis }: Whole, point: KillPoint): ReadonlyArray<Life.Kill> => {
  if (point._tag === "Within") return [{ unit: "within", amount: point.n, act: 1 }]
  if (point._tag === "Write") {
    return [point.n, ...(point.again === undefined ? [] : [point.again])]
      .map((amount) => ({ unit: "write", amount, act: 1 }))
  }
  // Counted from its own act, so that all acts get their share however slow they are while two stories are told at once.
  let amount = fraction(point.seed) * millis
  let act = 1
  for (const { millis } of left.acts) {
    if (amount < millis) break
    amount -= millis
    act++
  }
  return [{ unit: "millis", amount, act }]
}

/** A number from 0 to 1 that is another for each seed, and the same again for the same. */
const fraction = (seed: number): number => {
  let bits = Math.imul(seed + 1, 0x9e3779b1)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}
