import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Target from "../src/Target.ts"

const { Empty, Local, Malformed, Web } = Target.Target

const local = (path: string, fragment = "") => Local({ path, fragment })

describe("Target", () => {
  it("tells web and mail addresses by their scheme", () => {
    for (
      const target of ["https://a.example", "HTTP://A", "mailto:a@b", "tel:1", "//host/x", "vscode://x", "a+b-c.1:x"]
    ) {
      assert.deepStrictEqual(Target.parse(target), Web(), target)
    }
  })

  it("takes everything else as a path", () => {
    for (const target of ["a.md", "./a:b.md", "/a/b", "a/b:c.md", "1:x", "../x"]) {
      assert.deepStrictEqual(Target.parse(target), local(target), target)
    }
  })

  it("splits path, query and fragment", () => {
    assert.deepStrictEqual(Target.parse("a.md?x=1#h"), local("a.md", "h"))
    assert.deepStrictEqual(Target.parse("#h?x#y"), local("", "h?x#y"))
    assert.deepStrictEqual(Target.parse("?plain=1"), local(""))
    assert.deepStrictEqual(Target.parse("a.md#"), local("a.md"))
    assert.deepStrictEqual(Target.parse("a.md?"), local("a.md"))
  })

  it("decodes path and fragment after splitting", () => {
    assert.deepStrictEqual(Target.parse("a%20b%23c%3Fd.md#%C3%BC"), local("a b#c?d.md", "ü"))
    assert.deepStrictEqual(Target.parse("%2e%2e%2Fx"), local("../x"))
    assert.deepStrictEqual(Target.parse("a+b%2520.md"), local("a+b%20.md"))
  })

  it("ignores the encoding of a query", () => {
    assert.deepStrictEqual(Target.parse("a.md?x=%zz"), local("a.md"))
  })

  it("calls encoding that does not decode malformed", () => {
    for (const target of ["%zz", "100%.md", "%FF.md", "a.md#%E0%A4", "a%00.md", "a%"]) {
      assert.deepStrictEqual(Target.parse(target), Malformed(), target)
    }
  })

  it("leaves out a text directive", () => {
    assert.deepStrictEqual(Target.parse("a.md#intro:~:text=word"), local("a.md", "intro"))
    assert.deepStrictEqual(Target.parse("a.md#:~:text=%zz"), local("a.md"))
  })

  it("knows an empty target", () => {
    assert.deepStrictEqual(Target.parse(""), Empty())
  })

  it.prop(
    "reads back a path and a fragment that were encoded",
    { path: Schema.String, fragment: Schema.String },
    (given) => {
      const path = given.path.toWellFormed().replaceAll("\0", "")
      const fragment = given.fragment.toWellFormed()
      const target = `./${encodeURIComponent(path)}?q#${encodeURIComponent(fragment)}`

      assert.deepStrictEqual(Target.parse(target), local(`./${path}`, fragment))
    }
  )
})
