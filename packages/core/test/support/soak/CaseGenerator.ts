/** Makes the case of a seed. */
import type { AgentPlan, CancelPlan, Case } from "./Case.ts"
import * as PostureGenerator from "./PostureGenerator.ts"
import * as Random from "./Random.ts"
import * as ScriptGenerator from "./ScriptGenerator.ts"
import * as SoakTools from "./SoakTools.ts"

export const make = (seed: number): Case => PostureGenerator.add(withoutPostures(seed))

const withoutPostures = (seed: number): Case => {
  const random = Random.make(seed)
  const depth = random.weighted([[5, 0], [15, 1], [50, 2], [30, 3]])
  const root = agent(random, { id: "r", level: 0, below: depth, depth, isTight: random.chance(0.6) })
  return {
    seed,
    store: random.pick(["memory", "SQLite"]),
    face: random.chance(0.75) ? "Agent" : "BoundAgent",
    root,
    tree: random.chance(0.15)
      ? defined({
        maxTokens: random.weighted([[1, undefined], [1, random.int(30, 200)]]),
        maxToolCalls: random.weighted([[2, undefined], [1, random.int(2, 15)]]),
        maxChildRuns: random.weighted([[1, undefined], [1, random.int(1, 5)]])
      })
      : {},
    restarts: random.chance(0.6),
    partial: random.weighted([[2, 0], [3, 0.5], [3, 0.9]]),
    crashes: random.chance(0.6)
      ? random.many(
        1,
        5,
        () => ({
          act: random.weighted([[2, 0], [2, 1], [4, random.int(0, 7)]]),
          write: random.weighted([[3, random.int(1, 6)], [2, random.int(1, 25)]])
        })
      )
      : [],
    cancel: random.chance(0.22) ? cancel(random) : undefined,
    postures: undefined
  }
}

const cancel = (random: Random.Random): CancelPlan => ({
  act: random.int(0, 3),
  afterWrites: random.chance(0.6) ? random.int(1, 15) : undefined,
  target: random.chance(0.4) ? "root" : "child",
  from: random.chance(0.75) ? "same process" : "another process"
})

interface Place {
  readonly id: string
  readonly level: number
  readonly below: number
  readonly depth: number

  /** Whether bounds and budgets are set that may end a run early. */
  readonly isTight: boolean
}

const agent = (random: Random.Random, { below, depth, id, isTight, level }: Place): AgentPlan => {
  const width = below === 0 ? 0 : random.weighted([[5, 1], [4, 2], [2, 3], [1, 4]])
  // The first subagent reaches all the way down; the others may end sooner.
  const subagents = Array.from({ length: width }, (_, index) =>
    agent(random, {
      id: `${id}${index}`,
      level: level + 1,
      below: index === 0 ? below - 1 : random.int(0, Math.min(1, below - 1)),
      depth,
      isTight
    }))
  const often = (weight: number) => isTight ? weight : weight * 20
  const kind = random.pick<AgentPlan["kind"]>(["text", "typed"])
  return {
    id,
    kind,
    bounds: defined({
      maxConcurrentChildren: random.weighted([[3, 1], [3, 2], [1, 3], [2, undefined]]),
      maxTasksPerTurn: random.weighted([[often(3), undefined], [1, random.int(1, 3)]]),
      maxDepth: level === 0
        ? random.weighted([[often(9), Math.max(1, depth)], [1, random.int(1, 2)]])
        : random.weighted([[often(8), undefined], [2, random.int(1, 2)]]),
      maxReportBytes: random.weighted([[2, undefined], [1, 512], [1, 700]]),
      childRetention: random.weighted([[2, undefined], [2, 1], [1, 2]])
    }),
    maxSteps: random.weighted([[often(6), 32], [1, random.int(1, 5)]]),
    reasks: random.int(0, 2),
    retries: random.int(0, 2),
    budget: defined({
      maxTokens: random.weighted([[often(5), undefined], [1, random.int(15, 90)]]),
      maxToolCalls: random.weighted([[often(8), undefined], [1, random.int(1, 8)]]),
      timeout: random.weighted([[often(4), undefined], [1, random.int(2, 40)]])
    }),
    policy: defined({
      refused: random.weighted([[3, undefined], [1, "tool-error" as const], [1, "fail-run" as const]]),
      modelFailed: random.weighted([[3, undefined], [1, "tool-error" as const], [1, "fail-run" as const]]),
      toolFatal: random.weighted([[2, undefined], [1, "tool-error" as const], [1, "fail-run" as const]])
    }),
    breakpoints: random.chance(0.15)
      ? [random.pick([...SoakTools.names, ...subagents.map(taskTool)])]
      : [],
    size: random.weighted([[4, 1], [1, random.int(100, 500)]]),
    scripts: random.many(1, 2, () => ScriptGenerator.make(random, { kind, level, isLeaf: below === 0, subagents })),
    subagents,
    postures: undefined
  }
}

const taskTool = ({ id, kind }: AgentPlan): string => kind === "text" ? "task" : `task_${id}`

/** Fields that are not `undefined`. */
type Defined<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> }

export const defined = <A extends object>(fields: A): Defined<A> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<A>
