/** Tools of the soak. Their arguments say what they do, and all that runs is noted. */
import { AtMostOnce, ToolContext } from "@mandate/core"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

/** What handlers tell whoever watches. `entered` gives how often this call was entered before. */
export interface Watch {
  readonly entered: (tool: string, key: string, args: unknown) => number
  readonly effected: (key: string, name: string) => void
}

const Work = { millis: Schema.Int }
const Asks = Schema.Struct({ questions: Schema.Int, ...Work })

/** Works for a while. */
const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String, ...Work }), success: Schema.String })

/** Needs approval. */
const Pay = Tool.make("pay", {
  parameters: Schema.Struct({ amount: Schema.Int, ...Work }),
  success: Schema.String,
  needsApproval: true
})

/** Asks some questions, with an effect that happens once before each. */
const Ask = Tool.make("ask", { parameters: Asks, success: Schema.String })

/** Must not run twice. */
const Fire = Tool.make("fire", { parameters: Schema.Struct(Work), success: Schema.String }).annotate(AtMostOnce, true)

/** Needs approval and must not run twice. */
const Launch = Tool.make("launch", {
  parameters: Schema.Struct({ amount: Schema.Int, ...Work }),
  success: Schema.String,
  needsApproval: true
}).annotate(AtMostOnce, true)

/** Asks and must not run twice. */
const Survey = Tool.make("survey", { parameters: Asks, success: Schema.String }).annotate(AtMostOnce, true)

/** Breaks in one of three ways, so many times. */
const Break = Tool.make("break", {
  parameters: Schema.Struct({ how: Schema.Literals(["failure", "defect", "fatal"]), times: Schema.Int }),
  success: Schema.String,
  failure: Schema.String
})

export const toolkit = Toolkit.make(Note, Pay, Ask, Fire, Launch, Survey, Break)

/** Names of all tools. */
export const names: readonly [string, ...ReadonlyArray<string>] = [
  Note.name,
  Pay.name,
  Ask.name,
  Fire.name,
  Launch.name,
  Survey.name,
  Break.name
]

/** Names of the tools that only run after an approval. */
export const gated: ReadonlySet<string> = new Set([Pay.name, Launch.name])

/** Names of the tools that must not run twice. */
export const atMostOnce: ReadonlySet<string> = new Set([Fire.name, Launch.name, Survey.name])

export const handlers = (watch: Watch) => {
  const enter = (tool: string, args: unknown) =>
    Effect.map(ToolContext.ToolContext, ({ idempotencyKey }) => watch.entered(tool, idempotencyKey, args))
  const work = (tool: string) => (args: { readonly millis: number }) =>
    Effect.gen(function*() {
      yield* enter(tool, args)
      yield* Effect.sleep(args.millis)
      return `${tool} done`
    })
  const asking = (tool: string) => (args: typeof Asks.Type) =>
    Effect.gen(function*() {
      yield* enter(tool, args)
      const { idempotencyKey } = yield* ToolContext.ToolContext
      const answers: Array<string> = []
      for (let n = 0; n < args.questions; n++) {
        yield* ToolContext.once(
          `effect-${n}`,
          Schema.Int,
          Effect.as(
            Effect.andThen(Effect.sync(() => watch.effected(idempotencyKey, `effect-${n}`)), Effect.sleep(args.millis)),
            n
          )
        )
        answers.push(yield* ToolContext.ask(`question ${n}?`, { answer: Schema.String }))
      }
      return answers.join(", ")
    })
  return {
    note: work("note"),
    pay: work("pay"),
    ask: asking("ask"),
    fire: work("fire"),
    launch: work("launch"),
    survey: asking("survey"),
    break: (args: { readonly how: "failure" | "defect" | "fatal"; readonly times: number }) =>
      Effect.flatMap(enter("break", args), (before): Effect.Effect<string, string, ToolContext.ToolContext> => {
        if (before >= args.times) return Effect.succeed("mended")
        switch (args.how) {
          case "failure":
            return Effect.fail("it failed")
          case "defect":
            return Effect.die("a bug")
          case "fatal":
            return ToolContext.fatal("no way on")
        }
      })
  }
}
