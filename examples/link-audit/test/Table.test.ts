import { assert, describe, it } from "@effect/vitest"
import type * as Report from "../src/Report.ts"
import * as Table from "../src/Table.ts"

const result = (...broken: ReadonlyArray<Report.Row>): Report.AuditResult => ({ files: 2, links: 31, broken })

describe("Table", () => {
  it("shows only the summary when nothing is broken", () => {
    assert.strictEqual(Table.format({ files: 1, links: 1, broken: [] }), "1 link in 1 file: none broken")
    assert.strictEqual(Table.format({ files: 0, links: 0, broken: [] }), "0 links in 0 files: none broken")
  })

  it("aligns a row for each broken link", () => {
    const table = Table.format(result(
      { file: "guide/start.md", line: 7, link: "../missing.md#x", reason: "missing" },
      { file: "guide/start.md", line: 120, link: "#nope", reason: "no such heading" },
      { file: "large.md", line: 0, link: "", reason: "too large" }
    ))

    assert.strictEqual(
      table,
      [
        "guide/start.md:7    ../missing.md#x  missing",
        "guide/start.md:120  #nope            no such heading",
        "large.md                             too large",
        "",
        "31 links in 2 files: 2 broken, 1 file not readable"
      ].join("\n")
    )
  })

  it("names the files that were not audited", () => {
    assert.strictEqual(
      Table.format(result(), [{ file: "a.md", message: "no\nanswer" }]),
      [
        "Not audited: a.md: no\\u{a}answer",
        "",
        "31 links in 2 files: none broken, 1 file not audited"
      ].join("\n")
    )
  })

  it("shortens in the middle what does not fit 80 columns", () => {
    const long = `start-${"x".repeat(100)}-end`
    const reason = "missing"
    const rows: ReadonlyArray<Report.Row> = [
      { file: "a.md", line: 1, link: long, reason },
      { file: `${long}.md`, line: 2, link: "b.md", reason },
      { file: `${long}.md`, line: 3, link: long, reason }
    ]

    for (const shown of [rows.slice(0, 1), rows.slice(1, 2), rows]) {
      const lines = Table.format(result(...shown)).split("\n").slice(0, shown.length)
      for (const line of lines) {
        assert.strictEqual([...line].length, 80)
        assert.match(line, /start-x+…x+-end/)
      }
    }
    assert.match(Table.format(result(...rows)), /^start-x+…x+-end\.md:2 /m)
  })

  it("counts wide characters as two columns and combining ones as none", () => {
    const table = Table.format(result(
      { file: "日本.md", line: 1, link: "🚀", reason: "missing" },
      { file: "e\u0301tude.md", line: 1, link: "ab", reason: "missing" }
    ))

    assert.deepStrictEqual(table.split("\n").slice(0, 2), [
      "日本.md:1   🚀  missing",
      "e\u0301tude.md:1  ab  missing"
    ])
  })

  it("cuts no wide character in half", () => {
    const table = Table.format(result({ file: "a.md", line: 1, link: "🚀".repeat(60), reason: "missing" }))

    assert.match(table, /^a\.md:1 {2}🚀+…🚀+ {2,3}missing$/mu)
  })

  it("escapes everything that a terminal obeys or hides", () => {
    const table = Table.format(
      result({ file: "a\u001b[2J\r\n.md", line: 1, link: "\u009b31m\u202e\u200b\ud800", reason: "missing" }),
      [{ file: "\u0007.md", message: "\u001b]0;x" }]
    )

    assert.notMatch(table.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Cs}]/u)
    assert.include(table, "a\\u{1b}[2J\\u{d}\\u{a}.md:1  \\u{9b}31m\\u{202e}\\u{200b}\\u{d800}  missing")
  })
})
