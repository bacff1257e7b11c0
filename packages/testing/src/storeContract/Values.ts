/**
 * Rules of texts: each comes back as it was, byte for byte.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { ContractViolation, same } from "../contract/Violation.ts"
import { by, childOf, keepAll, keys, newRun, record, running, settlement } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of values.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules = (): ReadonlyArray<Rule> => [
  ...Object.entries(texts).map(([name, text]): Rule => ({
    name: `keeps ${name} wherever a text is kept`,
    check: (store) => isKept(store, text)
  })),
  {
    name: "keeps a text of 8 MB in records and events",
    check: Effect.fnUntraced(function*(store) {
      const text = long()
      const fence = yield* Steps.open(store, "t")
      yield* store.append(fence, { records: [record("m/0", text)], events: [{ runId: "t#0", json: text }] })

      yield* isText("the record", (yield* store.load("t#0"))?.records[0]?.json, text)
      yield* isText("the event", (yield* store.events("t", 1))[0]?.json, text)
    })
  },
  {
    name: "keeps a text of 8 MB in inputs and messages",
    check: Effect.fnUntraced(function*(store) {
      const text = long()
      const fence = yield* Steps.open(store, "t", { input: text })
      yield* store.settle(fence, { ...settlement(), messages: text }, [], keepAll)
      const [row] = yield* store.thread("t")

      yield* isText("the input", row?.input, text)
      yield* isText("the messages", row?.messages ?? undefined, text)
    })
  },
  {
    name: "keeps many events and records of one run that begin alike, and each as it came",
    check: Effect.fnUntraced(function*(store) {
      const jsons = [
        "",
        "\ud83d\ude00a",
        "\ud83d\ude00",
        "\ud83d\ude01",
        "a\ud83d\ude00",
        "a\ud83d\ude01",
        "a",
        "{\"own\":1}"
      ]
      const opened = yield* store.open(newRun("t"), by("one"), (runId) => jsons.map((json) => ({ runId, json })))
      const epoch = opened._tag === "Started" ? opened.epoch : 0
      const fence = { threadId: "t", runId: "t#0", epoch }
      yield* store.append(fence, { records: jsons.map((json, index) => ({ key: `m/${index}`, json })), events: [] })
      yield* same("the records", (yield* store.load("t#0"))?.records.map(({ json }) => json), jsons)
      // These hold the usage that their run settles with.
      const events = [...jsons, "{\"usage\":{\"own\":1}}", "{\"own\":1}{\"own\":1}"].map((json) => ({
        runId: "t#0",
        json
      }))
      yield* store.settle(fence, settlement(), events, keepAll)

      yield* same("the events", (yield* store.events("t", 0)).map(({ json }) => json), [
        ...jsons,
        ...events.map(({ json }) => json)
      ])
    })
  },
  {
    name: "keeps numbers as they are",
    check: Effect.fnUntraced(function*(store) {
      const now = 1_785_000_000_000.5
      const fence = yield* Steps.open(
        store,
        "t",
        { depth: 7, depthLeft: 2_147_483_647, startedAt: now - 0.25 },
        by("one", now)
      )
      yield* store.suspend(fence, { usage: "{}", activeMillis: 86_400_000_000.25, stoppedAt: now }, [])
      const row = (yield* store.load("t#0"))?.row

      yield* same("the numbers", [row?.depth, row?.depthLeft, row?.activeMillis, row?.startedAt, row?.stoppedAt], [
        7,
        2_147_483_647,
        86_400_000_000.25,
        now - 0.25,
        now
      ])
      yield* Steps.take(store, "t", by("one", now))
      yield* same("until when it is held", yield* store.lease("t", by("two", now)), {
        _tag: "Held",
        until: now + 15_000
      })
    })
  },
  {
    name: "keeps threads and holders apart whose names differ little",
    check: Effect.fnUntraced(function*(store) {
      const names = ["a", "A", "a_", "ab", "a.", "a-b", "a:b", "__proto__", "constructor", "toString"]
      for (const name of names) yield* Steps.create(store, yield* Steps.open(store, name), "0.0", by(name))
      for (const name of names) {
        yield* same(`whether ${name} is kept out of its own`, yield* store.isHeld(`${name}#0/0.0`, by(name)), false)
      }
      yield* store.release("A")
      for (const name of ["a", "a_", "a."]) yield* store.forget(name)
      for (const name of names.slice(3).filter((name) => name !== "a.")) {
        yield* same(`the runs of ${name}`, (yield* store.thread(name)).length, 1)
        yield* same(`whether ${name} holds its own`, yield* store.isHeld(`${name}#0/0.0`, by("x")), true)
      }
      yield* same("whether A holds its own", yield* store.isHeld("A#0/0.0", by("x")), false)
      yield* same("a run that is named like what objects have", yield* store.load("__proto__"), null)
    })
  },
  {
    name: "keeps records apart whose keys differ only in case, in a blank, in form, or by what a pattern matches",
    check: Effect.fnUntraced(function*(store) {
      const names = [
        "a",
        "A",
        "a ",
        " a",
        "",
        "\u00e9",
        "e\u0301",
        "a%",
        "a_",
        "ab",
        "a\u0000",
        "__proto__",
        "constructor"
      ]
      const fence = yield* Steps.open(store, "t")
      yield* Steps.append(store, fence, ...names)
      yield* Steps.append(store, fence, ...names)

      yield* same("the keys", keys(yield* store.load("t#0")), names)
    })
  }
]

const long = () => "\u6f22\ud83d\ude00\u00e9\n\"\u0000a".repeat(1024 * 1024)

const texts: { readonly [name: string]: string } = {
  "an empty text": "",
  "a text of all kinds of characters":
    "\"\\ \u0001\u001f\u007f\n\r\n\t \ufeff\u200b\u2028 caf\u00e9 cafe\u0301 \u6f22 \ud83d\ude00 \ud83d\udc69\u200d\ud83d\udcbb \ufffd '%_; -- ",
  "a text with NUL characters": "\u0000a\u0000\u0000b\u0000",
  "JSON with keys such as __proto__": "{\"__proto__\":{\"a\":1},\"constructor\":{\"prototype\":null},\"a\":1,\"a\":2}",
  "JSON with numbers that a parser would round": "{\"a\":12345678901234567890.10,\"b\":1e400,\"c\":-0}"
}

const isKept = Effect.fnUntraced(function*(store: Store, text: string): Effect.fn.Return<void, Failure> {
  const columns = { agentPath: text, shape: text, limits: text, budget: text, input: text, prompt: text }
  const opened = yield* store.open(newRun("t", columns), by("one"), (runId) => [{ runId, json: text }])
  const fence = { threadId: "t", runId: "t#0", epoch: opened._tag === "Started" ? opened.epoch : 0 }
  const child = childOf(fence, "0.0", { ...columns, toolCallId: text })
  yield* store.create(fence, child, by("one"), [])
  yield* store.append(fence, { records: [{ key: "m/0", json: text }], events: [{ runId: "t#0", json: `${text}.` }] })
  yield* store.fail(fence, { outcome: text, usage: text, activeMillis: 0, stoppedAt: 9 }, [{
    runId: "t#0",
    json: `.${text}`
  }])
  yield* isRow(store, { ...running(newRun("t", columns)), state: "Failed", outcome: text, usage: text, stoppedAt: 9 })
  yield* isRow(store, running(child))
  yield* isText("the record", (yield* store.load("t#0"))?.records[0]?.json, text)
  const end = { outcome: text, usage: text, messages: text, activeMillis: 1, stoppedAt: 10 }
  yield* store.settle(fence, end, [{ runId: "t#0", json: `{"usage":${text}}` }], keepAll)
  yield* isRow(store, { ...running(newRun("t", columns)), state: "Settled", ...end })

  const events = yield* store.events("t", 0)
  const expected = [text, `${text}.`, `.${text}`, `{"usage":${text}}`]
  yield* same("the number of events", events.length, expected.length)
  yield* Effect.forEach(expected, (json, index) => isText(`the event ${index + 1}`, events[index]?.json, json))
})

const isRow = Effect.fnUntraced(function*(
  store: Store,
  row: RunRow.RunRow
): Effect.fn.Return<void, Failure> {
  const kept: { readonly [column: string]: unknown } = { ...(yield* store.load(row.runId))?.row }
  for (const [column, value] of Object.entries(row)) {
    yield* typeof value === "string" && typeof kept[column] === "string"
      ? isText(`the column ${column}`, kept[column], value)
      : same(`the column ${column}`, kept[column], value)
  }
})

// Texts may be too long to be shown whole: says where they part.
const isText = (what: string, actual: string | undefined, expected: string): Effect.Effect<void, ContractViolation> => {
  if (actual === expected) return Effect.void
  const at = partingOf(actual ?? "", expected)
  const shown = (text: string) => `${text.length} units, from ${at}: ${JSON.stringify(text.slice(at, at + 20))}`
  return Effect.fail(
    new ContractViolation({
      problem: `not as expected: ${what}`,
      expected: shown(expected),
      actual: actual === undefined ? "nothing" : shown(actual)
    })
  )
}

const partingOf = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
