import { assert, describe, it } from "@effect/vitest"
import { type AgentBuilder, Answer, MemoryRunStore } from "@mandate/core"
import { ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { jsonSchema, tool } from "ai"
import { Effect } from "effect"
import * as v from "valibot"
import { z } from "zod"
import { AiSdkTools, StandardTools } from "../../src/index.ts"
import * as Tools from "../support/Tools.ts"

type Json = { readonly [key: string]: unknown }

/** What an approval shows, and what runs after a deploy whose default is 1000. */
const lives = (toolkit: (amount: number, ran: Array<unknown>) => Tools.AnyToolkit, written: Json) =>
  Effect.gen(function*() {
    const store = MemoryRunStore.make()
    const ran: Array<unknown> = []
    const model = yield* ScriptedModel.make({
      clerk: [
        Step.calls(Step.call("pay", written as never)),
        (request) => Step.text(JSON.stringify(request.messages.at(-1)))
      ]
    })
    const next = <A, E>(amount: number, use: (agent: Agent) => Effect.Effect<A, E>) =>
      Effect.flatMap(Tools.withToolkit(toolkit(amount, ran)).build(), use).pipe(
        Effect.provide([TestRuntime.layerStore(store, `process-${amount}`), ScriptedModel.layerOf(model)])
      )
    const first = yield* next(10, (agent) => agent.run("Go", { threadId: "t" }))
    if (first.status._tag !== "Suspended") return { shown: undefined, ran, status: first.status }
    const request = first.status.pending[0]?.request
    const last = yield* next(1000, (agent) => agent.resume("t", [Answer.approve("0.0:approval0")]))
    return { shown: request?._tag === "Approval" ? request.arguments : undefined, ran, status: last.status }
  }).pipe(Effect.scoped)

type Agent = Effect.Success<ReturnType<AgentBuilder.AgentBuilder<string>["build"]>>

const standard = (input: (amount: number) => z.ZodType) => (amount: number, ran: Array<unknown>): Tools.AnyToolkit =>
  StandardTools.from({
    pay: { input: input(amount), needsApproval: true, execute: (args) => void ran.push(args) }
  })

const date = new Date("2026-01-02T00:00:00.000Z")

describe("F12 What an approval of a foreign tool shows", () => {
  it.effect.each<readonly [string, (amount: number) => z.ZodType, Json, Json, unknown]>([
    [
      "a default of Zod",
      (amount) => z.object({ to: z.string(), amount: z.number().default(amount) }),
      { to: "x" },
      { amount: 10, to: "x" },
      { to: "x", amount: 10 }
    ],
    [
      "a nested default, a trimmed text and a coerced number",
      (amount) =>
        z.object({
          to: z.string().trim(),
          n: z.coerce.number(),
          lines: z.array(z.object({ amount: z.number().default(amount) }))
        }),
      { to: " x ", n: "7", lines: [{}] },
      { lines: [{ amount: 10 }], n: 7, to: "x" },
      { to: "x", n: 7, lines: [{ amount: 10 }] }
    ],
    [
      "a date",
      (amount) => z.object({ at: z.string().transform((at) => new Date(at)), amount: z.number().default(amount) }),
      { at: "2026-01-02" },
      { amount: 10, at: "2026-01-02T00:00:00.000Z" },
      { at: date, amount: 10 }
    ],
    [
      "a transformation that goes one way, beside a default",
      (amount) => z.object({ to: z.string().transform((to) => to.length), amount: z.number().default(amount) }),
      { to: "abc" },
      { amount: 10, to: "abc" },
      { to: 3, amount: 10 }
    ],
    [
      "keys that nobody takes",
      () => z.object({ to: z.string() }),
      { to: "x", more: 1 },
      { to: "x" },
      { to: "x" }
    ]
  ])(
    "F12 is what runs, whatever the default is by then: %s",
    ([, input, written, shown, expected]) =>
      Effect.gen(function*() {
        const life = yield* lives(standard(input), written)

        assert.deepStrictEqual<unknown>(life.shown, shown)
        assert.deepStrictEqual(life.ran, [expected])
      })
  )

  it.effect("F12 is what runs, of Valibot and of the AI SDK", () =>
    Effect.gen(function*() {
      const schema = { type: "object", properties: { to: { type: "string" }, amount: { type: "number" } } } as const
      const valibot = yield* lives(
        (amount, ran) =>
          StandardTools.from({
            pay: {
              input: v.object({ to: v.string(), amount: v.optional(v.number(), amount) }),
              jsonSchema: schema,
              needsApproval: true,
              execute: (args) => void ran.push(args)
            }
          }),
        { to: "x" }
      )
      const sdk = yield* lives(
        (amount, ran) =>
          AiSdkTools.from({
            pay: tool({
              inputSchema: z.object({ to: z.string(), amount: z.number().default(amount) }),
              needsApproval: true,
              execute: async (args) => ran.push(args)
            })
          }),
        { to: "x" }
      )
      const unchecked = yield* lives(
        (_, ran) =>
          AiSdkTools.from({
            pay: tool({ inputSchema: jsonSchema(schema), needsApproval: true, execute: async (args) => ran.push(args) })
          }),
        { to: "x", more: 1 }
      )

      for (const life of [valibot, sdk]) {
        assert.deepStrictEqual<unknown>(life.shown, { amount: 10, to: "x" })
        assert.deepStrictEqual(life.ran, [{ to: "x", amount: 10 }])
      }
      assert.deepStrictEqual<unknown>([unchecked.shown, unchecked.ran], [{ more: 1, to: "x" }, [{ more: 1, to: "x" }]])
    }))

  it.effect.each<readonly [string, (amount: number) => z.ZodType]>([
    [
      "an object that becomes something else",
      (amount) =>
        z.object({ to: z.string(), amount: z.number().default(amount) }).transform(({ amount, to }) => [to, amount])
    ],
    ["a default that is no JSON", () => z.object({ at: z.string().optional().transform((at) => BigInt(at ?? 10)) })],
    [
      "a value that is another one each time",
      () => {
        let n = 0
        return z.object({ to: z.string().transform(() => n++) })
      }
    ]
  ])("F12 or nothing runs, where it cannot be shown: %s", ([, input]) =>
    Effect.gen(function*() {
      const life = yield* lives(standard(input), { to: "x" })

      assert.include(life.status._tag === "Completed" ? life.status.answer : "", "ArgumentsNotShown")
      assert.deepStrictEqual(life.ran, [])
    }))
})
