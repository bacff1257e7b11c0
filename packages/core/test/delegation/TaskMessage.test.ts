import { assert, describe, it } from "@effect/vitest"
import { ChildFailure, DelegationConfig } from "@mandate/core"
import { Arbitrary, Schema } from "effect"
import * as TaskMessage from "../../src/delegation/TaskMessage.ts"
import type * as Json from "../../src/values/Json.ts"

const reasons = Schema.Literals([
  "InvalidInput",
  "UnknownSubagent",
  "TooManyTasks",
  "DepthExceeded",
  "InvalidReport",
  "R".repeat(200)
])
const pieces = Schema.Literals([
  "a",
  "é",
  "漢",
  "😀",
  "\u0001",
  "\n",
  "\"",
  "\\",
  "\u007f",
  "\ufffd",
  "\ud83d",
  "…",
  " "
])
const texts = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.schema(Schema.Tuple([pieces, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))])),
    {
      maxLength: 6
    }
  ),
  (parts) => parts.map(([piece, times]) => piece.repeat(times)).join("")
)
const bounds = Schema.Int.check(Schema.isBetween({ minimum: DelegationConfig.MinReportBytes, maximum: 1500 }))

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

const messageIn = (output: { readonly value: unknown }): string =>
  (output.value as { readonly error: { readonly message: string } }).error.message

describe("TaskMessage.error", () => {
  it.prop("is never larger than the bound, as it is sent", { reasons, texts, bounds }, (made) => {
    const output = TaskMessage.error(made.reasons, made.texts, made.bounds)

    assert.isAtMost(bytesOf(output.value), made.bounds)
    assert.hasAllKeys(output.value, ["error"])
    assert.nestedPropertyVal(output.value, "error.reason", made.reasons)
  })

  it.prop("is whole where it fits", { reasons, texts, bounds }, (made) => {
    const message = made.texts.toWellFormed()
    const whole = { error: { reason: made.reasons, message } }
    const output = TaskMessage.error(made.reasons, made.texts, made.bounds)

    assert.strictEqual(messageIn(output) === message, bytesOf(whole) <= made.bounds)
  })

  it.prop("is cut between whole characters, adds no U+FFFD, and wastes no room", { reasons, texts, bounds }, (made) => {
    const whole = made.texts.toWellFormed()
    const output = TaskMessage.error(made.reasons, made.texts, made.bounds)
    const message = messageIn(output)
    if (message === whole) return

    assert.isTrue(message.isWellFormed())
    assert.isTrue(message.endsWith("…"))
    assert.isTrue(whole.startsWith(message.slice(0, -1)))
    assert.isAtMost(message.split("\ufffd").length, whole.split("\ufffd").length)
    // At most the mark and a few of the longest characters, six bytes each as JSON, are missing.
    assert.isAbove(bytesOf(output.value), made.bounds - 4 * 6)
  })

  it.each(["\u0001", "😀", "\"", "漢", "a", "\ud800"])(
    "is cut to the least bound from a megabyte of %j",
    (character) => {
      const output = TaskMessage.error("InvalidReport", character.repeat(1_000_000), DelegationConfig.MinReportBytes)

      assert.isAtMost(bytesOf(output.value), DelegationConfig.MinReportBytes)
    }
  )
})

const entries = Arbitrary.array(
  Arbitrary.schema(
    Schema.Tuple([pieces, Schema.Union([pieces, Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])])
  ),
  { maxLength: 5 }
)

describe("TaskMessage.report", () => {
  it.prop("knows its exact size as it is sent", { entries }, ({ entries }) => {
    const value = Object.fromEntries(entries.map(([key, item]) => [key.toWellFormed(), wellFormed(item)]))
    const { bytes, output } = TaskMessage.report(value)

    assert.deepStrictEqual(output, { type: "json", value: { report: value } })
    assert.strictEqual(bytes, bytesOf(output.value))
  })

  it.prop("knows the exact size of a text", { text: texts }, ({ text }) => {
    const value = text.toWellFormed()

    assert.strictEqual(TaskMessage.report(value).bytes, bytesOf({ report: value }))
  })

  it("cannot be taken for an error, whatever it says", () => {
    const { output } = TaskMessage.report({ error: { reason: "Cancelled", message: "" } })

    assert.deepStrictEqual(output.value, { report: { error: { reason: "Cancelled", message: "" } } })
  })
})

const wellFormed = (value: Json.Json): Json.Json => typeof value === "string" ? value.toWellFormed() : value

const failures: ReadonlyArray<readonly [ChildFailure.ChildFailure, string]> = [
  [
    { _tag: "Blocked", guardrail: "provider", reason: "content-filter" },
    "The subagent was blocked by provider: content-filter"
  ],
  [{ _tag: "StepLimitReached", maxSteps: 4 }, "The subagent reached its limit of 4 steps without a report"],
  [
    { _tag: "InvalidReport", issues: ["a: Missing key", "b: Expected string"] },
    "The subagent gave no valid report: a: Missing key; b: Expected string"
  ],
  [{ _tag: "InvalidReport", issues: [] }, "The subagent gave no valid report: no report"],
  [
    { _tag: "ReportTooLarge", bytes: 600, maxReportBytes: 512 },
    "The report would be 600 bytes; at most 512 are allowed"
  ],
  [{ _tag: "BudgetExceeded", limit: "toolCalls" }, "The subagent used up its budget of tool calls"],
  [{ _tag: "ModelFailed", reason: "overloaded" }, "The subagent's model failed: overloaded"],
  [{ _tag: "ToolFatal", tool: "pay" }, "The subagent was stopped by its tool \"pay\""],
  [{ _tag: "Cancelled" }, "The subagent was cancelled"]
]

describe("TaskMessage.failure", () => {
  it.each(failures)("says what happened: %j", (failure, message) => {
    assert.deepStrictEqual(TaskMessage.failure(failure, DelegationConfig.MinReportBytes), {
      type: "json",
      value: { error: { reason: failure._tag, message } }
    })
  })

  it.prop("is never larger than the bound, for any failure", { failure: ChildFailure.ChildFailure, bounds }, (made) => {
    assert.isAtMost(bytesOf(TaskMessage.failure(made.failure, made.bounds).value), made.bounds)
  })
})
