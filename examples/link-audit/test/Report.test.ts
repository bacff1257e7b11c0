import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Report from "../src/Report.ts"

const report = (path: string, links: number, broken: Report.FileReport["broken"] = []): Report.FileReport => ({
  path,
  links,
  broken
})

describe("Report", () => {
  it("adds up files and links, and sorts by file, line and link", () => {
    const reports = [
      report("b.md", 3, [
        { line: 10, link: "x", reason: "missing" },
        { line: 9, link: "z", reason: "outside" },
        { line: 9, link: "a", reason: "empty" }
      ]),
      report("a.md", 2, [{ line: 1, link: "y", reason: "malformed" }]),
      report("B.md", 0)
    ]
    const expected = {
      files: 3,
      links: 5,
      broken: [
        { file: "a.md", line: 1, link: "y", reason: "malformed" },
        { file: "b.md", line: 9, link: "a", reason: "empty" },
        { file: "b.md", line: 9, link: "z", reason: "outside" },
        { file: "b.md", line: 10, link: "x", reason: "missing" }
      ]
    } as const

    assert.deepStrictEqual(Report.total(reports), expected)
    assert.deepStrictEqual(Report.total(reports.toReversed()), expected)
  })

  it("totals nothing to nothing", () => {
    assert.deepStrictEqual(Report.total([]), { files: 0, links: 0, broken: [] })
  })

  it("gives a file that cannot be read a row of its own", () => {
    const result = Report.total([Report.unreadable("a.md", "too large")])

    assert.deepStrictEqual(result.broken, [{ file: "a.md", line: 0, link: "", reason: "too large" }])
    assert.strictEqual(Report.exitCode(result, []), 1)
  })

  it("renders JSON with its keys in a fixed order and nothing more", () => {
    const result = Report.total([report("a.md", 1, [{ reason: "missing", link: "b \"c\".md", line: 2 }])])

    assert.strictEqual(
      Report.json({ broken: result.broken, links: result.links, files: result.files }),
      `{"files":1,"links":1,"broken":[{"file":"a.md","line":2,"link":"b \\"c\\".md","reason":"missing"}]}`
    )
    assert.strictEqual(Report.json(Report.total([])), `{"files":0,"links":0,"broken":[]}`)
  })

  it("renders JSON that no terminal obeys and that decodes to what it was", () => {
    const link = "\u001b[31m\u009b31m\u007f\u202e\u2028\u{e0041}ü🚀"
    const result = Report.total([report("a\nb.md", 1, [{ line: 1, link, reason: "missing" }])])

    const encoded = Report.json(result)

    assert.notMatch(encoded, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    assert.deepStrictEqual(Schema.decodeSync(Schema.fromJsonString(Report.AuditResult))(encoded), result)
  })

  it("refuses a report that a model made up", () => {
    const isReport = Schema.is(Report.FileReport)
    const broken = { line: 1, link: "x", reason: "missing" }

    assert.isTrue(isReport({ path: "a.md", links: 1, broken: [broken] }))
    assert.isFalse(isReport({ path: "a.md", links: -1, broken: [] }))
    assert.isFalse(isReport({ path: "a.md", links: 1, broken: [{ ...broken, line: 1.5 }] }))
    assert.isFalse(isReport({ path: "a.md", links: 1, broken: [{ ...broken, reason: "looks wrong" }] }))
    assert.isFalse(isReport({ path: "a.md", links: 1 }))
  })

  it("exits with 0, 1 or 3", () => {
    const clean = Report.total([report("a.md", 1)])
    const broken = Report.total([report("a.md", 1, [{ line: 1, link: "x", reason: "missing" }])])
    const failure = { file: "b.md", message: "no answer" }

    assert.strictEqual(Report.exitCode(clean, []), 0)
    assert.strictEqual(Report.exitCode(broken, []), 1)
    assert.strictEqual(Report.exitCode(clean, [failure]), 3)
    assert.strictEqual(Report.exitCode(broken, [failure]), 3)
  })
})
