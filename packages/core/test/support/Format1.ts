/**
 * The agents of the fixture of format 1, what their models answer, and the lives that the fixture shows. Their shapes and
 * words are in the fixture, so nothing here changes.
 */
import { AgentBuilder, AtMostOnce, ToolContext, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Waiting from "./Waiting.ts"

const Text = Schema.Struct({ text: Schema.String })
const Amount = { amount: Schema.Int }
const tools = Toolkit.make(
  Tool.make("note", { parameters: Text, success: Schema.Struct({ noted: Schema.String }) }),
  Tool.make("refuse", { success: Schema.String, failure: Text, failureMode: "error" }),
  Tool.make("picture", {
    success: Text,
    toModelOutput: ({ text }) => [
      Prompt.textPart({ text }),
      Prompt.filePart({ mediaType: "image/png", fileName: "a.png", data: "AAEC" })
    ]
  }),
  Waiting.gated("pay", Amount),
  Tool.make("publish", { parameters: Text, success: Schema.String }),
  Tool.make("charge", { parameters: Schema.Struct(Amount), success: Schema.String }).annotate(AtMostOnce, true)
)

const scouting = Toolkit.make(
  Tool.make("interview", { parameters: Schema.Struct({ times: Schema.Int }), success: Schema.Array(Schema.String) }),
  Tool.make("explode", { success: Schema.String })
)

export const Found = Schema.Struct({ facts: Schema.Array(Schema.String), size: Schema.BigInt })

/** `ran` gets the calls that run. In their first life some do not come to an end. */
export const family = (ran: Array<string>, life: Life) => {
  const run = <A>(name: string, result: A) => Effect.as(Effect.sync(() => ran.push(name)), result)
  const scout = TypedAgent.make("scout", { description: "Scouts", input: Text, report: Found })
    .withInputText(({ text }) => text)
    .withTools(scouting, {
      interview: ({ times }) =>
        Effect.gen(function*() {
          yield* ToolContext.once("greet", Schema.String, run("greet", "hello"))
          const answers = yield* Effect.forEach(
            Array.from({ length: times }, (_, index) => index),
            (index) => ToolContext.ask(`Question ${index}?`, { answer: Schema.String })
          )
          return yield* run(`interview ${answers.join(", ")}`, answers)
        }),
      explode: () => life === "first" ? ToolContext.fatal("the licence ran out") : run("explode", "it held")
    })
  const scribe = TypedAgent.text("scribe", { description: "Writes" })
  const clerk = AgentBuilder.make("clerk")
    .withTools(tools, {
      note: ({ text }) => run(`note ${text}`, { noted: text }),
      refuse: () => Effect.fail({ text: "Not today" }),
      picture: () => run("picture", { text: "A picture" }),
      pay: ({ amount }) => run(`pay ${amount}`, `paid ${amount}`),
      publish: ({ text }) => run(`publish ${text}`, `published ${text}`),
      charge: ({ amount }) =>
        Effect.andThen(run(`charge ${amount}`, ""), life === "first" ? Effect.never : Effect.succeed("charged"))
    })
    .withSubagents([scout, scribe], { maxConcurrentChildren: 8 })
    .withBreakpoints(["publish"])
    .withMaxSteps(3)
  return { clerk, scout }
}

/** The life that the fixture was made in, or a later one. */
export type Life = "first" | "later"

const metadata = { providerMetadata: { acme: { signature: "s1=", nested: [1, null, "ä"] } } }
const note = (text: string) => Step.call("note", { text })
const scout = (text: string) => Step.task("scout", { text })
const report = (...facts: ReadonlyArray<string>) => Step.report({ facts, size: "12345678901234567890" })
const used = { input: 100, output: 50, cacheRead: 30, cacheWrite: 20, reasoning: 10 }

/** What the models answer, by thread and number of the run at the top. */
const answers: { readonly [runId: string]: ReadonlyArray<Step.Step> } = {
  "settled#0": [
    Step.withUsage(
      Step.parts([
        { type: "reasoning", text: "Let me think.", ...metadata },
        { type: "text", text: "It's \"quoted\",\nand — é 漢 😀 \u0001", ...metadata },
        { type: "file", mediaType: "text/plain", filename: "a.txt", data: { type: "base64", base64: "YQ==" } },
        { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/a.png" } },
        { type: "source", id: "s1", url: "https://pages.test", title: "A page", ...metadata },
        { type: "tool-call", id: "w1", name: "web_search", arguments: "{\"q\":\"tides\"}", providerExecuted: true },
        {
          type: "tool-result",
          id: "w1",
          name: "web_search",
          output: { type: "json", value: { hits: [1, 2.5, null, true] } },
          isError: false,
          providerExecuted: true
        },
        { type: "tool-call", id: "w2", name: "web_search", arguments: "", providerExecuted: true },
        {
          type: "tool-result",
          id: "w2",
          name: "web_search",
          output: { type: "denied", value: "out of bounds" },
          isError: true,
          providerExecuted: true
        },
        note("tides"),
        Step.call("refuse"),
        Step.call("picture"),
        Step.rawCall("note", "{not json"),
        Step.call("nobody"),
        scout("reports"),
        scout("breaks"),
        Step.textTask("scribe", "Write it down")
      ], "tool-calls"),
      used
    ),
    Step.text("All done")
  ],
  "settled#1": [Step.call("pay", { amount: 5 }), Step.text("Not paid")],
  "settled#2": [Step.contentFilter("No.")],
  "settled#3": [Step.calls(note("before"), Step.textTask("scribe", "Hang"))],
  "settled#4": [Step.withUsage(note("too dear"), { input: 900, output: 200 })],
  "settled#5": [note("1"), note("2"), note("3")],
  "settled#6": [Step.text(""), Step.text(" ")],
  "settled#7": [Step.text("Here again")],
  "suspended#0": [
    Step.calls(
      ...[10, 20, 30, 40].map((amount) => Step.call("pay", { amount })),
      ...["a", "b"].map((text) => Step.call("publish", { text })),
      scout("asks once"),
      scout("asks twice"),
      note("beside")
    ),
    Step.text("All answered")
  ],
  "failed#0": [note("before"), Step.text("Mended")],
  "broken#0": [Step.calls(note("before"), scout("explodes")), Step.text("Mended below")],
  "running#0": [
    Step.calls(note("before"), Step.call("charge", { amount: 7 }), scout("reports"), scout("hangs")),
    Step.text("Charged")
  ]
}

const scouts: { readonly [input: string]: ReadonlyArray<Step.Step> } = {
  reports: [report("tides", "winds")],
  breaks: [Step.fail("authentication")],
  "asks once": [Step.call("interview", { times: 1 }), report("one")],
  "asks twice": [Step.call("interview", { times: 2 }), report("two")],
  explodes: [Step.call("explode"), report("held")],
  hangs: [Step.call("interview", { times: 0 }), report("late")]
}

const failing: { readonly [call: string]: Step.Step } = {
  "settled#3/0.1#0 0": Step.hang(),
  "failed#0 1": Step.fail("authentication", { status: 401, detail: "who are you", usage: { input: 3, output: 0 } }),
  "running#0/0.3#0 1": Step.hang()
}

/** The scripts of a life: by run and step alone, so that a later life goes on where the first ended. */
export const scripts = (life: Life): Script.Scripts => ({
  clerk: Script.program((_, { runId, step }) =>
    (life === "first" && failing[`${runId} ${step}`]) || answers[runId]![step]!
  ),
  scribe: Script.program((_, { runId, step }) => failing[`${runId} ${step}`] ?? Step.delay(7, Step.text("Written"))),
  scout: Script.program((request, { runId, step }) => {
    const asked = request.messages.flatMap((message) => message.role === "user" ? message.content : [])[0]
    const steps = scouts[asked?.type === "text" ? asked.text : ""]!
    return (life === "first" && failing[`${runId} ${step}`]) || steps[step]!
  })
})
