/** Families of agents that are driven again after a crash at every write. */
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

/** A family of agents with the scripts of its models. */
export interface Tree {
  readonly name: string
  readonly agent: AgentBuilder.AgentBuilder<unknown>
  readonly scripts: Script.Scripts
}

const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })
const Report = Schema.Struct({ facts: Schema.Array(Schema.String) })
const Topic = Schema.Struct({ topic: Schema.String })

const note = (text: string) => Step.call("note", { text })
const facts = (...facts: ReadonlyArray<string>) => Step.report({ facts })
const task = (id: string, topic: string) => Step.task(id, { topic })

/** All families. `onTool` sees every tool call that runs. */
export const trees = (onTool: Effect.Effect<void, never, never>): ReadonlyArray<Tree> => {
  const handlers = {
    note: ({ text }: { readonly text: string }) => Effect.as(Effect.andThen(onTool, Effect.sleep(3)), `noted ${text}`)
  }
  const typed = (id: string) =>
    TypedAgent.make(id, { description: `Does ${id}`, input: Topic, report: Report })
      .withTools(Toolkit.make(Note), handlers)
  const scout = typed("scout")
  const clerk = TypedAgent.text("clerk", { description: "Writes" })
  const parent = AgentBuilder.make("parent")
  const scouting = Script.each([Step.calls(note("a"), note("b")), Step.delay(5, Step.calls(facts("x")))])

  return [
    { name: "an answer at once", agent: parent, scripts: { parent: [Step.text("done")] } },
    {
      name: "tools in two steps",
      agent: parent.withTools(Toolkit.make(Note), handlers),
      scripts: { parent: [Step.calls(note("a"), note("b"), note("c")), Step.calls(note("d")), Step.text("done")] }
    },
    {
      name: "one child",
      agent: parent.withSubagents([scout]),
      scripts: { parent: [Step.calls(task("scout", "tides")), Step.text("done")], scout: scouting }
    },
    {
      name: "five children in two slots",
      agent: parent.withSubagents([scout], { maxConcurrentChildren: 2 }),
      scripts: {
        parent: [Step.calls(...["a", "b", "c", "d", "e"].map((topic) => task("scout", topic))), Step.text("done")],
        scout: scouting
      }
    },
    {
      name: "typed and text children beside a tool",
      agent: parent.withSubagents([scout, clerk]).withTools(Toolkit.make(Note), handlers),
      scripts: {
        parent: [
          Step.calls(task("scout", "tides"), note("p"), Step.textTask("clerk", "Write it down")),
          Step.calls(Step.textTask("clerk", "Again")),
          Step.text("done")
        ],
        scout: scouting,
        clerk: Script.each([Step.delay(2, Step.text("written"))])
      }
    },
    {
      name: "three levels",
      agent: parent.withSubagents([
        typed("lead").withSubagents([scout], { maxConcurrentChildren: 1 })
      ], { maxDepth: 2 }),
      scripts: {
        parent: [Step.calls(task("lead", "a"), task("lead", "b")), Step.text("done")],
        lead: Script.each([Step.calls(task("scout", "c"), task("scout", "d")), Step.calls(facts("y"))]),
        scout: scouting
      }
    },
    {
      name: "a child whose model fails",
      agent: parent.withSubagents([scout, clerk]),
      scripts: {
        parent: [Step.calls(task("scout", "tides"), Step.textTask("clerk", "Write")), Step.text("done")],
        scout: Script.each([Step.calls(note("a")), Step.fail("authentication")]),
        clerk: Script.each([Step.text("written")])
      }
    },
    {
      name: "answers that do not decode",
      agent: parent.withSubagents([scout.withReasks(2)]).withOutput(Report),
      scripts: {
        parent: [Step.calls(task("scout", "tides")), Step.text("no report"), Step.calls(facts("z"))],
        scout: Script.each([Step.calls(Step.report({ facts: 7 })), Step.text("prose"), Step.calls(facts("x"))])
      }
    },
    {
      name: "refused calls",
      agent: parent.withSubagents([scout], { maxTasksPerTurn: 2, maxReportBytes: 512 }),
      scripts: {
        parent: [
          Step.calls(task("scout", "a"), Step.task("scout", { topic: 7 }), Step.call("nobody"), task("scout", "c")),
          Step.text("done")
        ],
        scout: Script.each([Step.calls(facts("long ".repeat(200)))])
      }
    },
    {
      name: "children that are pruned",
      agent: parent.withSubagents([scout], { childRetention: 1 }),
      scripts: {
        parent: [
          Step.calls(task("scout", "a"), task("scout", "b")),
          Step.calls(task("scout", "c")),
          Step.calls(task("scout", "d"), task("scout", "e")),
          Step.text("done")
        ],
        scout: scouting
      }
    },
    {
      name: "a child over its budget of time",
      agent: parent.withSubagents([scout.withBudget({ timeout: 20 })]),
      scripts: {
        parent: [Step.calls(task("scout", "a")), Step.text("done")],
        scout: Script.each([Step.calls(note("a")), Step.hang()])
      }
    }
  ]
}
