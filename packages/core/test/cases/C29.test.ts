import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegationConfig, Mandate, type ModelRequest, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Models from "../support/Models.ts"

const { MinReportBytes } = DelegationConfig
const task = { description: "Write" }
const scribe = TypedAgent.text("scribe", { description: "Writes prose" })

// The size of a tool message as it is sent, counted without the product's own functions.
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

// What the model of `parent` reads as the result of its only task call.
const readByParent = Effect.fnUntraced(function*() {
  const model = yield* ScriptedModel.ScriptedModel
  const [, second] = yield* model.requestsOf("parent")
  const results = toolResults(second!.request)
  assert.lengthOf(results, 1)
  return results[0]!
})

const toolResults = (request: ModelRequest.ModelRequest) =>
  request.messages.flatMap((message) => message.role === "tool" ? message.content : [])

const delegated = (
  child: TypedAgent.TypedAgent<any, any>,
  maxReportBytes: number,
  call: Step.Call,
  script: Script.Script
) =>
  Effect.gen(function*() {
    const agent = yield* AgentBuilder.make("parent").withSubagents([child], { maxReportBytes }).build()
    const result = yield* agent.run("Go", { threadId: "t" })
    assert.strictEqual(result.status._tag, "Completed")
    const model = yield* ScriptedModel.ScriptedModel
    return { ...yield* readByParent(), childCalls: (yield* model.requestsOf(child.id)).length }
  }).pipe(
    Effect.provide([
      Mandate.layerMemory,
      Models.layer({ parent: [call, Step.text("done")], [child.id]: script })
    ])
  )

// A text of `character`, padded at its start, whose whole report message has exactly `bytes`.
const textOf = (character: string, bytes: number): string => {
  const room = bytes - bytesOf({ report: "" })
  const each = bytesOf(character) - 2
  return "x".repeat(room % each) + character.repeat(Math.floor(room / each))
}

const characters = { "é": "é", "漢": "漢", "😀": "😀", "0x01": "\u0001", quote: "\"", newline: "x\n" }

// Bounds of different remainders, so that every bound falls inside a character once.
const bounds = [MinReportBytes, MinReportBytes + 1, MinReportBytes + 2, MinReportBytes + 3, 1000]

describe("C29 report bounds", () => {
  for (const [name, character] of Object.entries(characters)) {
    it.effect(`C29 a text of ${name} passes unchanged up to the bound, and one byte more is a tool error`, () =>
      Effect.gen(function*() {
        for (const bound of bounds) {
          for (const bytes of [bound - 1, bound]) {
            const text = textOf(character, bytes)
            assert.strictEqual(bytesOf({ report: text }), bytes)

            const read = yield* delegated(scribe, bound, Step.textTask("scribe", "Write"), [Step.text(text)])

            assert.isFalse(read.isError)
            assert.deepStrictEqual(read.output, { type: "json", value: { report: text } })
          }

          const text = textOf(character, bound + 1)
          const read = yield* delegated(scribe, bound, Step.textTask("scribe", "Write"), [Step.text(text)])

          assert.isTrue(read.isError)
          assert.deepStrictEqual(read.output, {
            type: "json",
            value: {
              error: {
                reason: "ReportTooLarge",
                message: `The report would be ${bound + 1} bytes; at most ${bound} are allowed`
              }
            }
          })
          assert.strictEqual(read.childCalls, 1)
        }
      }))
  }

  it.effect("C29 counts the whole message of a typed report, keys and brackets included", () =>
    Effect.gen(function*() {
      const child = TypedAgent.make("child", {
        description: "Counts",
        input: Schema.String,
        report: Schema.Array(Schema.Struct({ name: Schema.String }))
      })
      const reportOf = (bytes: number) => {
        const room = bytes - bytesOf({ report: [{ name: "漢" }, { name: "" }] })
        return [{ name: "漢" }, { name: "x".repeat(room) }]
      }
      const run = (bytes: number) =>
        delegated(child, 600, Step.taskOf(child, "Count"), [Step.reportOf(child, reportOf(bytes))])

      const fits = yield* run(600)
      const tooLarge = yield* run(601)

      assert.deepStrictEqual(fits.output.value, { report: reportOf(600) })
      assert.isFalse(fits.isError)
      assert.strictEqual(bytesOf(fits.output.value), 600)
      assert.isTrue(tooLarge.isError)
      assert.nestedPropertyVal(tooLarge.output.value, "error.reason", "ReportTooLarge")
      assert.strictEqual(tooLarge.childCalls, 1)
    }))

  it.effect("C29 a report over the default bound is an error, one within it passes", () =>
    Effect.gen(function*() {
      const size = DelegationConfig.defaults.maxReportBytes
      const call = Step.textTask("scribe", "Write")

      const fits = yield* delegated(scribe, size, call, [Step.text(textOf("漢", size))])
      const tooLarge = yield* delegated(scribe, size, call, [Step.text(textOf("漢", size + 1))])

      assert.isFalse(fits.isError)
      assert.isTrue(tooLarge.isError)
    }))

  it.effect("C29 a subagent that is run with no parent may report more than any parent takes", () =>
    Effect.gen(function*() {
      const bound = yield* scribe.bind()
      const outcome = yield* bound.run(task)

      assert.strictEqual(outcome._tag === "Reported" ? outcome.report.length : 0, 100_000)
    }).pipe(
      Effect.provide([Mandate.layerMemory, Models.layer({ scribe: [Step.text("漢".repeat(100_000))] })])
    ))
})

const huge = 1_000_000

// Reports that fail with messages of the worst characters: wide, escaped, and already replaced.
const failing = {
  emoji: "😀".repeat(200),
  control: "\u0001".repeat(200),
  quotes: "\"\\".repeat(200),
  replaced: "\ufffd漢".repeat(200)
}

describe("C29 errors", () => {
  for (const [name, key] of Object.entries(failing)) {
    it.effect(`C29 a schema failure that names fields of ${name} fits the bound and ends on a whole character`, () =>
      Effect.gen(function*() {
        const child = TypedAgent.make("child", {
          description: "Fails",
          input: Schema.String,
          report: Schema.Struct(Object.fromEntries(
            Array.from({ length: 40 }, (_, index) => [`${"x".repeat(index % 4)}${index}${key}`, Schema.Number])
          ))
        }).withReasks(0)
        const bad = { [`0${key}`]: "y".repeat(huge) }
        const run = (bound: number) => delegated(child, bound, Step.taskOf(child, "Fail"), [Step.report(bad)])
        const whole = messageOf(yield* run(huge))

        for (const bound of [...bounds, 2000]) {
          const read = yield* run(bound)

          assertCut(read, bound, whole)
          assert.nestedPropertyVal(read.output.value, "error.reason", "InvalidReport")
        }
      }))
  }

  it.effect("C29 an input that does not decode is refused within the bound, without its text", () =>
    Effect.gen(function*() {
      const child = TypedAgent.make("child", {
        description: "Never runs",
        input: Schema.Struct({ ["😀".repeat(100)]: Schema.Number, count: Schema.Number }),
        report: Schema.String
      })
      const call = Step.call("task_child", { ["😀".repeat(100)]: "漢".repeat(huge / 4), count: "secret" })

      const read = yield* delegated(child, MinReportBytes, call, [])

      assert.nestedPropertyVal(read.output.value, "error.reason", "InvalidInput")
      assert.isAtMost(bytesOf(read.output.value), MinReportBytes)
      assert.notInclude(JSON.stringify(read.output.value), "secret")
      assert.strictEqual(read.childCalls, 0)
    }))

  it.effect("C29 a provider's error in emoji does not cross, whatever its size", () =>
    Effect.gen(function*() {
      const script = [Step.fail("invalid-request", { detail: "😀".repeat(huge / 4) })]

      const read = yield* delegated(scribe, MinReportBytes, Step.textTask("scribe", "Write"), script)

      assert.isTrue(read.isError)
      assert.deepStrictEqual(read.output.value, {
        error: { reason: "ModelFailed", message: "The subagent's model failed: invalid-request" }
      })
    }))

  it.effect("C29 the list of known subagents is cut to the bound", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("parent").withSubagents(
        Array.from({ length: 40 }, (_, index) =>
          TypedAgent.text(`${"writer".repeat(8)}${index}`, { description: "Writes" })),
        { maxReportBytes: MinReportBytes }
      ).build()
      yield* agent.run("Go", { threadId: "t" })

      const { isError, output } = yield* readByParent()
      assert.isTrue(isError)
      assert.nestedPropertyVal(output.value, "error.reason", "UnknownSubagent")
      assert.isAtMost(bytesOf(output.value), MinReportBytes)
    }).pipe(
      Effect.provide([
        Mandate.layerMemory,
        Models.layer({ parent: [Step.textTask("nobody", "Write"), Step.text("done")] })
      ])
    ))
})

describe("C29 the least bound", () => {
  const building = (maxReportBytes: number) =>
    AgentBuilder.make("parent").withSubagents([scribe], { maxReportBytes }).build().pipe(
      Effect.provide([Mandate.layerMemory, Models.layer({})])
    )

  it.effect("C29 MinReportBytes builds", () => Effect.asVoid(building(MinReportBytes)))

  it.effect("C29 one byte less is refused when the agent is built", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(building(MinReportBytes - 1))

      assert.deepStrictEqual(error.problems, [{
        agent: "parent",
        kind: "InvalidBound",
        message: "maxReportBytes must be at least 512, not 511"
      }])
    }))
})

interface Read {
  readonly output: { readonly value: unknown }
  readonly isError: boolean
}

const messageOf = ({ output }: Read): string =>
  (output.value as { readonly error: { readonly message: string } }).error.message

const assertCut = (read: Read, bound: number, whole: string): void => {
  const message = messageOf(read)
  assert.isTrue(read.isError)
  assert.isAtMost(bytesOf(read.output.value), bound)
  // Not cut to nothing either: less than one more character and its escape are unused.
  assert.isAbove(bytesOf(read.output.value), bound - 16)
  assert.isTrue(message.isWellFormed())
  assert.isTrue(whole.startsWith(message.replace(/…$/, "")))
  const replaced = (text: string) => text.split("\ufffd").length
  assert.isAtMost(replaced(message), replaced(whole))
}
