import { assert, describe, it } from "@effect/vitest"
import { CachedResult, Json } from "@mandate/core"
import { Result, Schema } from "effect"

const decode = Schema.decodeUnknownResult(CachedResult.CachedResult)
const limit = { _tag: "BudgetExceeded", limit: "tokens" } as const

describe("CachedResult", () => {
  it.prop("keeps every result as text, and gives it back as a value of its own", [Schema.Json], ([json]) => {
    const kept = CachedResult.success(json)

    assert.strictEqual(kept.result, Json.canonical(json))
    assert.deepStrictEqual(CachedResult.value(kept), JSON.parse(Json.canonical(json)))
    if (typeof json === "object" && json !== null) {
      assert.notStrictEqual(CachedResult.value(kept), CachedResult.value(kept))
    }
  })

  it.prop("survives a trip through JSON", [Schema.Json], ([json]) => {
    for (const kept of [CachedResult.success(json), CachedResult.partial(json, limit)]) {
      assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(kept))), Result.succeed(kept))
    }
  })

  const whole = CachedResult.success({ a: 1 })

  it.each<readonly [string, unknown]>([
    ["another format", { ...whole, format: 2 }],
    ["no format", { status: whole.status, result: whole.result }],
    ["another status", { ...whole, status: "error" }],
    ["a partial result without its reason", { ...whole, status: "partial" }],
    ["a reason that is none", { ...CachedResult.partial(1, limit), error: { _tag: "Unlucky" } }],
    ["a result that is not text", { ...whole, result: { a: 1 } }],
    ["a text that is not JSON", { ...whole, result: "{\"a\":" }],
    ["too large a text", { ...whole, result: JSON.stringify("x".repeat(CachedResult.maxResultBytes - 1)) }],
    ["too deep a text", { ...whole, result: "[".repeat(300) + "]".repeat(300) }],
    ["an array", [whole]],
    ["a text", JSON.stringify(whole)],
    ["null", null]
  ])("does not decode %s", (_what, entry) => {
    assert.isTrue(Result.isFailure(decode(entry)))
  })

  it("fits up to its bound in bytes", () => {
    const ofBytes = (bytes: number) => CachedResult.success("x".repeat(bytes - 2))

    assert.isTrue(CachedResult.fits(ofBytes(CachedResult.maxResultBytes)))
    assert.isTrue(Result.isSuccess(decode(ofBytes(CachedResult.maxResultBytes))))
    assert.isFalse(CachedResult.fits(ofBytes(CachedResult.maxResultBytes + 1)))
    assert.isFalse(CachedResult.fits(CachedResult.success("漢".repeat(CachedResult.maxResultBytes / 3))))
  })
})
