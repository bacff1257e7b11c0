import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, AtMostOnce, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Schema, SchemaGetter } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

type Parameters = Schema.Codec<any, any>
type Json = { readonly [key: string]: Schema.Json }

/** The parameters of a tool, whose default is of the deploy. */
interface Case {
  readonly name: string
  readonly parameters: (amount: number) => Parameters
  readonly written: Json
  readonly shown: Json
  readonly ran: unknown
}

const amountOf = (amount: number, options?: { readonly encodingStrategy?: "omit" | "passthrough" }) =>
  Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(amount), options))

const cases: ReadonlyArray<Case> = [
  {
    name: "a decoding default",
    parameters: (amount) => Schema.Struct({ to: Schema.String, amount: amountOf(amount) }),
    written: { to: "x" },
    shown: { amount: 10, to: "x" },
    ran: { to: "x", amount: 10 }
  },
  {
    name: "a default that its schema leaves out when it encodes",
    parameters: (amount) =>
      Schema.Struct({ to: Schema.String, amount: amountOf(amount, { encodingStrategy: "omit" }) }),
    written: { to: "x" },
    shown: { amount: 10, to: "x" },
    ran: { to: "x", amount: 10 }
  },
  {
    name: "a default inside of a list",
    parameters: (amount) => Schema.Struct({ lines: Schema.Array(Schema.Struct({ amount: amountOf(amount) })) }),
    written: { lines: [{}, { amount: 3 }] },
    shown: { lines: [{ amount: 10 }, { amount: 3 }] },
    ran: { lines: [{ amount: 10 }, { amount: 3 }] }
  },
  {
    name: "the default of a type that is encoded",
    parameters: (amount) =>
      Schema.Struct({
        amount: Schema.FiniteFromString.pipe(Schema.withDecodingDefaultKey(Effect.succeed(`${amount}`)))
      }),
    written: {},
    shown: { amount: "10" },
    ran: { amount: 10 }
  },
  {
    name: "trimmed text, keys that nobody takes, and the order of keys",
    parameters: () => Schema.Struct({ b: Schema.Trim, a: Schema.optionalKey(Schema.Int) }),
    written: { more: 1, b: "  x ", a: 1 },
    shown: { a: 1, b: "x" },
    ran: { b: "x", a: 1 }
  },
  {
    name: "keys with other names",
    parameters: (amount) =>
      Schema.Struct({ to: Schema.String, amount: amountOf(amount) }).pipe(Schema.encodeKeys({ to: "recipient" })),
    written: { recipient: "x" },
    shown: { amount: 10, recipient: "x" },
    ran: { to: "x", amount: 10 }
  }
]

/** A clerk with the tool `pay`, which notes what it was called with. Each verb runs in a process of its own. */
const setUp = Effect.fnUntraced(function*({ make }: Backing, written: Json) {
  const store = yield* make
  const ran: Array<unknown> = []
  const processes = yield* Waiting.processes(store, {
    clerk: Script.optional([
      Step.calls(Step.call("pay", written)),
      (request) => Step.text(JSON.stringify(request.messages.at(-1)))
    ])
  })
  const clerk = (
    parameters: Parameters,
    kind: "approval" | "breakpoint" | "at-most-once",
    handler?: Effect.Effect<string>
  ) => {
    const plain = Tool.make("pay", { parameters, success: Schema.String })
    const tool = kind === "approval"
      ? Tool.make("pay", { parameters, success: Schema.String, needsApproval: true })
      : kind === "at-most-once"
      ? plain.annotate(AtMostOnce, true)
      : plain
    const agent = AgentBuilder.make("clerk").withTools(Toolkit.make(tool), {
      pay: (args: unknown) => handler ?? Effect.sync(() => `paid ${ran.push(args)}`)
    } as never)
    return (kind === "breakpoint" ? agent.withBreakpoints(["pay"]) : agent).build()
  }
  return { ...processes, clerk, ran, store }
})

const requests = ({ status }: { readonly status: { readonly _tag: string } }) =>
  "pending" in status
    ? (status.pending as ReadonlyArray<{ readonly request: { readonly arguments?: unknown } }>)
      .map(({ request }) => request.arguments)
    : status

describe.each(backings)("F12 What a person is shown runs, in $name", (backing) => {
  it.effect.each(cases)(
    "F12 after an approval, whatever the default is by then: $name",
    (one) =>
      Effect.gen(function*() {
        const { clerk, next, ran } = yield* setUp(backing, one.written)
        const first = yield* next(
          Effect.flatMap(clerk(one.parameters(10), "approval"), (agent) => agent.run("Go", { threadId: "t" }))
        )
        const last = yield* next(
          Effect.flatMap(
            clerk(one.parameters(1000), "approval"),
            (agent) => agent.resume("t", [Answer.approve("0.0:approval0")])
          )
        )

        assert.deepStrictEqual(requests(first), [one.shown])
        assert.deepStrictEqual(Object.keys(requests(first)[0 as never] as object), Object.keys(one.shown))
        assert.strictEqual(last.status._tag, "Completed")
        assert.deepStrictEqual(ran, [one.ran])
      })
  )

  it.effect.each(cases)(
    "F12 after a breakpoint, whatever the default is by then: $name",
    (one) =>
      Effect.gen(function*() {
        const { clerk, next, ran } = yield* setUp(backing, one.written)
        const first = yield* next(
          Effect.flatMap(clerk(one.parameters(10), "breakpoint"), (agent) => agent.run("Go", { threadId: "t" }))
        )
        yield* next(
          Effect.flatMap(
            clerk(one.parameters(1000), "breakpoint"),
            (agent) => agent.resume("t", [Answer.proceed("0.0:breakpoint0")])
          )
        )

        assert.deepStrictEqual(requests(first), [one.shown])
        assert.deepStrictEqual(ran, [one.ran])
      })
  )

  it.effect.each(cases)(
    "F12 once more after a crash, whatever the default is by then: $name",
    (one) =>
      Effect.gen(function*() {
        const { clerk, die, next, ran } = yield* setUp(backing, one.written)
        yield* die(
          Effect.flatMap(clerk(one.parameters(10), "at-most-once", Effect.never), (agent) =>
            Effect.andThen(
              Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true }),
              backing.pass("1 second")
            ))
        )
        const asked = yield* next(Effect.gen(function*() {
          const agent = yield* clerk(one.parameters(1000), "at-most-once")
          const running = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
          yield* backing.pass("1 minute")
          return yield* Fiber.join(running)
        }))
        yield* next(
          Effect.flatMap(
            clerk(one.parameters(1000), "at-most-once"),
            (agent) => agent.resume("t", [Answer.approve("0.0:uncertain0")])
          )
        )

        assert.deepStrictEqual(requests(asked), [one.shown])
        assert.deepStrictEqual(ran, [one.ran])
      })
  )

  const amounts = (amount: number) => Schema.Struct({ to: Schema.String, amount: amountOf(amount) })

  it.effect("F12 after an edit, which is stored with the defaults of its time", () =>
    Effect.gen(function*() {
      const { clerk, next, ran, store } = yield* setUp(backing, { to: "x" })
      yield* next(Effect.flatMap(clerk(amounts(10), "approval"), (agent) => agent.run("Go", { threadId: "t" })))
      const stopped = Effect.flatMap(
        clerk(amounts(10), "approval"),
        () =>
          AgentBuilder.make("clerk").withTools(
            Toolkit.make(Tool.make("pay", { parameters: amounts(10), success: Schema.String, needsApproval: true })),
            { pay: () => Effect.succeed("paid") }
          ).withBreakpoints(["pay"]).build()
      )
      const shown = yield* next(
        Effect.flatMap(stopped, (agent) => agent.resume("t", [Answer.edit("0.0:approval0", { to: "y" })]))
      )
      const stored = (yield* store.load("t#0"))?.records.find(({ key }) => key === "a/0.0:approval0")?.json
      yield* next(
        Effect.flatMap(
          clerk(amounts(1000), "approval"),
          (agent) => agent.resume("t", [Answer.proceed("0.0:breakpoint0")])
        )
      )

      assert.deepStrictEqual(requests(shown), [{ amount: 10, to: "y" }])
      assert.deepInclude(JSON.parse(stored ?? ""), { arguments: { amount: 10, to: "y" } })
      assert.deepStrictEqual(ran, [{ to: "y", amount: 10 }])
    }))

  it.effect("F12 as a policy saw it, where the process died after a decision that nobody need be asked", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const { die, next } = yield* Waiting.processes(yield* backing.make, {
        clerk: [Step.calls(Step.call("pay", { to: "x" })), Step.text("done")]
      })
      const clerk = (amount: number, handler: (args: unknown) => Effect.Effect<string>) =>
        AgentBuilder.make("clerk").withTools(
          Toolkit.make(Tool.make("pay", {
            parameters: amounts(amount),
            success: Schema.String,
            needsApproval: ({ amount }) => amount > 100
          })),
          { pay: handler }
        ).build()
      yield* die(
        Effect.flatMap(clerk(10, () => Effect.never), (agent) =>
          Effect.andThen(
            Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true }),
            backing.pass("1 second")
          ))
      )
      yield* next(Effect.gen(function*() {
        const agent = yield* clerk(1000, (args) => Effect.sync(() => `paid ${ran.push(args)}`))
        const running = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
        yield* backing.pass("1 minute")
        return yield* Fiber.join(running)
      }))

      assert.deepStrictEqual(ran, [{ to: "x", amount: 10 }])
    }))

  it.effect("F12 as the input of a task behind a breakpoint", () =>
    Effect.gen(function*() {
      const { model, next } = yield* Waiting.processes(yield* backing.make, {
        lead: [Step.calls(Step.task("clerk", { to: "x" })), Step.text("done")],
        clerk: [Step.report("paid")]
      })
      const lead = (amount: number) => {
        const clerk = TypedAgent.make("clerk", { description: "Pays", input: amounts(amount), report: Schema.String })
        return AgentBuilder.make("lead").withSubagents([clerk]).withBreakpoints(["task_clerk"]).build()
      }
      const first = yield* next(Effect.flatMap(lead(10), (agent) => agent.run("Go", { threadId: "t" })))
      yield* next(Effect.flatMap(lead(1000), (agent) => agent.resume("t", [Answer.proceed("0.0:breakpoint0")])))

      assert.deepStrictEqual(requests(first), [{ amount: 10, to: "x" }])
      const [asked] = yield* model.requestsOf("clerk")
      assert.include(
        JSON.stringify(asked?.request.messages),
        JSON.stringify(JSON.stringify({ amount: 10, to: "x" })).slice(1, -1)
      )
    }))

  const oneWay: ReadonlyArray<readonly [string, Parameters]> = [
    [
      "is not encoded",
      Schema.Struct({
        to: Schema.String.pipe(Schema.decodeTo(Schema.String, {
          decode: SchemaGetter.transform((to: string) => to),
          encode: SchemaGetter.forbidden(() => "one way")
        }))
      })
    ],
    [
      "is encoded to something else",
      Schema.Struct({
        to: Schema.String.pipe(Schema.decodeTo(Schema.String, {
          decode: SchemaGetter.transform((to: string) => `${to}!`),
          encode: SchemaGetter.passthrough()
        }))
      })
    ],
    [
      "has a value that its JSON does not hold",
      Schema.Struct({ to: Schema.String }).pipe(
        Schema.decodeTo(Schema.Struct({ to: Schema.String, amount: Schema.Finite }), {
          decode: SchemaGetter.transform(({ to }: { readonly to: string }) => ({ to, amount: 10 })),
          encode: SchemaGetter.transform(({ to }: { readonly to: string }) => ({ to }))
        })
      )
    ]
  ]
  it.effect.each(oneWay)("F12 or nothing runs, where what is decoded %s", ([, parameters]) =>
    Effect.gen(function*() {
      const { clerk, next, ran } = yield* setUp(backing, { to: "x" })
      const { status } = yield* next(
        Effect.flatMap(clerk(parameters, "approval"), (agent) => agent.run("Go", { threadId: "t" }))
      )

      assert.include(status._tag === "Completed" ? status.answer : "", "ArgumentsNotShown")
      assert.deepStrictEqual(ran, [])
    }))

  it.effect("F12 but arguments that do not decode are refused, and nothing is decided about them", () =>
    Effect.gen(function*() {
      const { clerk, next, ran, store } = yield* setUp(backing, { to: 7 })
      const { status } = yield* next(
        Effect.flatMap(clerk(amounts(10), "approval"), (agent) => agent.run("Go", { threadId: "t" }))
      )

      assert.include(status._tag === "Completed" ? status.answer : "", "InvalidArguments")
      assert.deepStrictEqual(ran, [])
      assert.isDefined(yield* store.load("t#0"))
    }))
})
