import { assert, describe, it } from "@effect/vitest"
import { Answer, DelegateRuntime, Mandate } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect } from "effect"
import { backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const delegate = (name: string, task: string) => Step.call("delegate", { posture: name, task })

const postures = [
  posture("worker"),
  posture("deep", { allowedTools: ["delegate"] }),
  posture("capped", { maxDepth: 1 }),
  posture("broken"),
  posture("flaky"),
  posture("payer"),
  posture("greedy", { budget: { maxToolCalls: 1 } }),
  posture("slow", { budget: { timeout: "5 seconds" } })
]

const scripts: Script.Scripts = {
  lead: Script.optional([
    Step.calls(
      ...["worker", "deep", "broken", "greedy", "slow"].map((name) => delegate(name, "first")),
      delegate("worker", "second")
    ),
    Step.calls(delegate("worker", "first")),
    Step.text("done")
  ]),
  worker: Script.optional(Script.each([Step.calls(Step.call("read")), Step.text("worked")])),
  deep: Script.optional([Step.calls(delegate("worker", "below"), delegate("capped", "below")), Step.text("dug")]),
  broken: Script.optional([Step.fail("authentication")]),
  greedy: Script.optional([Step.calls("Both", Step.call("read"), Step.call("write"))]),
  slow: Script.optional([Step.hang()])
}

const failRun = PostureLives.lead.withChildFailure({ modelFailed: "fail-run" }).build()
const approve = Effect.flatMap(
  DelegateRuntime.DelegateRuntime,
  ({ resume }) => resume("thread-1", [Answer.approve("0.0:approval0")])
)

const lives: ReadonlyArray<{
  readonly name: string
  readonly life: PostureLives.Life
  readonly ends: ReadonlyArray<string>
  readonly refusals: number
}> = [
  {
    name: "a model",
    life: { postures, scripts, ...PostureLives.byModel },
    ends: ["cache_hit", "error", "partial", "success", "success", "success", "success", "timeout"],
    refusals: 1
  },
  ...([["worker", "success"], ["broken", "error"], ["greedy", "partial"], ["slow", "timeout"]] as const).map((
    [name, end]
  ) => ({
    name: `code, of ${name}`,
    life: { postures, scripts, ...PostureLives.byCode({ posture: name, task: "first", parentTurn: "turn-1" }) },
    ends: [end],
    refusals: 0
  })),
  {
    name: "a model whose run fails with its posture",
    life: {
      postures,
      scripts: {
        lead: [Step.calls(delegate("flaky", "first")), Step.text("done")],
        flaky: [Step.again(Step.fail("authentication"), Step.text("well again"))]
      },
      begin: Effect.flatMap(failRun, (agent) => agent.run("Go", { threadId: "t" })),
      goOn: Effect.gen(function*() {
        const agent = yield* failRun
        for (;;) {
          const { status } = yield* agent.status("t")
          if (status._tag === "Completed") return
          yield* Effect.ignore(agent.recover("t"))
        }
      })
    },
    ends: ["success"],
    refusals: 0
  },
  {
    name: "code, of payer, with a person's answer",
    life: {
      postures,
      scripts: { payer: [Step.calls(Step.call("pay", { euros: 1 })), Step.text("paid")] },
      begin: Effect.andThen(DelegateRuntime.run({ posture: "payer", task: "first" }), approve),
      goOn: Effect.gen(function*() {
        const { store } = yield* Mandate.Mandate
        const { recover } = yield* DelegateRuntime.DelegateRuntime
        const [run] = yield* store.thread("thread-1")
        if (run?.state === "Running" && (yield* recover("thread-1")).status !== "suspended") return
        if (run !== undefined) yield* approve
      })
    },
    ends: ["success"],
    refusals: 0
  },
  {
    name: "code, of deep",
    life: { postures, scripts, ...PostureLives.byCode({ posture: "deep", task: "first" }) },
    ends: ["success", "success"],
    refusals: 1
  }
]

describe.each(backings)("a process that dies, in $name", (backing) => {
  it.effect.each(lives)(
    "P6 P2 leaves one start and one complete of each sub-session, and one refusal, at every store write: $name",
    ({ ends, life, refusals }) =>
      Effect.gen(function*() {
        const whole = yield* Effect.scoped(PostureLives.live(backing, life, Number.POSITIVE_INFINITY))
        assert.isAbove(whole.writes, 1)
        const check = ({ events, open }: PostureLives.Left, when: string) => {
          // A cache goes with its process, and then the model is asked again.
          const seen = Sessions.ends(events).map((end) => end === "cache_hit" && when !== "" ? "success" : end)
          const expected = ends.map((end) => end === "cache_hit" && when !== "" ? "success" : end)
          assert.deepStrictEqual([...seen].sort(), [...expected].sort(), when)
          const refused = Trees.tagged(events, "DelegateRefused")
          assert.lengthOf(refused, refusals, when)
          for (const { agentPath, key, posture, reason } of refused) {
            assert.deepStrictEqual([agentPath.at(-1), key, posture, reason], [
              "deep",
              "0.1",
              "capped",
              "RecursionLimit"
            ])
          }
          assert.deepStrictEqual(open, [], when)
        }
        check(whole, "")
        for (let n = 1; n <= whole.writes; n++) {
          check(yield* Effect.scoped(PostureLives.live(backing, life, n)), `after a crash at write ${n}`)
        }
      }),
    { timeout: 60_000 }
  )
})
