import { assert, describe, it } from "@effect/vitest"
import { Usage } from "@mandate/core"
import { Arbitrary, Schema } from "effect"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const usages = Arbitrary.schema(Schema.Struct({
  inputTokens: Count,
  outputTokens: Count,
  cacheReadTokens: Count,
  cacheWriteTokens: Count,
  reasoningTokens: Count,
  modelCalls: Count,
  toolCalls: Count,
  childRuns: Count,
  estimated: Schema.Boolean
}))
const optional = Schema.optionalKey(Count)
const reports = Schema.Struct({
  inputTokens: Schema.Struct({ total: optional, cacheRead: optional, cacheWrite: optional }),
  outputTokens: Schema.Struct({ total: optional, reasoning: optional })
})

describe("Usage.add", () => {
  it.prop("is associative and commutative, with zero as its neutral element", [usages, usages, usages], ([a, b, c]) => {
    assert.deepStrictEqual(Usage.add(Usage.add(a, b), c), Usage.add(a, Usage.add(b, c)))
    assert.deepStrictEqual(Usage.add(a, b), Usage.add(b, a))
    assert.deepStrictEqual(Usage.add(a, Usage.zero), a)
  })

  it.prop("adds every count, and is estimated when either is", [usages, usages], ([a, b]) => {
    const sum = Usage.add(a, b)

    for (const key of Object.keys(Usage.Usage.fields) as ReadonlyArray<keyof Usage.Usage>) {
      assert.strictEqual(sum[key], key === "estimated" ? a.estimated || b.estimated : a[key] + b[key])
    }
    assert.strictEqual(Usage.tokens(sum), Usage.tokens(a) + Usage.tokens(b))
  })

  it.prop("gives what can be stored and read again", [usages, usages], ([a, b]) => {
    const codec = Schema.fromJsonString(Usage.RunUsage)
    const usage = { own: a, tree: Usage.add(a, b) }

    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(usage)), usage)
    assert.deepStrictEqual(Schema.decodeSync(codec)(JSON.stringify(Usage.storedRun(usage))), usage)
  })
})

describe("Usage.stored", () => {
  it("leaves out what is zero", () => {
    assert.deepStrictEqual(Usage.stored(Usage.zero), {})
    assert.deepStrictEqual(Usage.stored({ ...Usage.zero, inputTokens: 7, estimated: true }), {
      inputTokens: 7,
      estimated: true
    })
  })
})

describe("Usage.fromModel", () => {
  it.prop(
    "takes what is reported, and estimates a third of the bytes for a total that is missing",
    { reported: reports, request: Count, response: Count },
    ({ reported, request, response }) => {
      const { inputTokens, outputTokens } = reported

      assert.deepStrictEqual(Usage.fromModel(reported, { request: () => request, response: () => response }), {
        inputTokens: inputTokens.total ?? Math.ceil(request / 3),
        outputTokens: outputTokens.total ?? Math.ceil(response / 3),
        cacheReadTokens: inputTokens.cacheRead ?? 0,
        cacheWriteTokens: inputTokens.cacheWrite ?? 0,
        reasoningTokens: outputTokens.reasoning ?? 0,
        modelCalls: 1,
        toolCalls: 0,
        childRuns: 0,
        estimated: inputTokens.total === undefined || outputTokens.total === undefined
      })
    }
  )

  it("rounds an estimate up, and never counts a reported zero as missing", () => {
    const bytes = { request: () => 10, response: () => 1 }

    assert.strictEqual(Usage.tokens(Usage.fromModel({ inputTokens: {}, outputTokens: {} }, bytes)), 4 + 1)
    const zero = Usage.fromModel({ inputTokens: { total: 0 }, outputTokens: { total: 0 } }, bytes)
    assert.strictEqual(Usage.tokens(zero), 0)
    assert.isFalse(zero.estimated)
  })

  it("measures nothing that was reported", () => {
    const measured = () => assert.fail("a request was measured for nothing")

    Usage.fromModel({ inputTokens: { total: 1 }, outputTokens: { total: 1 } }, {
      request: measured,
      response: measured
    })
  })
})
