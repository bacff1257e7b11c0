import { assert, describe, it } from "@effect/vitest"
import { Answer, Mandate } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { dynamicTool, jsonSchema, tool, zodSchema } from "ai"
import { Deferred, Effect, Fiber, Layer, Logger } from "effect"
import * as v from "valibot"
import { z } from "zod"
import { AiSdkTools } from "../src/index.ts"
import * as Tools from "./support/Tools.ts"

const City = z.object({ city: z.string(), days: z.number().int().default(3) })
const weather = tool({
  description: "Says the weather",
  inputSchema: City,
  execute: async ({ city, days }) => ({ city, days, sky: "clear" })
})

describe("AiSdkTools", () => {
  it.effect("shows a tool and gives its result", () =>
    Effect.gen(function*() {
      const { results, tools } = yield* Tools.run(
        AiSdkTools.from({ weather }),
        Step.call("weather", { city: "Bergen" })
      )

      assert.deepStrictEqual(results, [[false, { city: "Bergen", days: 3, sky: "clear" }]])
      assert.strictEqual(tools[0]!.name, "weather")
      assert.strictEqual(tools[0]!.description, "Says the weather")
      assert.notProperty(tools[0], "strict")
      assert.deepInclude(tools[0]!.inputSchema, {
        type: "object",
        properties: { city: { type: "string" }, days: { default: 3, ...int } },
        required: ["city"],
        additionalProperties: false
      })
    }))

  it.effect("takes every form of an input schema that the AI SDK takes", () =>
    Effect.gen(function*() {
      const shape = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const
      const execute = async (input: unknown) => input as { readonly city: string }
      const forms = {
        standard: tool({ inputSchema: City, execute }),
        wrapped: tool({ inputSchema: zodSchema(z.object({ city: z.string() })), execute }),
        plain: tool({ inputSchema: jsonSchema<{ city: string }>(shape), execute }),
        promised: tool({ inputSchema: jsonSchema<{ city: string }>(Promise.resolve(shape)), execute }),
        lazy: tool({ inputSchema: () => jsonSchema<{ city: string }>(shape), execute }),
        dynamic: dynamicTool({ inputSchema: jsonSchema(shape), execute })
      }
      const { results, tools } = yield* Tools.run(
        AiSdkTools.from(forms),
        ...Object.keys(forms).map((name) => Step.call(name, { city: "Bergen" }))
      )

      assert.deepStrictEqual(results.map(([isError]) => isError), Object.keys(forms).map(() => false))
      for (const { inputSchema } of tools) assert.deepInclude(inputSchema, { type: "object", required: ["city"] })
    }))

  it.effect("shows a tool without parameters as an object without keys", () =>
    Effect.gen(function*() {
      const { results, tools } = yield* Tools.run(
        AiSdkTools.from({ now: { execute: () => "noon" } }),
        Step.rawCall("now", "")
      )

      assert.deepStrictEqual(results, [[false, "noon"]])
      assert.deepStrictEqual(tools[0]!.inputSchema, { type: "object", properties: {}, additionalProperties: false })
    }))

  it.effect("refuses arguments by the schema, naming paths, and does not call the tool", () =>
    Effect.gen(function*() {
      let called = 0
      const execute = () => {
        called++
        return ""
      }
      const { results } = yield* Tools.run(
        AiSdkTools.from({
          standard: tool({ inputSchema: z.object({ a: z.array(z.object({ b: z.string() })) }), execute }),
          wrapped: tool({ inputSchema: zodSchema(z.object({ city: z.string() })), execute }),
          own: tool({
            inputSchema: jsonSchema<{ n: number }>({ type: "object" }, {
              validate: () => ({ success: false, error: new Error("n must be even\nand more") })
            }),
            execute
          }),
          silent: tool({
            inputSchema: jsonSchema({ type: "object" }, {
              validate: () => ({ success: false, error: undefined as never })
            }),
            execute
          })
        }),
        Step.call("standard", { a: [{ b: "x" }, { b: 1 }] }),
        Step.call("wrapped", {}),
        Step.call("own", { n: 1 }),
        Step.call("silent", {})
      )

      assert.deepStrictEqual(results, [
        Tools.invalid("a.1.b: Invalid input: expected string, received number"),
        Tools.invalid("city: Invalid input: expected string, received undefined"),
        Tools.invalid("the value: n must be even"),
        Tools.invalid("the value: not valid")
      ])
      assert.strictEqual(called, 0)
    }))

  it.effect("keeps what it says about arguments short", () =>
    Effect.gen(function*() {
      const issues = Array.from({ length: 30 }, (_, n) => ({ message: "x".repeat(5_000), path: [n] }))
      const inputSchema = jsonSchema({ type: "object" }, {
        validate: () => ({ success: false, error: Object.assign(new Error(""), { issues }) })
      })
      const { results } = yield* Tools.run(
        AiSdkTools.from({ long: tool({ inputSchema, execute: () => "" }) }),
        Step.call("long", {})
      )

      assert.isBelow(JSON.stringify(results).length, 5_000)
      assert.include(JSON.stringify(results), "and 10 more")
    }))

  it.effect("gives the call's id, a signal and no messages", () =>
    Effect.gen(function*() {
      let options: Record<string, unknown> = {}
      yield* Tools.run(
        AiSdkTools.from({
          look: tool({
            inputSchema: z.object({}),
            execute: (_, given) => {
              options = { ...given }
              return ""
            }
          })
        }),
        Step.call("look", {}, { id: "call_7" })
      )

      assert.strictEqual(options["toolCallId"], "call_7")
      assert.deepStrictEqual(options["messages"], [])
      assert.instanceOf(options["abortSignal"], AbortSignal)
      assert.isFalse((options["abortSignal"] as AbortSignal).aborted)
    }))

  it.effect("gives what a tool throws as ToolFailed, without its text, and logs it", () =>
    Effect.gen(function*() {
      const inputSchema = z.object({})
      const { logged, results } = yield* Tools.run(
        AiSdkTools.from({
          rejects: tool({ inputSchema, execute: () => Promise.reject<string>(new Error("s3cr3t one")) }),
          throws: tool({
            inputSchema,
            execute: (): string => {
              throw new Error("s3cr3t two")
            }
          }),
          breaks: tool({
            inputSchema,
            async *execute() {
              yield 1
              throw new Error("s3cr3t three")
            }
          }),
          checks: tool({
            inputSchema: jsonSchema({ type: "object" }, {
              validate: () => {
                throw new Error("s3cr3t four")
              }
            }),
            execute: () => ""
          })
        }),
        ...["rejects", "throws", "breaks", "checks"].map((name) => Step.call(name, {}))
      )

      assert.deepStrictEqual(results, [Tools.failed, Tools.failed, Tools.failed, Tools.failed])
      for (const word of ["one", "two", "three", "four"]) assert.include(logged, `s3cr3t ${word}`)
    }))

  it.effect("shows the elements of an async iterable as progress, and gives the last one", () =>
    Effect.gen(function*() {
      const { progress, results } = yield* Tools.run(
        AiSdkTools.from({
          count: tool({
            inputSchema: z.object({}),
            async *execute() {
              yield { at: 1 }
              yield { at: 2, gone: undefined }
            }
          })
        }),
        Step.call("count", {})
      )

      assert.deepStrictEqual(progress, [{ at: 1 }, { at: 2 }])
      assert.deepStrictEqual(results, [[false, { at: 2 }]])
    }))

  it.effect("takes JSON as a result, nothing as null, and refuses the rest", () =>
    Effect.gen(function*() {
      const inputSchema = z.object({})
      const cycle: Record<string, unknown> = {}
      cycle["self"] = cycle
      const { results } = yield* Tools.run(
        AiSdkTools.from({
          nothing: { inputSchema, execute: () => undefined },
          absent: { inputSchema, execute: () => ({ a: 1, b: undefined, c: [{ d: undefined }] }) },
          date: { inputSchema, execute: () => ({ at: new Date(0) }) },
          cycle: { inputSchema, execute: () => cycle },
          nan: { inputSchema, execute: () => [NaN] }
        }),
        ...["nothing", "absent", "date", "cycle", "nan"].map((name) => Step.call(name, {}))
      )

      const error = (what: string) =>
        [true, {
          error: { reason: "InvalidResult", message: `The result of the tool cannot be encoded: ${what}` }
        }] as const
      assert.deepStrictEqual(results, [
        [false, null],
        [false, { a: 1, c: [{}] }],
        error("the value: Expected JSON value"),
        error("value.self.self: Expected no cycle"),
        error("the value: Expected JSON value")
      ])
    }))

  it.effect("asks the provider for strict arguments where the tool does, with a schema that has no open ends", () =>
    Effect.gen(function*() {
      const inputSchema = z.object({
        list: z.array(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])),
        any: z.record(z.string(), z.string())
      })
      const { tools } = yield* Tools.run(
        AiSdkTools.from({ strict: tool({ inputSchema, strict: true, execute: () => "" }) }),
        Step.call("strict", { list: [], any: {} })
      )

      assert.isTrue(tools[0]!.strict)
      const text = JSON.stringify(tools[0]!.inputSchema)
      assert.strictEqual(text.split("\"additionalProperties\":false").length - 1, 3)
      assert.include(text, "\"additionalProperties\":{\"type\":\"string\"}")
    }))
})

const int = { maximum: 9007199254740991, minimum: -9007199254740991, type: "integer" }

describe("AiSdkTools and interruption", () => {
  const interrupted = Effect.fnUntraced(function*(execute: (signal: AbortSignal, started: () => void) => unknown) {
    const running = yield* Deferred.make<void>()
    const started = () => void Deferred.doneUnsafe(running, Effect.void)
    let signal: AbortSignal | undefined
    const toolkit = AiSdkTools.from({
      wait: {
        inputSchema: z.object({}),
        execute: (_: unknown, { abortSignal }: { readonly abortSignal: AbortSignal }) => {
          signal = abortSignal
          return execute(abortSignal, started)
        }
      }
    })
    yield* Effect.gen(function*() {
      const agent = yield* Tools.agent.withToolkit(toolkit).build()
      const fiber = yield* Effect.forkChild(agent.run("Go"))
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide([Mandate.layerMemory, ScriptedModel.layer({ clerk: [Step.call("wait", {})] })]))
    return signal
  })

  it.live("aborts the signal of a call, and does not wait for one that goes on", () =>
    Effect.gen(function*() {
      const signal = yield* interrupted((_, started) => {
        started()
        return new Promise(() => {})
      })

      assert.isTrue(signal?.aborted)
    }))

  it.live("aborts the signal of an async iterable, and asks it to end", () =>
    Effect.gen(function*() {
      let ended = false
      const signal = yield* interrupted((abortSignal, started) =>
        (async function*() {
          try {
            yield 1
            started()
            await new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(abortSignal.reason)))
          } finally {
            ended = true
          }
        })()
      )
      yield* Effect.sleep("10 millis")

      assert.isTrue(signal?.aborted)
      assert.isTrue(ended)
    }))

  it.live("asks an iterable to end that looks at no signal, and does not wait for it", () =>
    Effect.gen(function*() {
      let asked = 0
      yield* interrupted((_, started) => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            started()
            return new Promise(() => {})
          },
          return: () => {
            asked++
            return Promise.reject(new Error("not now"))
          }
        })
      }))

      assert.strictEqual(asked, 1)
    }))

  it.live("does not wait for an async iterable that goes on", () =>
    Effect.gen(function*() {
      const signal = yield* interrupted((_, started) =>
        (async function*() {
          yield 1
          started()
          await new Promise(() => {})
        })()
      )

      assert.isTrue(signal?.aborted)
    }))
})

describe("AiSdkTools and approvals", () => {
  // Runs until it waits, answers, and runs to the end: what waited, what ran, and what the model read.
  const approving = (needsApproval: boolean | ((input: { readonly cents: number }, options: object) => unknown)) =>
    Effect.gen(function*() {
      const paid: Array<number> = []
      const pay = tool({
        inputSchema: z.object({ cents: z.number() }),
        execute: ({ cents }) => paid.push(cents)
      })
      const model = yield* ScriptedModel.make({
        clerk: [
          Step.calls(
            Step.call("pay", { cents: 1 }),
            Step.call("pay", { cents: 200 }),
            Step.call("pay", { cents: "x" })
          ),
          Step.text("done")
        ]
      })
      const runtime = Layer.mergeAll(Mandate.layerMemory, ScriptedModel.layerOf(model), Logger.layer([]))
      const agent = yield* Effect.provideContext(
        Tools.withToolkit(AiSdkTools.from({ pay: { ...pay, needsApproval } })).build(),
        yield* Layer.build(runtime)
      )
      const { status } = yield* agent.run("Go", { threadId: "t" })
      const pending = status._tag === "Suspended" ? status.pending : []
      const before = [...paid]
      if (pending.length > 0) {
        const { status } = yield* agent.resume("t", pending.map(({ id }) => Answer.reject(id, "too much")))
        assert.strictEqual(status._tag, "Completed")
      }
      return { pending: pending.map(({ id }) => id), before, after: paid }
    }).pipe(Effect.scoped)

  it.effect("waits for every call that is always to be approved", () =>
    Effect.gen(function*() {
      const { after, pending } = yield* approving(true)

      assert.deepStrictEqual(pending, ["0.0:approval0", "0.1:approval0"])
      assert.deepStrictEqual(after, [])
    }))

  it.effect("waits for the calls that the tool's own function picks", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const result = yield* approving(async (input, options) => {
        asked.push({ input, options })
        return input.cents > 100
      })

      assert.deepStrictEqual(result, { pending: ["0.1:approval0"], before: [1], after: [1] })
      assert.lengthOf(asked, 2)
      assert.deepInclude(asked[0], { input: { cents: 1 } })
    }))

  it.effect.each(
    [
      ["throws", (): unknown => Promise.reject(new Error("no"))],
      ["gives something else", (): unknown => "maybe"]
    ] as const
  )("waits when the function %s", ([, policy]) =>
    Effect.gen(function*() {
      const { after, pending } = yield* approving(policy)

      assert.deepStrictEqual(pending, ["0.0:approval0", "0.1:approval0"])
      assert.deepStrictEqual(after, [])
    }))
})

describe("AiSdkTools at build", () => {
  it.effect("refuses what it cannot honour, all at once, each by its tool", () =>
    Effect.gen(function*() {
      const inputSchema = z.object({})
      const execute = () => ""
      const problems = yield* Tools.problems(AiSdkTools.from({
        none: tool({ inputSchema, outputSchema: z.string() }),
        provider: { type: "provider", execute },
        context: tool({ inputSchema, contextSchema: z.object({ key: z.string() }), execute }),
        described: tool({ inputSchema, description: () => "", execute }),
        date: tool({ inputSchema: z.object({ at: z.date() }), execute }),
        valibot: { inputSchema: v.object({ city: v.string() }), execute },
        other: { inputSchema: { type: "object" }, execute },
        breaks: { inputSchema: jsonSchema(Promise.reject(new Error("not there\nmore"))), execute }
      }))

      const schema = (name: string, what: string) =>
        `UnsupportedSchema: the schema of the parameters of the tool "${name}" ${what}`
      assert.deepStrictEqual(problems, [
        "InvalidSetting: the tool \"none\" has no execute; an agent can only offer what it can run",
        "InvalidSetting: the tool \"provider\" is defined by a provider, which agents cannot offer yet",
        "InvalidSetting: the tool \"context\" takes a context, which agents have not",
        "InvalidSetting: the tool \"described\" has a description that depends on a context, which agents have not",
        schema("date", "gives no JSON Schema: Date cannot be represented in JSON Schema"),
        schema("valibot", "gives no JSON Schema: its library (valibot) has none of its own, so pass one along"),
        schema("other", "is neither a Standard Schema nor a schema of the AI SDK"),
        schema("breaks", "gives no JSON Schema: not there")
      ])
    }))

  it.effect("takes a tool that says it needs no approval", () =>
    Effect.gen(function*() {
      const { results } = yield* Tools.run(
        AiSdkTools.from({ weather: { ...weather, needsApproval: false } }),
        Step.call("weather", { city: "Bergen" })
      )

      assert.isFalse(results[0]![0])
    }))
})
