import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@mandate/core"
import { Effect, FileSystem, Layer, PlatformError } from "effect"
import { Output } from "../../support/src/Output.ts"
import * as Trace from "../src/Trace.ts"
import * as Files from "./support/Files.ts"
import * as InProcess from "./support/InProcess.ts"

const timeout = 60_000

/** Most children that were live at once, from the events that begin and end one. */
const peak = (
  events: ReadonlyArray<RunEvent.RunEvent>,
  [begins, ends] = ["RunStarted", "RunSettled"],
  depth = 1
): number => {
  let live = 0
  let most = 0
  for (const event of events) {
    if (!("depth" in event) || event.depth !== depth) continue
    if (event._tag === begins) most = Math.max(most, ++live)
    if (event._tag === ends) live--
  }
  return most
}

const traced = Effect.fnUntraced(function*(count: number, concurrency: number) {
  const { fileLinks, files, json } = Files.generated(count)
  const folder = yield* Files.write(files)
  const { client, requests } = InProcess.recording()
  const ran = yield* InProcess.audit({ folder, json: true, concurrency, trace: `${folder}/trace.jsonl` }, client)
  const events = yield* InProcess.readTrace(`${folder}/trace.jsonl`)
  return { ran, events, fileLinks, json, requests }
})

it.layer(NodeServices.layer)("the trace of an audit", (it) => {
  describe("of 40 files", () => {
    for (const concurrency of [1, 4, 17]) {
      it.effect(
        `has as many children live at once as may be, ${concurrency}, and never more`,
        () =>
          Effect.gen(function*() {
            const { events } = yield* traced(40, concurrency)

            assert.strictEqual(peak(events), concurrency)
          }),
        timeout
      )

      it.effect(`has as many tasks at once as may be, ${concurrency}, and never more`, () =>
        Effect.gen(function*() {
          const { events } = yield* traced(40, concurrency)

          assert.strictEqual(peak(events, ["TaskStarted", "TaskSettled"], 0), concurrency)
        }), timeout)
    }

    it.effect("has one child for each file and one check for each link to a file", () =>
      Effect.gen(function*() {
        const { events, fileLinks, json, ran } = yield* traced(40, 4)
        const children = new Set(events.flatMap((event) => event._tag === "TaskStarted" ? [event.childRunId] : []))
        const results = (tool: string) =>
          events.flatMap((event) => event._tag === "ToolFinished" && event.tool === tool ? [event.runId] : [])

        assert.strictEqual(ran.stdout, json)
        assert.strictEqual(ran.exitCode, 1)
        assert.strictEqual(children.size, 40)
        assert.strictEqual(events.filter(({ _tag }) => _tag === "TaskSettled").length, 40)
        assert.sameMembers(results("list_links"), [...children])
        assert.lengthOf(results("check_target"), fileLinks)
        assert.isTrue(results("check_target").every((runId) => children.has(runId)))
      }), timeout)

    it.effect("starts and ends with the parent's run and misses no event", () =>
      Effect.gen(function*() {
        const { events } = yield* traced(40, 4)
        const numbers = events.flatMap((event) => "sequence" in event ? [event.sequence] : [])

        assert.strictEqual(events[0]?._tag, "RunStarted")
        assert.strictEqual(events.at(-1)?._tag, "RunSettled")
        assert.deepStrictEqual(numbers, numbers.map((_, index) => index + 1))
        assert.isFalse(events.some(({ _tag }) => _tag === "EventsMissed"))
      }), timeout)

    it.effect("comes from a parent that is never sent the text of a file", () =>
      Effect.gen(function*() {
        const { requests } = yield* traced(40, 4)
        const asked = requests.filter(({ agentId }) => agentId === "link-audit").map((it) => JSON.stringify(it.request))

        // 40 files, 20 in a step, and the summary.
        assert.lengthOf(asked, 3)
        assert.include(asked[0], "part-1/file-001.md")
        assert.include(asked[2], "no such heading")
        for (const request of asked) assert.notInclude(request, Files.marker)
      }), timeout)
  })

  it.effect("has every event of an audit of 300 files", () =>
    Effect.gen(function*() {
      const { events, fileLinks, json, ran } = yield* traced(300, 64)

      assert.strictEqual(ran.stdout, json)
      assert.strictEqual(peak(events), 64)
      assert.isFalse(events.some(({ _tag }) => _tag === "EventsMissed"))
      assert.lengthOf(
        events.filter((event) => event._tag === "ToolFinished" && event.tool === "check_target"),
        fileLinks
      )
    }), timeout)

  it.effect("says once that it is not whole when it cannot be written any more", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const output = Layer.succeed(Output, {
        print: () => Effect.void,
        log: (line) => Effect.sync(() => void log.push(line))
      })
      const full = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "write" })
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.open(`${yield* fs.makeTempDirectoryScoped()}/t`, { flag: "w" })
      const trace = yield* Trace.open("t.jsonl").pipe(
        Effect.provide(output),
        Effect.provideService(FileSystem.FileSystem, {
          ...fs,
          open: () => Effect.succeed({ ...file, writeAll: () => Effect.fail(full) })
        })
      )

      yield* trace.write([])
      yield* trace.write([])

      assert.deepStrictEqual(log, ["The trace is not whole, since \"t.jsonl\" cannot be written: the system refuses"])
    }))
})
