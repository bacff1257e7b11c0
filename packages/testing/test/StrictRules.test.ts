import { assert, describe, it } from "@effect/vitest"
import type { Message, ModelRequest } from "@mandate/core"
import { Message as Messages } from "@mandate/core"
import { StrictRules } from "@mandate/testing"
import { Arbitrary, Schema } from "effect"
import { asking } from "./calling.ts"

type Assistant = Extract<Message.Message, { readonly role: "assistant" }>
type Tool = Extract<Message.Message, { readonly role: "tool" }>

const name = Schema.String.check(Schema.isPattern(/^[a-z_]{1,8}$/))
const step = Schema.Struct({
  text: Schema.UndefinedOr(name),
  calls: Schema.NonEmptyArray(name).check(Schema.isMaxLength(4)),
  isError: Schema.Boolean
})
const turns = Arbitrary.array(Arbitrary.array(Arbitrary.schema(step), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 3
})
const seeds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))

const callPart = (id: string, name: string): Message.ToolCallPart => ({ type: "tool-call", id, name, arguments: "{}" })

const resultPart = ({ id, name }: Message.ToolCallPart, isError = false): Message.ToolResultPart => ({
  type: "tool-result",
  id,
  name,
  output: { type: "text", value: "ok" },
  isError
})

/** A valid history: turns of a user message and steps of calls with their results, with answers between the turns. */
const history = (turns: ReadonlyArray<ReadonlyArray<typeof step.Type>>): ReadonlyArray<Message.Message> => [
  { role: "system", content: "You help." },
  ...turns.flatMap((steps, turn): ReadonlyArray<Message.Message> => [
    ...turn === 0 ? [] : [{ role: "assistant" as const, content: [{ type: "text" as const, text: "done" }] }],
    Messages.userText(`turn ${turn}`),
    ...steps.flatMap(({ calls, isError, text }, step): ReadonlyArray<Message.Message> => {
      const parts = calls.map((name, index) => callPart(`${turn}.${step}.${index}`, name))
      return [
        { role: "assistant", content: [...text === undefined ? [] : [{ type: "text" as const, text }], ...parts] },
        { role: "tool", content: parts.map((part) => resultPart(part, isError)) }
      ]
    })
  ])
]

const requestOf = (messages: ReadonlyArray<Message.Message>): ModelRequest.ModelRequest => ({ ...asking(""), messages })

const rulesOf = (request: ModelRequest.ModelRequest) => [...new Set(StrictRules.check(request).map(({ rule }) => rule))]

const rulesOfMessages = (...messages: ReadonlyArray<Message.Message>) => rulesOf(requestOf(messages))

/** Changes the tool message that a seed picks, and the assistant message before it. */
const breakAt = (
  messages: ReadonlyArray<Message.Message>,
  seed: number,
  change: (assistant: Assistant, tool: Tool) => ReadonlyArray<Message.Message>
) => {
  const tools = messages.flatMap((message, index) => message.role === "tool" ? [index] : [])
  const at = tools[seed % tools.length] ?? 0
  const [assistant, tool] = [messages[at - 1], messages[at]]
  if (assistant?.role !== "assistant" || tool?.role !== "tool") return messages
  return [...messages.slice(0, at - 1), ...change(assistant, tool), ...messages.slice(at + 1)]
}

const user = Messages.userText("go")
const answer: Message.Message = { role: "assistant", content: [{ type: "text", text: "done" }] }
const calling = (...content: ReadonlyArray<Message.AssistantPart>): Message.Message => ({ role: "assistant", content })
const results = (...content: ReadonlyArray<Message.ToolResultPart>): Message.Message => ({ role: "tool", content })
const [a, b] = [callPart("1", "find"), callPart("2", "read")]

describe("StrictRules", () => {
  it.prop("accepts every history whose calls all have their results", { turns }, ({ turns }) => {
    assert.deepStrictEqual(StrictRules.check(requestOf(history(turns))), [])
  })

  it.prop("finds a result that is missing, whichever it is", { turns, seed: seeds }, ({ seed, turns }) => {
    const broken = breakAt(history(turns), seed, (assistant, tool) => [
      assistant,
      { ...tool, content: tool.content.filter((_, index) => index !== seed % tool.content.length) }
    ])
    assert.deepStrictEqual(rulesOf(requestOf(broken)), ["one-result-per-call"])
  })

  it.prop("finds a result that is given twice", { turns, seed: seeds }, ({ seed, turns }) => {
    const broken = breakAt(history(turns), seed, (assistant, tool) => [
      assistant,
      { ...tool, content: [...tool.content, ...tool.content.slice(seed % tool.content.length).slice(0, 1)] }
    ])
    assert.deepStrictEqual(rulesOf(requestOf(broken)), ["one-result-per-call"])
  })

  it.prop("finds a tool message that is gone or somewhere else", { turns, seed: seeds }, ({ seed, turns }) => {
    const gone = breakAt(history(turns), seed, (assistant) => [assistant, user])
    const before = breakAt(history(turns), seed, (assistant, tool) => [tool, assistant, user])
    const between = breakAt(history(turns), seed, (assistant, tool) => [assistant, user, tool])
    for (const broken of [gone, before, between]) {
      assert.include(rulesOf(requestOf(broken)), "results-follow-calls")
    }
  })

  it.prop("finds results that are not in the order of the calls", { turns, seed: seeds }, ({ seed, turns }) => {
    const broken = breakAt(history(turns), seed, (assistant, tool) => [
      assistant,
      { ...tool, content: tool.content.toReversed() }
    ])
    const isSame = JSON.stringify(broken) === JSON.stringify(history(turns))
    assert.deepStrictEqual(rulesOf(requestOf(broken)), isSame ? [] : ["result-order"])
  })

  it.prop("finds an id that is used twice in the request", { turns, seed: seeds }, ({ seed, turns }) => {
    const messages = history(turns)
    const broken = breakAt(messages, seed, (assistant, tool) => [assistant, tool, assistant, tool])
    assert.deepStrictEqual(rulesOf(requestOf(broken)), ["unique-call-ids"])
  })

  it("finds a result of a call that was not made, and one under another name", () => {
    assert.deepStrictEqual(rulesOfMessages(user, calling(a), results(resultPart(a), resultPart(b))), [
      "one-result-per-call"
    ])
    assert.deepStrictEqual(rulesOfMessages(user, calling(a), results({ ...resultPart(a), name: "read" })), [
      "result-name"
    ])
    assert.deepStrictEqual(rulesOfMessages(user, answer, results(resultPart(a))), ["results-follow-calls"])
  })

  it("finds ids that are empty and called names that are no tool's", () => {
    const [nameless, odd] = [callPart("", "find"), callPart("1", "find.all")]
    assert.deepStrictEqual(rulesOfMessages(user, calling(nameless), results(resultPart(nameless))), ["call-id"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(odd), results(resultPart(odd))), ["tool-name"])
  })

  it("needs no tool message for what the provider ran itself", () => {
    const own = { ...a, providerExecuted: true }
    assert.deepStrictEqual(rulesOfMessages(user, calling(own, resultPart(own)), user), [])
    assert.deepStrictEqual(rulesOfMessages(user, calling(own, b), results(resultPart(b))), [])
    assert.deepStrictEqual(rulesOfMessages(user, calling(resultPart(a)), user), ["one-result-per-call"])
  })

  it("wants system messages first and not last, and takes a paused response as the last", () => {
    const system: Message.Message = { role: "system", content: "You help." }
    assert.deepStrictEqual(rulesOfMessages(system, user), [])
    assert.deepStrictEqual(rulesOfMessages(user, system, user), ["system-first"])
    assert.deepStrictEqual(rulesOfMessages(system, system, user), ["system-first"])
    assert.deepStrictEqual(rulesOfMessages(user, answer), [])
    assert.deepStrictEqual(rulesOfMessages(system), ["last-message"])
    assert.deepStrictEqual(rulesOfMessages(), ["last-message"])
  })

  it("wants content in user and assistant messages", () => {
    const file: Message.FilePart = { type: "file", mediaType: "text/plain", data: { type: "base64", base64: "" } }
    assert.deepStrictEqual(rulesOfMessages({ role: "user", content: [file] }), [])
    assert.deepStrictEqual(rulesOfMessages({ role: "user", content: [] }), ["user-text"])
    assert.deepStrictEqual(rulesOfMessages(Messages.userText(" \n")), ["user-text"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(), user), ["assistant-content"])
    assert.deepStrictEqual(rulesOfMessages(user, calling({ type: "text", text: "" }), user), ["assistant-content"])
  })

  it("wants tools with good names and object inputs, each once", () => {
    const tool = { name: "find", inputSchema: { type: "object" } }
    const rules = (...tools: ReadonlyArray<ModelRequest.ModelTool>) => rulesOf({ ...asking("go"), tools })

    assert.deepStrictEqual(rules(tool, { ...tool, name: "a".repeat(64) }), [])
    assert.deepStrictEqual(rules({ ...tool, name: "a".repeat(65) }), ["tool-name"])
    assert.deepStrictEqual(rules({ ...tool, name: "" }, { ...tool, name: "a b" }), ["tool-name"])
    assert.deepStrictEqual(rules(tool, tool), ["unique-tool-names"])
    assert.deepStrictEqual(rules({ ...tool, inputSchema: { anyOf: [] } }), ["input-schema"])
  })

  it("wants a tool that must be called to be offered", () => {
    const tools = [{ name: "find", inputSchema: { type: "object" } }]
    const choosing = (toolChoice: ModelRequest.ToolChoice) => rulesOf({ ...asking("go"), toolChoice, tools })

    assert.deepStrictEqual(choosing("required"), [])
    assert.deepStrictEqual(choosing({ tool: "find" }), [])
    assert.deepStrictEqual(choosing({ tool: "read" }), ["tool-choice"])
    assert.deepStrictEqual(rulesOf({ ...asking("go"), toolChoice: "required" }), ["tool-choice"])
  })
})
