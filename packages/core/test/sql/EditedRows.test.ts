import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, Answer, type RunError, Threads, TypedAgent } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Script, Step } from "@mandate/testing"
import { Effect, Logger, Stream } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { DatabaseSync } from "node:sqlite"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Waiting.gated("pay", {})), {
  pay: () => Effect.succeed("paid")
})

const edits = [
  ["a state that there is not", "UPDATE runs SET state = 'Paused'", "state: it is none that a run can be in"],
  ["limits of another type", "UPDATE definitions SET limits = '{\"maxSteps\":\"many\"}'", "limits"],
  ["a row that a newer version wrote", "UPDATE definitions SET format = 2", "format"],
  ["a record that is cut off", "UPDATE records SET json = substr(json, 1, 20) WHERE key = 'm/0'", "record m/0"],
  [
    "a record under a key that there is not",
    "UPDATE records SET key = 'i/0.0:wish0' WHERE key LIKE 'i/%'",
    "record i/"
  ],
  ["a record under a key of no kind", "UPDATE records SET key = 'x' WHERE key LIKE 'd/%'", "record x"],
  ["a response that is gone", "DELETE FROM records WHERE key = 'm/0'", "record m/0: it is missing"],
  ["a definition that is gone", "UPDATE runs SET definition = 99", "agentId"],
  ["a run below itself", "UPDATE runs SET parent = id, parent_thread = thread", "its thread is not"],
  ["a root that is a child's", "UPDATE runs SET call_key = '0.0', tool_call_id = 'x'", "its thread is not"],
  [
    "a request of another kind",
    "UPDATE records SET json = '{\"request\":{\"_tag\":\"Wish\"},\"askedAt\":0}' WHERE key LIKE 'i/%'",
    "record i/"
  ]
] as const

describe("a SQLite file that was edited by hand", () => {
  it.effect.each(edits)("refuses %s, names the run, and stays as it is", ([, edit, detail]) =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* SqliteRunStore.make({ filename })
        const { next } = yield* Waiting.processes(store, { clerk: [Step.calls(Step.call("pay"))] })
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      }))
      const dump = () => {
        const db = new DatabaseSync(filename)
        const tables = ["threads", "definitions", "runs", "results", "records", "events"]
        const rows = tables.map((table) => db.prepare(`SELECT * FROM ${table}`).all())
        db.close()
        return JSON.stringify(rows)
      }
      const db = new DatabaseSync(filename)
      db.exec(edit)
      db.close()
      const edited = dump()
      const reasons = yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* SqliteRunStore.make({ filename })
        const { next } = yield* Waiting.processes(store, {})
        return yield* next(Effect.gen(function*() {
          const agent = yield* clerk.build()
          const reason = <A>(verb: Effect.Effect<A, RunError.RunError>) =>
            Effect.map(Effect.flip(verb), (error) => error.reason)
          return [
            yield* reason(agent.status("t")),
            yield* reason(agent.resume("t", [Answer.approve("0.0:approval0")])),
            yield* reason(agent.run("Again", { threadId: "t" })),
            yield* reason(agent.cancel("t"))
          ]
        }))
      }))

      for (const reason of reasons) {
        assert.deepInclude(reason, { _tag: "CorruptRun", threadId: "t", runId: "t#0" })
        assert.include(reason._tag === "CorruptRun" ? reason.detail : "", detail)
      }
      assert.strictEqual(dump(), edited)
    }))

  it.effect("refuses a child of a call that its parent did not make, and stores no answer", () =>
    Effect.gen(function*() {
      const helper = TypedAgent.text("helper", { description: "Helps" })
      const lead = AgentBuilder.make("lead").withTools(Toolkit.make(Waiting.gated("pay", {})), {
        pay: () => Effect.succeed("paid")
      }).withSubagents([helper])
      const filename = yield* SqliteFiles.path
      const store = yield* SqliteRunStore.make({ filename })
      const { next } = yield* Waiting.processes(store, {
        lead: [Step.calls(Step.textTask("helper", "x"), Step.call("pay"))],
        helper: [Step.text("helped")]
      })
      const verb = <A>(use: (agent: Agent.Agent<string>) => Effect.Effect<A, RunError.RunError>) =>
        next(Effect.flatMap(lead.build(), (agent) => Effect.flip(use(agent))))
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const db = new DatabaseSync(filename)
      db.exec("UPDATE threads SET name = 't#0/7.7' WHERE name = 't#0/0.0'")
      db.exec("UPDATE runs SET call_key = '7.7' WHERE call_key = '0.0'")
      const reasons = [
        (yield* verb((agent) => agent.status("t"))).reason,
        (yield* verb((agent) => agent.recover("t"))).reason,
        (yield* verb((agent) => agent.resume("t", [Answer.approve("0.1:approval0")]))).reason
      ]
      const answers = db.prepare("SELECT key FROM records WHERE key LIKE 'a/%'").all()
      db.close()

      for (const reason of reasons) {
        assert.deepStrictEqual<unknown>(reason, {
          _tag: "CorruptRun",
          threadId: "t#0/7.7",
          runId: "t#0/7.7#0",
          detail: "its parent made no call 7.7"
        })
      }
      assert.deepStrictEqual(answers, [])
    }))

  it.effect("goes on with no child whose row is of another shape than its parent's agent has", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const helper = TypedAgent.text("helper", { description: "Helps" })
        .withTools(Toolkit.make(Waiting.gated("pay", {})), { pay: () => Effect.sync(() => `paid ${ran.push("pay")}`) })
      const lead = AgentBuilder.make("lead").withSubagents([helper])
      const filename = yield* SqliteFiles.path
      const store = yield* SqliteRunStore.make({ filename })
      const { model, next } = yield* Waiting.processes(store, {
        lead: [Step.calls(Step.textTask("helper", "x"))],
        helper: [Step.calls(Step.call("pay"))]
      })
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const db = new DatabaseSync(filename)
      db.exec("UPDATE definitions SET shape = 'another' WHERE agent_id = 'helper'")
      db.close()
      const { reason } = yield* next(
        Effect.flatMap(
          lead.build(),
          (agent) => Effect.flip(agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
        )
      )

      assert.deepStrictEqual<unknown>(reason, {
        _tag: "CorruptRun",
        threadId: "t#0/0.0",
        runId: "t#0/0.0#0",
        detail: "it was started by another shape of \"helper\""
      })
      assert.deepStrictEqual([ran, yield* model.calls], [[], 2])
    }))

  it.effect("is listed all the same, a run in a state that there is not as unreadable", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const store = yield* SqliteRunStore.make({ filename })
      const { next } = yield* Waiting.processes(store, {
        clerk: Script.each([Step.calls(Step.call("pay"))])
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) =>
        Effect.all([agent.run("Go", { threadId: "a" }), agent.run("Go", { threadId: "b" })])))
      const db = new DatabaseSync(filename)
      db.exec("UPDATE runs SET state = 'Paused' WHERE id = 1")
      db.close()
      const listed = yield* next(Threads.list())
      yield* next(Effect.flatMap(clerk.build(), (agent) =>
        agent.forget("a")))

      assert.deepStrictEqual(listed.map(({ state, threadId }) => `${threadId} ${state}`), [
        "a Unreadable",
        "b Suspended"
      ])
      assert.deepStrictEqual((yield* next(Threads.list())).map(({ threadId }) => String(threadId)), ["b"])
    }))

  it.effect("hides nothing that other threads wait on, and is named in the log", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const store = yield* SqliteRunStore.make({ filename })
      const { next } = yield* Waiting.processes(store, { clerk: Script.each([Step.calls(Step.call("pay"))]) })
      yield* next(Effect.flatMap(clerk.build(), (agent) =>
        Effect.all([agent.run("Go", { threadId: "a" }), agent.run("Go", { threadId: "b" })])))
      const db = new DatabaseSync(filename)
      db.exec("UPDATE records SET json = substr(json, 1, 20) WHERE key = 'm/0' AND run = 1")
      db.close()
      const logged: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) =>
        logged.push([logLevel, message])
      )
      const waiting = yield* next(Stream.runCollect(Threads.pending())).pipe(Effect.provide(Logger.layer([logger])))

      assert.deepStrictEqual(waiting.map(({ id, threadId }) => `${threadId} ${id}`), ["b 0.0:approval0"])
      assert.include(
        JSON.stringify(logged),
        "\"Warn\",[\"What a thread waits on cannot be read\",{\"_tag\":\"CorruptRun\""
      )
      assert.include(JSON.stringify(logged), "\"threadId\":\"a\"")
    }))
})
