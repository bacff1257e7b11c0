import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Message, type ModelClient, ModelError } from "@mandate/core"
import { StrictRules } from "@mandate/testing"
import { Effect, Result } from "effect"
import type { Move, Program } from "../src/Program.ts"
import type { FileReport } from "../src/Report.ts"
import * as ScriptedModel from "../src/ScriptedModel.ts"
import * as Files from "./support/Files.ts"
import * as InProcess from "./support/InProcess.ts"

const files = {
  "a.md": "[b](b.md) [gone](gone.md)\n[none](#none)",
  "b.md": "# B\n[a](a.md#nowhere) <https://example.org>",
  "c.md": "no links"
}

const table = [
  "a.md:1  gone.md       missing",
  "a.md:2  #none         no such heading",
  "b.md:2  a.md#nowhere  no such heading",
  "",
  "5 links in 3 files: 3 broken"
]

/** The scripted child, with its report changed. */
const reporting = (change: (report: FileReport) => object): Program => (messages) =>
  Result.map(
    ScriptedModel.programs["auditor"]!(messages),
    (move): Move =>
      "calls" in move && move.calls[0]?.tool === "submit_report"
        ? {
          calls: [{ tool: "submit_report", arguments: { ...change(move.calls[0].arguments as unknown as FileReport) } }]
        }
        : move
  )

const withAuditor = (auditor: Program) => ScriptedModel.make({ ...ScriptedModel.programs, auditor })

/** A client whose calls fail where they match. */
const failing = (
  matches: (agentId: string, messages: ReadonlyArray<Message.Message>) => boolean
): ModelClient.ModelClient => {
  const model = ScriptedModel.make(ScriptedModel.programs)
  return {
    ...model,
    generate: (request, call) =>
      matches(call.agentId, request.messages)
        ? Effect.fail(
          new ModelError.ModelError({ provider: "test", modelId: "m", reason: "authentication", detail: "no key" })
        )
        : model.generate(request, call)
  }
}

it.layer(NodeServices.layer)("an audit", (it) => {
  describe("with the scripted model", () => {
    it.effect("prints what the children reported, and the parent's summary beside it", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)

        const ran = yield* InProcess.audit({ folder })

        assert.strictEqual(ran.stdout, table.join("\n"))
        assert.strictEqual(ran.exitCode, 1)
        assert.deepStrictEqual(ran.stderr.slice(0, 1), [
          `Auditing 3 files in ${folder}, at most 4 at once, with a test`
        ])
        assert.sameMembers(ran.stderr.filter((line) => line.endsWith("started")), [
          "[0/3] a.md: started",
          "[0/3] b.md: started",
          "[0/3] c.md: started"
        ])
        assert.match(ran.stderr.at(-2) ?? "", /^\[3\/3\] .*; so far 5 links, 3 broken$/)
        assert.strictEqual(
          ran.stderr.at(-1),
          "Summary: Audited 3 of 3 files, with 5 links. Broken: 3 links, most of them in a.md; most frequent: no such heading."
        )
      }))

    it.effect("is clean when no link is broken", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "a.md": "[a](a.md)" })

        const ran = yield* InProcess.audit({ folder })

        assert.strictEqual(ran.stdout, "1 link in 1 file: none broken")
        assert.strictEqual(ran.exitCode, 0)
      }))

    it.effect("asks no model about a folder without Markdown", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "notes.txt": "[x](y)" })
        const { client, requests } = InProcess.recording()

        const ran = yield* InProcess.audit({ folder, json: true }, client)

        assert.strictEqual(ran.stdout, "{\"files\":0,\"links\":0,\"broken\":[]}")
        assert.strictEqual(ran.exitCode, 0)
        assert.deepStrictEqual(ran.stderr, [`There are no Markdown files in ${folder}`])
        assert.lengthOf(requests, 0)
      }))

    it.effect("gives a file that cannot be read a row of its own", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({
          "large.md": `[x](y)${" ".repeat(5_000_000)}`,
          "latin.md": new Uint8Array([0x5b, 0xe9, 0x5d]),
          "sound.md": "[latin](latin.md)"
        })

        const ran = yield* InProcess.audit({ folder, json: true })

        assert.strictEqual(
          ran.stdout,
          "{\"files\":3,\"links\":1,\"broken\":["
            + "{\"file\":\"large.md\",\"line\":0,\"link\":\"\",\"reason\":\"too large\"},"
            + "{\"file\":\"latin.md\",\"line\":0,\"link\":\"\",\"reason\":\"not UTF-8\"}]}"
        )
        assert.strictEqual(ran.exitCode, 1)
      }))

    it.effect("checks every link of a file that has more than a step takes, equal ones too", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "many.md": "[x](gone.md) [y](many.md)\n".repeat(500) })
        const { client, requests } = InProcess.recording()

        const ran = yield* InProcess.audit({ folder, json: true }, client)

        assert.include(ran.stdout, "{\"files\":1,\"links\":1000,\"broken\":[{\"file\":\"many.md\",\"line\":1,")
        assert.lengthOf(ran.stdout.match(/"gone\.md"/g) ?? [], 500)
        // One to list, 40 to check, one to report.
        assert.lengthOf(requests.filter(({ agentId }) => agentId === "auditor"), 42)
      }))

    it.effect("takes any file name, and shows no control character of it", () =>
      Effect.gen(function*() {
        const names = ["a b.md", "\u001b[2J.md", "line\nbreak.md", "日本/\"quoted\".md", "__proto__.md", "{}.md"]
        const folder = yield* Files.write(Object.fromEntries(names.map((name) => [name, "[x](gone)"])))

        const ran = yield* InProcess.audit({ folder })

        assert.include(ran.stdout, "6 links in 6 files: 6 broken")
        for (const line of [...ran.stdout.split("\n"), ...ran.stderr]) assert.notMatch(line, /\p{Cc}/u)
      }))

    it.effect("sends only requests that a strict provider takes", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ ...files, "many.md": "[x](gone.md)\n".repeat(60) })
        const { client, requests } = InProcess.recording()

        yield* InProcess.audit({ folder }, client)

        assert.isAbove(requests.length, 10)
        for (const { request } of requests) assert.deepStrictEqual(StrictRules.check(request), [])
      }))
  })

  describe("whose child leaves a link out", () => {
    it.effect("has no row for it", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)
        const child = withAuditor(reporting((report) => ({
          ...report,
          broken: report.broken.filter(({ link }) => link !== "gone.md")
        })))

        const ran = yield* InProcess.audit({ folder }, child)

        assert.strictEqual(
          ran.stdout,
          [table[1], table[2], "", "5 links in 3 files: 2 broken"].join("\n")
        )
        assert.strictEqual(ran.exitCode, 1)
      }))
  })

  describe("of which a part fails", () => {
    const rest = (failure: string) =>
      [table[2], failure, "", "2 links in 2 files: 1 broken, 1 file not audited"].join("\n")
    const isAbout = (path: string) => (messages: ReadonlyArray<Message.Message>) =>
      JSON.stringify(messages.find(({ role }) => role === "user")).includes(path)

    it.effect("shows the rest when the model of a child fails, and says which file is missing", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)
        const client = failing((agentId, messages) => agentId === "auditor" && isAbout("a.md")(messages))

        const ran = yield* InProcess.audit({ folder }, client)

        assert.strictEqual(ran.stdout, rest("Not audited: a.md: The subagent's model failed: authentication"))
        assert.strictEqual(ran.exitCode, 3)
        assert.isTrue(ran.stderr.some((line) => line.includes("a model call failed (authentication)")))
      }))

    it.effect("does not take a report about another file", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)
        const child = withAuditor(reporting((report) => report.path === "a.md" ? { ...report, path: "c.md" } : report))

        const ran = yield* InProcess.audit({ folder }, child)

        assert.strictEqual(ran.stdout, rest("Not audited: a.md: the report is about \"c.md\""))
        assert.strictEqual(ran.exitCode, 3)
      }))

    it.effect("names a report that does not decode", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)
        const child = withAuditor(reporting((report) => report.path === "a.md" ? { ...report, links: -1 } : report))

        const ran = yield* InProcess.audit({ folder }, child)

        assert.match(ran.stdout, /^Not audited: a\.md: The subagent gave no valid report: links/m)
        assert.strictEqual(ran.exitCode, 3)
      }))

    it.effect("names a file that the parent did not delegate", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)
        const parent: Program = (messages) =>
          Result.map(ScriptedModel.programs["link-audit"]!(messages), (move): Move =>
            "calls" in move ? { calls: move.calls.slice(1) } : move)

        const ran = yield* InProcess.audit(
          { folder },
          ScriptedModel.make({
            ...ScriptedModel.programs,
            // The real program would go on with what it thinks is left.
            "link-audit": (messages) =>
              messages.length > 2 ? Result.succeed({ text: "Done." }) : parent(messages)
          })
        )

        assert.strictEqual(ran.stdout, rest("Not audited: a.md: it was not delegated"))
        assert.strictEqual(ran.exitCode, 3)
        assert.strictEqual(ran.stderr.at(-1), "Summary: Done.")
      }))

    it.effect("keeps all reports when the parent's model fails at the summary", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(files)
        const client = failing((agentId, messages) => agentId === "link-audit" && messages.length > 2)

        const ran = yield* InProcess.audit({ folder }, client)

        assert.strictEqual(ran.stdout, table.join("\n"))
        assert.strictEqual(ran.exitCode, 3)
        assert.match(ran.stderr.at(-1) ?? "", /^The model test\/m failed, authentication: no key\. Check the API key/)
      }))

    it.effect("shortens the list of very many files with one reason", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(Files.generated(30).files)

        const ran = yield* InProcess.audit({ folder }, failing(() => true))

        const lines = ran.stdout.split("\n")
        assert.lengthOf(lines, 12)
        assert.strictEqual(lines[9], "Not audited: 21 files more: it was not delegated")
        assert.strictEqual(lines.at(-1), "0 links in 0 files: none broken, 30 files not audited")
        assert.strictEqual(ran.exitCode, 3)
      }))
  })
})
