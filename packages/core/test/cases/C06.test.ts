import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  Answer,
  type Mandate,
  type ModelRegistry,
  type Runs,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", { amount: Schema.Int })
const Ask = Tool.make("ask", { success: Schema.String })

type Child = TypedAgent.TypedAgent<any, string>

/** An agent at the top, as far as the two kinds of them are alike, with a run of it. */
type Top = Pick<Runs.Runs<never, unknown, string>, "resume" | "status"> & {
  readonly run: Effect.Effect<unknown, unknown>
}

interface Root {
  readonly name: string
  readonly make: (child: Child) => Effect.Effect<Top, unknown, Mandate.Mandate | ModelRegistry.ModelRegistry>
  /** What the run gives back once all are done. */
  readonly done: { readonly [key: string]: unknown }
}

const roots: ReadonlyArray<Root> = [
  {
    name: "Agent",
    make: (child) =>
      Effect.map(
        AgentBuilder.make("parent").withSubagents([child], { maxDepth: 2 }).build(),
        ({ resume, run, status }) => ({ resume, status, run: run("Go", { threadId: "t" }) })
      ),
    done: { status: { _tag: "Completed", answer: "all done" } }
  },
  {
    name: "BoundAgent",
    make: (child) =>
      Effect.map(
        TypedAgent.text("parent", { description: "Leads" }).withSubagents([child], { maxDepth: 2 }).bind(),
        ({ resume, run, status }) => ({ resume, status, run: run({ description: "Go" }, { threadId: "t" }) })
      ),
    done: { _tag: "Reported", report: "all done" }
  }
]

const combinations = backings.flatMap((backing) => roots.map((root) => ({ backing, root })))

/** A parent, a child and a grandchild that waits; each answer comes to a process of its own. */
const setUp = Effect.fnUntraced(function*({ place }: Backing, { make }: Root, call: ReturnType<typeof Step.call>) {
  const ran: Array<number | string> = []
  const grandchild = TypedAgent.text("grandchild", { description: "Pays" }).withTools(Toolkit.make(Pay, Ask), {
    pay: ({ amount }) => Effect.as(Effect.sync(() => ran.push(amount)), `paid ${amount}`),
    ask: () =>
      Effect.tap(ToolContext.ask("How much?", { answer: Schema.String }), (text) => Effect.sync(() => ran.push(text)))
  })
  const top = make(TypedAgent.text("child", { description: "Delegates" }).withSubagents([grandchild]))
  const home = yield* place
  const { model, next } = yield* Waiting.processes(home, {
    parent: [Step.calls(Step.textTask("child", "Pay")), Step.text("all done")],
    child: [Step.calls(Step.textTask("grandchild", "Pay")), Step.text("child done")],
    grandchild: [Step.calls(call), Step.text("grandchild done")]
  })
  yield* next(Effect.flatMap(top, ({ run }) => run))
  const status = next(Effect.flatMap(top, ({ status }) => Effect.map(status("t"), ({ status }) => status)))
  const suspended = yield* status
  return {
    ran,
    model,
    status,
    ids: suspended._tag === "Suspended" ? suspended.pending.map(({ id }) => String(id)) : [],
    answer: (given: Answer.Answer) => next(Effect.flatMap(top, ({ resume }) => resume("t", [given]))),
    /** The messages that the grandchild's settled run left. */
    kept: Effect.map(
      Effect.flatMap(home, (store) => store.load("t#0/0.0#0/0.0#0")),
      (run) => run?.row.messages ?? ""
    )
  }
})

const approval = "0.0:child~0.0:child~0.0:approval0"

const answers = [
  ["approve", Answer.approve(approval), [10], "paid 10", 10],
  ["edit", Answer.edit(approval, { amount: 3 }), [3], "paid 3", 3],
  ["reject", Answer.reject(approval, "too much"), [], "too much", 10]
] as const

describe.each(combinations)(
  "C06 Approvals two levels down, below a $root.name, in $backing.name",
  ({ backing, root }) => {
    it.effect.each(answers)(
      "C06 %s is applied once, and every level goes on",
      ([, given, payments, seen, amount]) =>
        Effect.gen(function*() {
          const { answer, ids, kept, model, ran, status } = yield* setUp(
            backing,
            root,
            Step.call("pay", { amount: 10 })
          )
          assert.deepStrictEqual(ids, [approval])
          assert.deepStrictEqual(ran, [])

          const result = yield* answer(given)

          assert.deepInclude(result, root.done)
          assert.deepStrictEqual(yield* status, { _tag: "Completed", answer: "all done" })
          assert.deepStrictEqual(ran, [...payments])
          const last = (yield* model.requestsOf("grandchild")).at(-1)?.request.messages ?? []
          assert.include(JSON.stringify(Results.all(last)), seen)
          const call = last.flatMap((message) => message.role === "assistant" ? message.content : [])[0]
          assert.strictEqual(call?.type === "tool-call" ? call.arguments : "", `{"amount":${amount}}`)
          for (const text of [JSON.stringify(last), yield* kept]) {
            assert.deepStrictEqual([...new Set(text.match(/amount\\":\d+/g))], [`amount\\":${amount}`])
          }
          for (const id of ["parent", "child", "grandchild"]) {
            assert.lengthOf(yield* model.requestsOf(id), 2)
          }
        })
    )

    it.effect("C06 a question is answered by a reply", () =>
      Effect.gen(function*() {
        const { answer, ids, model, ran } = yield* setUp(backing, root, Step.call("ask"))
        assert.deepStrictEqual(ids, ["0.0:child~0.0:child~0.0:question0"])

        const result = yield* answer(Answer.reply(ids[0]!, Schema.String, "twelve"))

        assert.deepInclude(result, root.done)
        assert.deepStrictEqual(ran, ["twelve"])
        const last = (yield* model.requestsOf("grandchild")).at(-1)?.request
        assert.deepStrictEqual(Results.last(last), [{ name: "ask", isError: false, value: "twelve" }])
        for (const id of ["parent", "child", "grandchild"]) {
          assert.lengthOf(yield* model.requestsOf(id), 2)
        }
      }))
  }
)
