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
      const parts = calls.map((name, index) => callPart(`${turn}_${step}_${index}`, name))
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
    assert.deepStrictEqual(rulesOfMessages(user, calling(resultPart(a)), user), ["provider-calls"])
  })

  it("wants a provider's own call and its result between two user messages", () => {
    const own = { ...a, providerExecuted: true }
    assert.deepStrictEqual(rulesOfMessages(user, calling(own)), [])
    assert.deepStrictEqual(rulesOfMessages(user, calling(own), calling(resultPart(own)), user), [])
    assert.deepStrictEqual(
      rulesOfMessages(user, calling(own, b), results(resultPart(b)), calling(resultPart(own)), user),
      []
    )
    assert.deepStrictEqual(rulesOfMessages(user, calling(own), user), ["provider-calls"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(own), user, calling(resultPart(own))), ["provider-calls"])
  })

  it("finds a blank text in the content of a result, and content of nothing", () => {
    const withContent = (...value: ReadonlyArray<Message.TextPart>): Message.Message =>
      results({ ...resultPart(a), output: { type: "content", value } })
    const text = (text: string): Message.TextPart => ({ type: "text", text })
    assert.deepStrictEqual(rulesOfMessages(user, calling(a), withContent(text("ok"))), [])
    assert.deepStrictEqual(rulesOfMessages(user, calling(a), withContent(text("ok"), text(" "))), ["blank-text"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(a), withContent()), ["blank-text"])
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
    const tool = { name: "find", inputSchema: { type: "object", properties: {} } }
    const rules = (...tools: ReadonlyArray<ModelRequest.ModelTool>) => rulesOf({ ...asking("go"), tools })

    assert.deepStrictEqual(rules(tool, { ...tool, name: "a".repeat(64) }), [])
    assert.deepStrictEqual(rules({ ...tool, name: "a".repeat(65) }), ["tool-name"])
    assert.deepStrictEqual(rules({ ...tool, name: "" }, { ...tool, name: "a b" }), ["tool-name"])
    assert.deepStrictEqual(rules(tool, tool), ["unique-tool-names"])
    assert.deepStrictEqual(rules({ ...tool, inputSchema: { anyOf: [] } }), ["input-schema"])
  })

  it("wants properties at the root of a tool's schema, and items in every array", () => {
    const rules = (inputSchema: ModelRequest.ModelTool["inputSchema"]) =>
      rulesOf({ ...asking("go"), tools: [{ name: "find", inputSchema }] })
    const root = (tags: Schema.Json) => ({ type: "object", properties: { tags } })

    assert.deepStrictEqual(rules({ type: "object" }), ["schema-properties"])
    assert.deepStrictEqual(rules(root({ type: "array" })), ["schema-items"])
    assert.deepStrictEqual(rules(root({ type: ["array", "null"] })), ["schema-items"])
    assert.deepStrictEqual(rules(root({ anyOf: [{ type: "array" }, { type: "null" }] })), ["schema-items"])
    assert.deepStrictEqual(rules(root({ type: "array", items: { type: "array" } })), ["schema-items"])
    assert.deepStrictEqual(rules({ ...root({ $ref: "#/$defs/T" }), $defs: { T: { type: "array" } } }), ["schema-items"])
    assert.deepStrictEqual(rules(root({ type: "array", items: {} })), [])
    assert.deepStrictEqual(rules(root({ enum: [{ type: "array" }] })), [])
    assert.deepStrictEqual(rules({ type: "object", properties: { type: { type: "string" } } }), [])
  })

  it("wants ids of 1 to 40 of the characters that every provider takes", () => {
    const ids = ["functions.look:0", "a b", "\u00fc", "a".repeat(41), "a\n"]
    for (const id of ids) {
      const odd = callPart(id, "find")
      assert.deepStrictEqual(rulesOfMessages(user, calling(odd), results(resultPart(odd))), ["call-id"], id)
    }
    const fine = callPart("aZ_9-".repeat(8), "find")
    assert.deepStrictEqual(rulesOfMessages(user, calling(fine), results(resultPart(fine))), [])
    const own = { ...callPart("ws_".padEnd(54, "0"), "find"), providerExecuted: true }
    assert.deepStrictEqual(rulesOfMessages(user, calling(own, resultPart(own)), user), [])
  })

  it("wants no blank text beside other content, nor blank instructions", () => {
    const blank = { type: "text" as const, text: "\n\n" }
    assert.deepStrictEqual(rulesOfMessages(user, calling(blank, a), results(resultPart(a))), ["blank-text"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(a, blank), results(resultPart(a))), ["blank-text"])
    assert.deepStrictEqual(rulesOfMessages({ role: "system", content: " " }, user), ["blank-text"])
  })

  it("wants reasoning to be followed by what it led to", () => {
    const thought = { type: "reasoning" as const, text: "Hm" }
    const text = { type: "text" as const, text: "done" }
    assert.deepStrictEqual(rulesOfMessages(user, calling(thought), user), ["reasoning-alone"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(text, thought), user), ["reasoning-alone"])
    assert.deepStrictEqual(rulesOfMessages(user, calling(thought, text), user), [])
    assert.deepStrictEqual(rulesOfMessages(user, calling(thought, a), results(resultPart(a))), [])
    const custom = { ...thought, providerMetadata: { mandate: { custom: "openai.compaction" } } }
    assert.deepStrictEqual(rulesOfMessages(user, calling(custom), user), [])
  })

  it("wants a conversation to begin with the user", () => {
    assert.deepStrictEqual(rulesOfMessages(answer, user), ["user-first"])
    assert.deepStrictEqual(rulesOfMessages({ role: "system", content: "You help." }, answer, user), ["user-first"])
  })

  it("wants no half of a surrogate pair, in keys and values, and in what arguments stand for", () => {
    const half = "a\ud800"
    const tool = { name: "find", inputSchema: { type: "object", properties: {} } }
    const withTool = (change: object) => rulesOf({ ...asking("go"), tools: [{ ...tool, ...change }] })

    assert.deepStrictEqual(rulesOfMessages(Messages.userText(half)), ["surrogates"])
    assert.deepStrictEqual(rulesOfMessages({ role: "system", content: half }, user), ["surrogates"])
    assert.deepStrictEqual(
      rulesOfMessages(user, calling({ ...a, arguments: `{"q":"\\ud800"}` }), results(resultPart(a))),
      ["surrogates"]
    )
    assert.deepStrictEqual(withTool({ description: half }), ["surrogates"])
    assert.deepStrictEqual(withTool({ inputSchema: { type: "object", properties: { [half]: {} } } }), ["surrogates"])
    assert.deepStrictEqual(rulesOf({ ...asking("go"), settings: { stopSequences: [half] } }), ["surrogates"])
    assert.deepStrictEqual(rulesOfMessages(Messages.userText("a\ud83d\ude00")), [])
  })

  it("wants a tool that must be called to be offered", () => {
    const tools = [{ name: "find", inputSchema: { type: "object", properties: {} } }]
    const choosing = (toolChoice: ModelRequest.ToolChoice) => rulesOf({ ...asking("go"), toolChoice, tools })

    assert.deepStrictEqual(choosing("required"), [])
    assert.deepStrictEqual(choosing({ tool: "find" }), [])
    assert.deepStrictEqual(choosing({ tool: "read" }), ["tool-choice"])
    assert.deepStrictEqual(rulesOf({ ...asking("go"), toolChoice: "required" }), ["tool-choice"])
  })
})
