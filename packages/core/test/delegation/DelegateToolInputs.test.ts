import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect } from "effect"
import { ceiling, count, duration, mebibytes, postures } from "../support/BadInputs.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

// What a model writes, as text, and what it reads then.
/** What code is told, as a model is told it that gave the field in its input. */
const asInput = (problem: string): string =>
  `The input is not valid: ${
    problem.replace("The overrides are not valid: ", "").replace(/^The (\w+) is not valid: /, "$1: ")
  }`

const written: ReadonlyArray<readonly [string, string, string, string]> = [
  ["no JSON", "{", "InvalidInput", "The input is not valid: the text is not JSON"],
  ["no posture and no task", "{}", "InvalidInput", "The input is not valid: posture: Missing key; task: Missing key"],
  [
    "an unknown posture",
    "{\"posture\":\"nobody\",\"task\":\"Go\"}",
    "UnknownPosture",
    "There is no such posture; postures: capped, scout"
  ],
  [
    "a posture named __proto__",
    "{\"posture\":\"__proto__\",\"task\":\"Go\"}",
    "UnknownPosture",
    "There is no such posture; postures: capped, scout"
  ],
  ...([
    ["an empty task", "\"task\":\"\"", "The task is not valid: it is blank"],
    ["a blank task", "\"task\":\"\\n \u00A0\"", "The task is not valid: it is blank"],
    ["a task that is no text", "\"task\":7", "task: Expected string"],
    [
      "a context that nests too deep",
      `"task":"Go","context":${"[".repeat(300)}${"]".repeat(300)}`,
      "the value: Expected at most 256 levels of nesting"
    ],
    ["a context of 10 MB", `"task":"Go","context":"${mebibytes(10)}"`, "the text is larger than 8388608 bytes"],
    [
      "a context of 2 MB",
      `"task":"Go","context":"${mebibytes(2)}"`,
      "The context is not valid: it has 2097178 bytes; at most 1048576 are allowed"
    ],
    ["a limit that is misspelt", "\"task\":\"Go\",\"max_tokens\":5", "max_tokens: Unexpected key"],
    ["0 tokens", "\"task\":\"Go\",\"maxTokens\":0", count("maxTokens", "0")],
    ["-1 calls", "\"task\":\"Go\",\"maxToolCalls\":-1", count("maxToolCalls", "-1")],
    ["1.5 tokens", "\"task\":\"Go\",\"maxTokens\":1.5", count("maxTokens", "1.5")],
    [
      "an endless number of tokens",
      "\"task\":\"Go\",\"maxTokens\":1e999",
      "maxTokens: a number this large cannot be read; write it as text"
    ],
    ["tokens as a text", "\"task\":\"Go\",\"maxTokens\":\"10\"", "maxTokens: Expected number"],
    ["NaN as a text", "\"task\":\"Go\",\"maxTokens\":\"NaN\"", "maxTokens: Expected number"],
    ["a null task", "\"task\":null", "task: Expected string"],
    ["0 seconds", "\"task\":\"Go\",\"timeoutSeconds\":0", duration("0")],
    ["-1 seconds", "\"task\":\"Go\",\"timeoutSeconds\":-1", duration("-1000")],
    ["endless seconds", "\"task\":\"Go\",\"timeoutSeconds\":1e308", duration("Infinity")]
  ] as const).map(([name, fields, problem]) =>
    [name, `{"posture":"scout",${fields}}`, "InvalidInput", asInput(problem)] as const
  ),
  ...([
    ["tokens over the ceiling", "\"maxTokens\":101", ceiling("maxTokens", 100, 101)],
    ["calls over the ceiling", "\"maxToolCalls\":3", ceiling("maxToolCalls", 2, 3)],
    ["seconds over the ceiling", "\"timeoutSeconds\":2.5", ceiling("timeout in milliseconds", 2000, 2500)]
  ] as const).map(([name, field, problem]) =>
    [name, `{"posture":"capped","task":"Go",${field}}`, "InvalidInput", asInput(problem)] as const
  )
]

describe("the delegate tool", () => {
  it.effect.each(written)("refuses %s, and nothing has begun", ([, text, reason, message]) =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withPostures().build()
      const result = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, after] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(Trees.outputs(after!.request), [{ error: { reason, message } }])
      assert.deepStrictEqual([result.status._tag, result.usage.tree.childRuns], ["Completed", 0])
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Completed" })
      assert.deepStrictEqual((yield* Trees.durableEvents("t")).map(({ _tag }) => _tag), [
        "RunStarted",
        "ModelCallCompleted",
        "ToolExecuted",
        "ModelCallCompleted",
        "RunSettled"
      ])
      assert.strictEqual(yield* model.calls, 2)
    }).pipe(Effect.provide(Postures.runtime(postures, {
      lead: [Step.calls(Step.rawCall("delegate", text)), Step.text("done")]
    }))))
})
