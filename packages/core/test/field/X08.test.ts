import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type RunError, type RunRow, type RunStore, Threads, TypedAgent } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Script, Step } from "@mandate/testing"
import { Effect, Result, Stream } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { DatabaseSync } from "node:sqlite"
import { backings } from "../support/Backings.ts"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Waiting.gated("pay", {}))
const handlers = { pay: () => Effect.succeed("paid") }
const grandchild = TypedAgent.text("grandchild", { description: "Pays" }).withTools(tools, handlers)
const child = TypedAgent.text("child", { description: "Asks" }).withSubagents([grandchild])
const lead = AgentBuilder.make("lead").withSubagents([child], { maxDepth: 2 })

const scripts: Script.Scripts = {
  lead: Script.optional([Step.textTask("child", "x"), Step.text("done")]),
  child: Script.optional([Step.textTask("grandchild", "y"), Step.text("asked")]),
  grandchild: Script.optional([Step.calls(Step.call("pay")), Step.text("paid")])
}

const below = "t#0/0.0"
const deepest = "t#0/0.0#0/0.0"

/** Every verb that walks a tree, and how it ends. */
const verbs = Effect.gen(function*() {
  const agent = yield* lead.build()
  const all: { readonly [name: string]: Effect.Effect<unknown, RunError.RunError, any> } = {
    runs: Threads.runs("t"),
    status: agent.status("t"),
    resume: agent.resume("t", [Answer.approve("0.0:child~0.0:child~0.0:approval0")]),
    "cancel of a child": agent.cancel("t", { child: deepest }),
    cancel: agent.cancel("t"),
    recover: agent.recover("t"),
    run: agent.run("Again", { threadId: "t" }),
    history: agent.history("t")
  }
  const ends: { [name: string]: string } = {}
  for (const [name, verb] of Object.entries(all)) {
    const result = yield* Effect.result(verb as Effect.Effect<unknown, RunError.RunError>)
    ends[name] = Result.isFailure(result) ? result.failure.reason._tag : "ok"
  }
  const pending = yield* Stream.runCollect(Threads.pending())
  return { ends, pending: [...pending].length }
})

const suspended = (store: RunStore.RunStore["Service"]) =>
  Effect.gen(function*() {
    const { next } = yield* Waiting.processes(store, scripts)
    const result = yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
    assert.strictEqual(result.status._tag, "Suspended")
  })

const idOf = (name: string) => `(SELECT r.id FROM runs r JOIN threads t ON t.id = r.thread WHERE t.name = '${name}')`
const threadOf = (name: string) => `(SELECT id FROM threads WHERE name = '${name}')`
const under = (name: string, parent: string) =>
  `UPDATE runs SET parent = ${idOf(parent)}, parent_thread = ${threadOf(parent)} WHERE id = ${idOf(name)}`

/** Edits of a file after which a walk along parents or children would never end, or go astray. */
const edits: ReadonlyArray<readonly [string, string, apart?: true]> = [
  ["the root below itself", under("t", "t")],
  ["the root below its child", under("t", below)],
  ["the root below its grandchild", under("t", deepest)],
  [
    "the root below its grandchild, by a call",
    `${under("t", deepest)};
    UPDATE runs SET call_key = '0.0', tool_call_id = 'x' WHERE id = ${idOf("t")}`
  ],
  ["a child below itself", under(below, below), true],
  ["a child below its own child", under(below, deepest), true],
  ["a grandchild below itself", under(deepest, deepest), true],
  ["a grandchild below the root", under(deepest, "t")],
  ["a child and a grandchild below each other", `${under(below, deepest)}; ${under(deepest, below)}`, true],
  ["a child whose root is itself", `UPDATE runs SET root = ${threadOf(below)} WHERE id = ${idOf(below)}`],
  [
    "roots in a circle",
    `UPDATE runs SET root = ${threadOf(below)} WHERE id = ${idOf("t")};
    UPDATE runs SET root = ${threadOf("t")} WHERE id = ${idOf(below)}`
  ],
  ["a thread of the name of another", `UPDATE threads SET name = 'x' WHERE name = '${deepest}'`]
]

const broken = ["CorruptRun", "UnknownThread"]

/**
 * Checks how verbs ended. A circle that is not reached from the root leaves the root readable, without what was below it;
 * the child in the circle is not.
 */
const check = (ends: { readonly [name: string]: string }, isReached: boolean) => {
  const verbs = isReached ? ["runs", "status", "cancel", "cancel of a child", "resume"] : ["cancel of a child"]
  for (const verb of verbs) assert.include(broken, ends[verb], `${verb}: ${JSON.stringify(ends)}`)
}

describe("X08 a SQLite file whose runs were put", () => {
  it.effect.each(edits)(
    "X08 as %s makes every verb end, and none reads a tree that is not one",
    ([, sql, isApart]) =>
      Effect.gen(function*() {
        const filename = yield* SqliteFiles.path
        yield* Effect.scoped(Effect.flatMap(SqliteRunStore.make({ filename }), suspended))
        const db = new DatabaseSync(filename)
        db.exec(sql)
        db.close()
        const store = yield* SqliteRunStore.make({ filename })
        const { next } = yield* Waiting.processes(store, scripts)
        const { ends } = yield* next(verbs)

        check(ends, isApart !== true)
        assert.include(Object.values(ends), "CorruptRun")
        // What cannot be read can be deleted, and the events that are there be read.
        yield* next(Effect.gen(function*() {
          yield* store.events("t", 0)
          yield* store.seize("t#0", { holder: "x", now: 0, ttl: 1 })
          const agent = yield* lead.build()
          yield* agent.forget("t")
          assert.deepStrictEqual(yield* store.thread("t"), [])
        }))
      }).pipe(Effect.scoped)
  )
})

/** A store whose rows say other parents than they have. */
const reparented = (inner: RunStore.RunStore["Service"], parents: { readonly [runId: string]: string }) => {
  const row = (row: RunRow.RunRow): RunRow.RunRow =>
    parents[row.runId] === undefined ? row : { ...row, parentRunId: parents[row.runId]! }
  const load: typeof inner.load = (runId) =>
    Effect.map(inner.load(runId), (run) => run === undefined ? undefined : { ...run, row: row(run.row) })
  const children: typeof inner.children = Effect.fnUntraced(function*(runId) {
    const all: Array<RunRow.RunRow> = []
    for (const id of ["t#0", `${below}#0`, `${deepest}#0`]) {
      const loaded = yield* load(id)
      if (loaded?.row.parentRunId === runId) all.push(loaded.row)
    }
    return all
  })
  return {
    ...inner,
    load,
    children,
    thread: (threadId: string) => Effect.map(inner.thread(threadId), (rows) => rows.map(row))
  }
}

const circles: ReadonlyArray<readonly [string, { readonly [runId: string]: string }]> = [
  ["a root that is its own parent", { "t#0": "t#0" }],
  ["a root below its child", { "t#0": `${below}#0` }],
  ["a root below its grandchild", { "t#0": `${deepest}#0` }],
  ["a child that is its own parent", { [`${below}#0`]: `${below}#0` }],
  ["a child below its child", { [`${below}#0`]: `${deepest}#0` }],
  ["a grandchild that is its own parent", { [`${deepest}#0`]: `${deepest}#0` }]
]

describe.each(backings)("X08 a store that gives", ({ make, name }) => {
  it.effect.each(circles)(
    `X08 %s makes every verb end with what is wrong, in ${name}`,
    ([, parents]) =>
      Effect.gen(function*() {
        const inner = yield* make
        yield* suspended(inner)
        const { next } = yield* Waiting.processes(reparented(inner, parents), {})
        const { ends } = yield* next(verbs)

        check(ends, parents["t#0"] !== undefined)
      }).pipe(Effect.scoped)
  )
})
