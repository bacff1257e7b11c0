/** What a released version wrote in format 1 is read, and gone on with, by the code as it is. */
import { assert, describe, it } from "@effect/vitest"
import { Answer, RunStore, Threads } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { ScriptedModel } from "@mandate/testing"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import * as Format1 from "../support/Format1.ts"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import * as SqlDump from "../support/SqlDump.ts"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"
import * as Events from "./fixtures/Format1Events.ts"
import * as Expected from "./fixtures/Format1Expected.ts"

const sql = readFileSync(new URL("./fixtures/format-1.sql", import.meta.url), "utf8")

/** The file, an hour after the processes that wrote it are gone, and processes of today on it. */
const reopened = Effect.gen(function*() {
  const filename = yield* SqliteFiles.path
  yield* Effect.sync(() => SqlDump.load(filename, sql))
  yield* TestClock.adjust("1 hour")
  const ran: Array<string> = []
  const model = yield* ScriptedModel.make(Format1.scripts("later"))
  const home = Effect.orDie(SqliteRunStore.make({ filename }))
  const { next } = Waiting.processesOf(home, model, Models.layerOf(model))
  const { clerk, scout } = Format1.family(ran, "later")
  const store = yield* home
  const look = <A, E>(effect: Effect.Effect<A, E, RunStore.RunStore>) =>
    Effect.provideService(effect, RunStore.RunStore, store)
  return { ran, model, next, clerk, scout, look }
})

type Status = { readonly _tag: string; readonly pending?: ReadonlyArray<{ readonly id: string }> }
const ids = (status: Status) => status.pending?.map(({ id }) => String(id))

describe("a file of format 1", () => {
  it.effect("lists its threads and says how each stands and what it waits on", () =>
    Effect.gen(function*() {
      const { clerk, next, scout } = yield* reopened
      const [listed, statuses, typed] = yield* next(Effect.all([
        Threads.list(),
        Effect.flatMap(clerk.build(), (agent) => Effect.forEach(Expected.threads.slice(0, -1), agent.status)),
        Effect.flatMap(scout.bind(), (bound) => bound.status("typed"))
      ]))

      const all = [...statuses, typed]
      assert.deepStrictEqual<unknown>(listed, Expected.listed)
      assert.deepStrictEqual<unknown>(all.map(({ status }) => status), Expected.statuses)
      assert.deepStrictEqual(all.map(({ usage }) => usage.own.inputTokens), Expected.tokens.map(([own]) => own))
      // Runs that wait count the runs below them, which the version that wrote the file left out until they had ended.
      assert.deepStrictEqual(all.map(({ usage }) => usage.tree.inputTokens), [20, 13, 30, 20, 30, 10])
    }))

  it.effect("gives the history of a thread with every outcome and every part of a message", () =>
    Effect.gen(function*() {
      const { clerk, next, scout } = yield* reopened
      const [settled, typed] = yield* next(Effect.all([
        Effect.flatMap(clerk.build(), (agent) => agent.history("settled")),
        Effect.flatMap(scout.bind(), (bound) => bound.history("typed"))
      ]))

      assert.deepStrictEqual<unknown>(settled.map(({ runId, status }) => [runId, status]), Expected.outcomes)
      assert.deepStrictEqual<unknown>(settled[0]?.messages, Expected.messages)
      assert.deepStrictEqual(settled[0]?.usage, Expected.usage)
      assert.deepStrictEqual(
        settled.slice(1).map(({ messages }) => Results.all(messages).map(({ value }) => value)),
        Expected.laterResults
      )
      assert.deepStrictEqual<unknown>(typed.map(({ status }) => status), Expected.statuses.slice(-1))
    }))

  it.effect("replays the events of every run, children included", () =>
    Effect.gen(function*() {
      const { look } = yield* reopened
      const all = (yield* Effect.forEach(Expected.threads, (id) => look(Trees.durableEvents(id)))).flat()
      const events = all.flatMap((event) => "sequence" in event ? [event] : [])
      const byRun: { [runId: string]: string } = {}
      for (const { _tag, runId, sequence } of events) {
        byRun[runId] = `${byRun[runId] ?? ""} ${sequence} ${_tag}`.trimStart()
      }

      assert.lengthOf(events, all.length)
      assert.deepStrictEqual(byRun, Events.events)
      const whole = events.filter(({ rootThreadId, sequence }) =>
        rootThreadId === "settled" && Events.wholeEvents.some((event) => event.sequence === sequence)
      )
      assert.deepStrictEqual<unknown>(whole, Events.wholeEvents)
    }))

  it.effect("takes another run on a settled thread, whose model is sent all that is kept", () =>
    Effect.gen(function*() {
      const { clerk, model, next } = yield* reopened
      const { history, result } = yield* next(Effect.gen(function*() {
        const agent = yield* clerk.build()
        const history = yield* agent.history("settled")
        return { history, result: yield* agent.run("Again", { threadId: "settled", tenant: "acme" }) }
      }))

      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "Here again" })
      const [sent] = yield* model.requests
      assert.deepStrictEqual(
        sent?.request.messages.filter(({ role }) => role !== "system"),
        [...history.flatMap(({ messages }) => messages), { role: "user", content: [{ type: "text", text: "Again" }] }]
      )
    }))

  it.effect("goes on with a suspended run: what was answered stays, what is answered now is applied once", () =>
    Effect.gen(function*() {
      const { clerk, look, model, next, ran } = yield* reopened
      const result = yield* next(Effect.flatMap(clerk.build(), (agent) =>
        agent.resume("suspended", [
          Answer.approve("0.0:approval0"),
          Answer.proceed("0.5:breakpoint0"),
          Answer.reply("0.6:child~0.0:question0", Schema.String, "only"),
          Answer.reply("0.7:child~0.0:question1", Schema.String, "second")
        ])))

      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "All answered" })
      assert.sameMembers(ran, ["pay 10", "publish b", "interview only", "interview first, second"])
      const { messages } = (yield* model.requestsOf("clerk"))[0]!.request
      assert.deepStrictEqual(Results.all(messages).map(({ value }) => value), Expected.answered)
      assert.include(JSON.stringify(messages), "{\\\"amount\\\":3}")
      assert.lengthOf(yield* model.requests, 3)
      assert.deepStrictEqual(yield* look(Trees.ends("suspended")), {
        "suspended#0": "Completed",
        "suspended#0/0.6#0": "Completed",
        "suspended#0/0.7#0": "Completed"
      })
    }))

  it.effect.each(
    [["failed", "Mended", [], 1], ["broken", "Mended below", ["explode"], 2]] as const
  )("recovers the %s run and does nothing recorded again", ([threadId, answer, runs, calls]) =>
    Effect.gen(function*() {
      const { clerk, model, next, ran } = yield* reopened
      const result = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.recover(threadId)))

      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer })
      assert.deepStrictEqual(ran, [...runs])
      assert.lengthOf(yield* model.requests, calls)
    }))

  it.effect("recovers a run whose process died, asks about the call that must not run twice, and ends it", () =>
    Effect.gen(function*() {
      const { clerk, model, next, ran } = yield* reopened
      const waiting = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.recover("running")))
      const requests = (yield* model.requests).map(({ call }) => `${call.runId} ${call.step}`)
      const result = yield* next(
        Effect.flatMap(
          clerk.build(),
          (agent) => agent.resume("running", [Answer.replyUnknown("0.1:uncertain0", "charged by hand")])
        )
      )

      assert.deepStrictEqual(ids(waiting.status), ["0.1:uncertain0"])
      assert.deepStrictEqual(requests, ["running#0/0.3#0 1"])
      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "Charged" })
      assert.deepStrictEqual(ran, [])
      const last = (yield* model.requests).at(-1)
      assert.deepStrictEqual(Results.last(last?.request).map(({ value }) => value), Expected.charged)
      assert.deepStrictEqual([result.usage.tree.inputTokens, result.usage.tree.childRuns], [50, 2])
    }))
})
