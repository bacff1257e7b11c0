import { assert, describe, it } from "@effect/vitest"
import { Options } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Cause, Effect, Exit } from "effect"
import { leaks, notOptions, notPlain } from "../../../core/test/support/NotOptions.ts"

const invalid = (make: () => unknown, says: RegExp | string) => {
  try {
    make()
  } catch (error) {
    assert.instanceOf(error, Options.InvalidOptions)
    const { message } = error as Error
    assert.isFalse(leaks(message), message)
    return typeof says === "string" ? assert.include(message, says) : assert.match(message, says)
  }
  assert.fail(`it took what is not valid: ${String(says)}`)
}

const done = Step.text("done")
const notText = [null, 5, true, {}, [], new Map(), Promise.resolve("x"), Symbol("secret")]
const notSteps = [undefined, null, 5, "done", {}, { _tag: "Txt" }, [done], new Map(), Promise.resolve(done)]

const withOptions: ReadonlyArray<readonly [name: string, make: (options: any) => unknown]> = [
  ["Step.fail", (options) => Step.fail("network", options)],
  ["Step.withUsage", (options) => Step.withUsage(done, options ?? null)],
  ["Step.call", (options) => Step.call("search", {}, options)],
  ["Step.rawCall", (options) => Step.rawCall("search", "{", options)],
  ["Step.report", (options) => Step.report(1, options)],
  ["Step.task", (options) => Step.task("scribe", 1, options)],
  ["Step.textTask", (options) => Step.textTask("scribe", "Write", options)],
  ["Step.delegate", (options) => Step.delegate({ posture: "p", task: "t" }, options)]
]

describe("X06 Steps", () => {
  it.each(withOptions)("X06 %s throws for options that are not valid", (_, make) => {
    for (const [says, value] of notOptions) invalid(() => make(value), says)
  })

  it("X06 name the option that was probably meant, and what each takes", () => {
    invalid(() => Step.fail("network", { retryafter: 5 } as never), "(did you mean \"retryAfter\"?)")
    invalid(() => Step.withUsage(done, { inptu: 5 } as never), "the counts are input, output")
    invalid(() => Step.call("a", {}, { id: 5 } as never), "id must be a string, not 5")
    for (const retryAfter of [-1, Number.NaN, "soon", null]) {
      invalid(() => Step.fail("network", { retryAfter } as never), "retryAfter must be a duration that is not negative")
    }
    invalid(() => Step.fail("network", { detail: 5 } as never), "detail must be a string, not 5")
    invalid(() => Step.fail("network", { status: "500" } as never), "status must be a number, not a string")
    invalid(() => Step.fail("network", { usage: 5 } as never), "usage must be a plain object, not 5")
    invalid(() => Step.fail("netwrok" as never), "reason must be one of \"")
    invalid(() => Step.streamError("a", undefined as never), "reason is required")
  })

  it("X06 throw for texts and calls that are none", () => {
    for (const value of notText) {
      for (
        const make of [
          Step.text,
          Step.unfinished,
          Step.hang,
          Step.calls,
          Step.cut,
          Step.call,
          (it: never) => Step.rawCall("a", it)
        ] as ReadonlyArray<(value: never) => unknown>
      ) invalid(() => make(value as never), /must be (a string|texts and calls)/)
    }
    invalid(() => Step.text(undefined as never), "text is required")
    invalid(() => Step.calls(done as never), "content must be texts and calls")
    invalid(() => Step.parts("x" as never, "stop"), "parts must be a list")
    for (const args of [new Map(), new Date(0), Promise.resolve({}), 5n, () => 1]) {
      invalid(() => Step.call("a", args as never), "args must be JSON, not ")
    }
  })

  it("X06 throw for steps that are none, and for what is no time to wait", () => {
    for (const value of notSteps) {
      invalid(() => Step.delay(5, value as never), /step (must be a step|is required)/)
      invalid(() => Step.withUsage(value as never, {}), /step (must be a step|is required)/)
      invalid(() => Step.again(done, value as never), "steps must be a list of steps")
    }
    for (const wait of [undefined, null, -1, Number.NaN, "soon"]) {
      invalid(() => Step.delay(wait as never, done), /duration (must be a duration that is not negative|is required)/)
    }
  })
})

describe("X06 Scripts", () => {
  it("X06 throw for what is no list of steps, and for what is no function", () => {
    for (const value of notSteps.filter((it) => !Array.isArray(it))) {
      invalid(() => Script.each(value as never), /steps (must be a list of steps|is required)/)
      invalid(() => Script.runs(value as never), /steps (must be a list of steps|is required)/)
      invalid(() => Script.each([value as never]), "steps must be a list of steps")
      invalid(() => Script.optional(value as never), /script (must be a list of steps, or a script|is required)/)
      invalid(() => Script.program(value as never), /answer (must be a function|is required)/)
      invalid(() => Script.byInput(value as never), /choose (must be a function|is required)/)
    }
  })

  it.effect("X06 that are no object of scripts are a defect of the scripted model", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [says: string | RegExp, scripts: unknown]> = [
        ...notPlain.map(([given, value]) => [`scripts must be a plain object, not ${given}`, value] as const),
        ["scripts is required", undefined],
        ["clerk must be a list of steps, or a script", { clerk: done }],
        ["clerk must be a list of steps, or a script", { clerk: [undefined] }],
        ["clerk must be a list of steps, or a script", { clerk: null }],
        ["clerk must be a list of steps, or a script", { clerk: Promise.resolve([done]) }],
        [
          "clerk cannot be read",
          Object.defineProperty({}, "clerk", {
            get: () => {
              throw new Error("secret")
            },
            enumerable: true
          })
        ]
      ]
      for (const [says, scripts] of wrong) {
        const exit = yield* Effect.exit(Effect.scoped(ScriptedModel.make(scripts as never)))
        invalid(() => {
          if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
        }, says)
      }
    }))
})
