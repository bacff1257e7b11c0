import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  type AgentDefinitionError,
  Answer,
  type Mandate,
  MemoryRunStore,
  type ModelRegistry,
  type RunError,
  type RunRow,
  RunStore,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { Script, type ScriptedModel, Step } from "@mandate/testing"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as TamperedStore from "../support/TamperedStore.ts"
import * as Waiting from "../support/Waiting.ts"

type Store = RunStore.RunStore["Service"]

const tools = Toolkit.make(Tool.make("note", { success: Schema.String }))
const asker = TypedAgent.text("asker", { description: "Asks" }).withTools(tools, {
  note: () => ToolContext.ask("Which?", { answer: Schema.String })
})
const reporter = TypedAgent.text("reporter", { description: "Reports" })
const top = AgentBuilder.make("top").withSubagents([asker, reporter])

const scripts: Script.Scripts = {
  top: Script.optional(Script.runs(
    [Step.text("settled before")],
    [Step.calls(Step.textTask("asker", "x"), Step.textTask("reporter", "y")), Step.text("done")]
  )),
  asker: Script.optional([Step.calls(Step.call("note")), Step.text("asked")]),
  reporter: Script.optional([Step.text("reported")])
}

/** A thread with a settled run, and one that waits for a question of its child. */
const suspended = Effect.fnUntraced(function*(store: Store) {
  const { model, next } = yield* Waiting.processes(store, scripts)
  yield* next(Effect.gen(function*() {
    const agent = yield* top.build()
    yield* agent.run("First", { threadId: "t" })
    yield* agent.run("Go", { threadId: "t" })
  }))
  return model
})

const runIds = ["t#0", "t#1", "t#1/0.0#0", "t#1/0.1#0"]

/** All that the store has of the tree. */
const stored = (store: Store) =>
  Effect.all([Effect.forEach(runIds, (runId) => store.load(runId)), store.events("t", 0)])

const question = "0.0:child~0.0:question0"
const verbs = {
  status: Effect.flatMap(top.build(), (agent) => agent.status("t")),
  history: Effect.flatMap(top.build(), (agent) => agent.history("t")),
  run: Effect.flatMap(top.build(), (agent) => agent.run("Again", { threadId: "t" })),
  resume: Effect.flatMap(top.build(), (agent) => agent.resume("t", [Answer.replyUnknown(question, "this")])),
  recover: Effect.flatMap(top.build(), (agent) => agent.recover("t")),
  cancel: Effect.flatMap(top.build(), (agent) => agent.cancel("t")),
  cancelChild: Effect.flatMap(top.build(), (agent) => agent.cancel("t", { child: "t#1/0.0" }))
}

// What each verb says of this thread when nothing is wrong with its rows.
const refusals = ["PendingInterrupts", "NothingToRecover"]

const columns: ReadonlyArray<keyof RunRow.RunRow> = [
  "state",
  "agentPath",
  "limits",
  "budget",
  "outcome",
  "usage",
  "messages"
]
const values = ["", "no json", "null", "7", "{}", "[1]", "{\"_tag\":\"Other\"}"]

const edits = Effect.fnUntraced(function*(store: Store) {
  const runs = yield* Effect.forEach(runIds, (runId) => store.load(runId))
  return runs.flatMap((run): ReadonlyArray<TamperedStore.Edit> =>
    run === undefined ? [] : [
      ...columns.flatMap((column) =>
        values.filter((value) => value !== run.row[column]).map((value) => ({ runId: run.row.runId, column, value }))
      ),
      { runId: run.row.runId, column: "format", value: 2 },
      { runId: run.row.runId, column: "depth", value: -1 },
      { runId: run.row.runId, column: "depthLeft", value: Number.NaN },
      ...run.records.flatMap(({ key }) => values.map((value) => ({ runId: run.row.runId, record: key, value })))
    ]
  )
})

describe("a row that was edited by hand", () => {
  it.effect(
    "is a corrupt run that is named, or is of no account, and nothing is written for it",
    () =>
      Effect.gen(function*() {
        const original = MemoryRunStore.make()
        const model = yield* suspended(original)
        const all = yield* edits(original)
        const found = new Map<string, number>()
        assert.isAbove(all.length, 200)
        const before = yield* stored(original)
        for (const edit of all) {
          for (const [verb, effect] of Object.entries(verbs)) {
            const writes: Array<string> = []
            const store = TamperedStore.tampered(readOnly(original, writes), edit)
            const exit = yield* Effect.exit(
              Waiting.processesOf(store, model).next(
                Effect.catchTag(effect as typeof verbs.cancel, "AgentDefinitionError", Effect.die)
              )
            )
            const where = `${verb} after ${JSON.stringify(edit)}`
            assert.isFalse(Exit.isFailure(exit) && Cause.hasDies(exit.cause), where)
            const error = Exit.isFailure(exit) ? Option.getOrThrow(Cause.findErrorOption(exit.cause)) : undefined
            const tag = error?.reason._tag ?? "Success"
            found.set(tag, (found.get(tag) ?? 0) + 1)
            if (error?.reason._tag === "CorruptRun") {
              assert.strictEqual(error.reason.runId, edit.runId, where)
              assert.strictEqual(error.reason.threadId, edit.runId.slice(0, edit.runId.lastIndexOf("#")), where)
              assert.deepStrictEqual(writes, [], where)
            } else if (tag !== "Success" && tag !== "StoreFailed") assert.include(refusals, tag, where)
          }
          assert.deepStrictEqual(yield* stored(original), before, JSON.stringify(edit))
        }
        // Enough of each, so that the loop above is known to have looked.
        assert.isAbove(found.get("CorruptRun") ?? 0, 400)
        assert.isAbove(found.get("Success") ?? 0, 100)
      }),
    20_000
  )
})

describe.each(backings)("a corrupt row, in $name", ({ make }) => {
  const suspendedVerbs = [["run", verbs.run], ["resume", verbs.resume], [
    "cancel of a child",
    verbs.cancelChild
  ]] as const
  it.effect.each(suspendedVerbs)(
    "of an earlier run of the thread refuses %s before anything is written",
    ([, verb]) =>
      Effect.gen(function*() {
        const store = yield* make
        const model = yield* suspended(store)
        const before = yield* stored(store)
        const { reason } = yield* withoutMessages(store, model, verb)

        assert.deepInclude(reason, { _tag: "CorruptRun", threadId: "t", runId: "t#0" })
        assert.deepStrictEqual(yield* stored(store), before)
      })
  )

  it.effect("of an earlier run of the thread starts no run, and has none recovered", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { model, next } = yield* Waiting.processes(store, {
        top: Script.runs([Step.text("settled before")], [Step.again(Step.fail("authentication"), Step.text("done"))])
      })
      yield* next(Effect.flatMap(top.build(), (agent) => agent.run("First", { threadId: "t" })))
      const refused = yield* withoutMessages(store, model, verbs.run)
      const settled = yield* stored(store)
      yield* next(Effect.exit(verbs.run))
      const failed = yield* stored(store)
      const unrecovered = yield* withoutMessages(store, model, verbs.recover)

      const corrupt = { _tag: "CorruptRun" as const, threadId: "t", runId: "t#0" }
      assert.deepInclude(refused.reason, corrupt)
      assert.deepStrictEqual(settled[0].map((run) => run?.row.state), ["Settled", undefined, undefined, undefined])
      assert.deepInclude(unrecovered.reason, corrupt)
      assert.deepStrictEqual(yield* stored(store), failed)
      assert.deepStrictEqual((yield* next(verbs.recover)).status, { _tag: "Completed", answer: "done" })
    }))

  it.effect("of a child fails its parent when that meets it, and stays as it is", () =>
    Effect.gen(function*() {
      const inner = yield* make
      const model = yield* suspended(inner)
      // The answer is given before the child's row is edited.
      const answered = Waiting.processesOf(
        TamperedStore.tampered(inner, { runId: "t#1/0.0#0", record: "m/0", value: "{}" }),
        model
      )
      const lease = { holder: "gone", now: 0, ttl: 1 }
      const records = [{ key: "a/0.0:question0", json: "{\"_tag\":\"Reply\",\"id\":\"x\",\"value\":\"this\"}" }]
      yield* inner.answer("t", lease, [{ runId: "t#1", records: [] }, { runId: "t#1/0.0#0", records }], [])
      yield* inner.release("gone")
      const child = (yield* inner.load("t#1/0.0#0"))?.records
      const failed = yield* answered.next(
        Effect.flip(Effect.catchTag(verbs.recover, "AgentDefinitionError", Effect.die))
      )
      const status = yield* answered.next(verbs.status)

      const corrupt = { _tag: "CorruptRun" as const, threadId: "t#1/0.0", runId: "t#1/0.0#0" }
      assert.deepInclude(failed.reason, corrupt)
      assert.strictEqual(status.status._tag, "Failed")
      assert.deepStrictEqual((yield* inner.load("t#1/0.0#0"))?.records, child)
      // Mended, it goes on from where it was.
      const mended = yield* Waiting.processesOf(inner, model).next(verbs.recover)
      assert.deepStrictEqual(mended.status, { _tag: "Completed", answer: "done" })
    }))
})

/** A verb on a thread whose first run left messages that cannot be read. */
const withoutMessages = <A>(
  store: Store,
  model: ScriptedModel.ScriptedModel["Service"],
  verb: Effect.Effect<
    A,
    RunError.RunError | AgentDefinitionError.AgentDefinitionError,
    Mandate.Mandate | ModelRegistry.ModelRegistry
  >
) =>
  Waiting.processesOf(TamperedStore.tampered(store, { runId: "t#0", column: "messages", value: "no json" }), model)
    .next(Effect.flip(Effect.catchTag(verb, "AgentDefinitionError", Effect.die)))

/** A store that notes what is written to it, and writes nothing. */
const readOnly = (inner: Store, writes: Array<string>): Store => {
  const refused: ReadonlyArray<keyof Store> = [
    "append",
    "create",
    "suspend",
    "fail",
    "settle",
    "reopen",
    "answer",
    "close",
    "lease",
    "seize"
  ]
  return new Proxy(inner, {
    get: (target, name) => {
      const method = target[name as keyof Store]
      return (...args: ReadonlyArray<never>) => {
        if (!refused.includes(name as keyof Store)) {
          return Reflect.apply(method, target, args)
        }
        return Effect.suspend(() => {
          writes.push(String(name))
          return Effect.fail(new RunStore.StoreError({ operation: "write" }))
        })
      }
    }
  })
}
