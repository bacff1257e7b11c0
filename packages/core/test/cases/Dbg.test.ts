import { it } from "@effect/vitest"
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"
const tools = Toolkit.make(Tool.make("work"))
it.effect("C21 the slot of a child that hangs is free at its deadline", () =>
  Effect.gen(function*() {
    const slow = TypedAgent.text("slow", { description: "May hang" })
      .withTools(tools, { work: () => Effect.uninterruptible(Effect.sleep("60 seconds")) })
      .withBudget({ timeout: "5 seconds" })
    const agent = yield* AgentBuilder.make("top").withSubagents([slow], { maxConcurrentChildren: 1 }).build()
    const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
    for (let i = 0; i < 20; i++) {
      yield* TestClock.adjust("1 seconds")
      console.log(
        i,
        (yield* Trees.durableEvents("t")).map((e: any) => [e.at, e.runId, e._tag, e.key, e.status].join(" ")).join("\n")
      )
    }
  }).pipe(Effect.provide(Trees.runtime({
    top: [
      Step.calls(Step.textTask("slow", "hang"), Step.textTask("slow", "hang"), Step.textTask("slow", "answer")),
      Step.text("done")
    ],
    slow: Script.byInput((input) => input === "hang" ? [Step.call("work")] : [Step.text("here")])
  }))))
