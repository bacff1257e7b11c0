import { assert, describe, it } from "@effect/vitest"
import { Utf8 } from "@mandate/core"
import { Arbitrary, Schema } from "effect"

const characters = Schema.Literals([
  "a",
  "é",
  "漢",
  "😀",
  "👨‍👩‍👧",
  "e\u0301",
  "\u0001",
  "\n",
  "…",
  "\ufffd",
  "\ud83d",
  "\udc00"
])
const texts = Arbitrary.map(Arbitrary.array(Arbitrary.schema(characters), { maxLength: 30 }), (parts) => parts.join(""))
const wellFormed = Arbitrary.map(texts, (text) => text.toWellFormed())
const bounds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
const inputs = { text: texts, bound: bounds }

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
const count = (text: string, character: string): number => text.split(character).length - 1

// What is left of the text when the mark of a cut is taken off.
const kept = (text: string, cut: string): string => cut === text ? cut : cut.replace(/…$/, "")

describe("Utf8.byteLength", () => {
  it.prop("counts the bytes as they are sent", { text: texts }, ({ text }) => {
    assert.strictEqual(Utf8.byteLength(text), bytesOf(text))
  })

  it("counts an unpaired surrogate as the U+FFFD that it is sent as", () => {
    assert.strictEqual(Utf8.byteLength("\ud83d"), 3)
    assert.strictEqual(Utf8.byteLength("\ud83d\ude00"), 4)
  })
})

describe("Utf8.cut", () => {
  it.prop("never gives more bytes than the bound", inputs, ({ bound, text }) => {
    assert.isAtMost(bytesOf(Utf8.cut(text, bound)), bound)
  })

  it.prop("gives back a text that fits as it is", inputs, ({ bound, text }) => {
    assert.strictEqual(Utf8.cut(text, bound) === text, bytesOf(text) <= bound)
  })

  it.prop("keeps the beginning, and marks a cut where there is room for the mark", inputs, ({ bound, text }) => {
    const cut = Utf8.cut(text, bound)

    assert.isTrue(text.startsWith(kept(text, cut)))
    if (cut !== text) assert.strictEqual(cut.endsWith("…"), bound >= 3)
  })

  it.prop(
    "cuts between whole characters and adds no U+FFFD",
    { text: wellFormed, bound: bounds },
    ({ bound, text }) => {
      const cut = Utf8.cut(text, bound)

      assert.isTrue(cut.isWellFormed())
      assert.isAtMost(count(cut, "\ufffd"), count(text, "\ufffd"))
    }
  )

  it.prop("drops no character that would have fitted", inputs, ({ bound, text }) => {
    const cut = Utf8.cut(text, bound)
    if (cut === text) return
    const start = kept(text, cut)
    const next = String.fromCodePoint(text.codePointAt(start.length)!)

    assert.isAbove(bytesOf(start) + bytesOf(next), bound - (bound >= 3 ? 3 : 0))
  })

  it("cuts to nothing where there is no room", () => {
    for (const bound of [0, -1, -100]) assert.strictEqual(Utf8.cut("漢", bound), "")
    assert.strictEqual(Utf8.cut("漢字", 2), "")
    assert.strictEqual(Utf8.cut("漢字", 3), "…")
    assert.strictEqual(Utf8.cut("漢字", 5), "…")
    assert.strictEqual(Utf8.cut("漢字漢", 6), "漢…")
  })
})
