import { assert, describe, it, layer } from "@effect/vitest"
import { AgentBuilder, type ModelClient, ModelRegistry } from "@mandate/core"
import { ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Layer } from "effect"
import { node } from "../postures/folder.ts"
import { load } from "../postures/loading.ts"

const file = (header: string) => `---\nname: scout\n${header}\nmodel: sonnet\n---\nYou scout.\n`
const quoteOrIndent = "Expected a text in quotes, or with all its lines indented: quote it or indent it"

/** What people write after `description:`, the lines of it, and the line that the one problem is at. */
const loose: ReadonlyArray<readonly [what: string, header: string, line: number]> = [
  ["a second line", "description: Reviews code.\nUse it for reviews.", 4],
  ["a second line after an empty one", "description: Reviews code.\n\nUse it for reviews.", 5],
  ["all lines below", "description:\nReviews code.\nUse it for reviews.", 4],
  ["a colon and a second line", "description: Reviews: code.\nUse it for reviews.", 4],
  [
    "an example of several lines",
    "description: Reviews code. Examples:\n<example>\nContext: the user asks\nuser: \"hi: there\"\n</example>",
    4
  ],
  ["a list of dashes", "description: Reviews.\n- first\n- second", 4],
  ["a list of stars", "description: Reviews.\n* first", 4],
  ["a block that is not indented", "description: |\nReviews code", 4],
  ["a line with a colon after an empty one", "description: Reviews code.\n\nUse it for reviews: often.", 5],
  ["a line with a colon", "description: Reviews code.\nUse it for reviews: often.", 4],
  ["lines with colons", "description: Reviews code.\n\nUse it for reviews: often.\nNot for prose: never.", 5],
  ["a line with a colon and a plain one", "description: Reviews code.\n\nUse it: often.\nAnd so on.", 5],
  ["a colon, and a line with one", "description: Reviews: code.\n\nUse it for reviews: often.", 5],
  ["an indented line, and one with a colon", "description: Reviews.\n  It does.\n\nUse it when: asked", 6],
  ["quotes, and a line with a colon", "description: \"Reviews code.\"\nUse it when: asked", 4],
  ["a block that a field stands in place of", "description: >-\nReviews: code", 4],
  ["a block of lower case that a field stands in place of", "description: |\n\nreviews: code", 5],
  ["a block with a comment that a field stands in place of", "description: >- # folded\nReviews: code", 4],
  ["a block and a line with a colon", "description: |\n  Reviews.\nUse it when: asked", 5],
  ["a block with a field and a plain line", "description: |\nReviews: code\nand prose", 4],
  ["a colon at the end of a line", "description: Reviews.\n\nUse it when:", 5],
  ["a name with a colon inside", "description: Reviews.\n\nUse a:b when: asked", 5],
  ["a quoted text over two lines", "description: \"Reviews code\nand more\"", 4]
]

layer(node)("F01 An agent file of a public collection", (it) => {
  it.effect.each(loose)(
    "F01 whose description has %s is one problem, at its line",
    ([, header, line]) =>
      Effect.gen(function*() {
        const { postures, problems, severities } = yield* load({ "scout.md": file(header) })
        const errors = problems.filter((_, index) => severities[index] === "error")

        assert.deepStrictEqual(postures, [])
        assert.deepStrictEqual(errors, [`scout.md:${line} description: ${quoteOrIndent}`])
      })
  )

  it.effect("F01 whose description is followed by one word and a colon is taken, and warned of at its line", () =>
    Effect.gen(function*() {
      for (
        const [header, line] of [["description: Reviews.\n\nExamples: many", 5], [
          "description: R\nNote: x",
          4
        ]] as const
      ) {
        const { names, problems, severities } = yield* load({ "scout.md": file(header) })
        const field = header.includes("Note") ? "Note" : "Examples"

        assert.deepStrictEqual(names, ["scout"])
        assert.deepStrictEqual(severities, ["warning"])
        assert.deepStrictEqual(problems, [
          `scout.md:${line} ${field}: Nothing acts on this field; if it is text of the description, quote it or indent it`
        ])
      }
    }))

  it.effect.each([
    ["description: Reviews.\ncolor: blue", "color"],
    ["description: Reviews.\ntools: [a]\nUse it when: asked", "Use it when"],
    ["description: Reviews.\n\"Use it when\": asked", "Use it when"],
    ["description: |\n  Use it when: asked\ncolor: blue", "color"]
  ])(
    "F01 with the extra field in %j is taken, with the warning of every extra field",
    ([header, field]) =>
      Effect.gen(function*() {
        const { names, problems } = yield* load({ "scout.md": file(header!) })

        assert.deepStrictEqual(names, ["scout"])
        assert.lengthOf(problems, 1)
        assert.match(problems[0]!, /Nothing acts on this field; it is kept in extra$/)
        assert.include(problems[0]!, field!)
      })
  )

  it.effect("F01 with an empty block and a known field is told about its description", () =>
    Effect.gen(function*() {
      const { problems } = yield* load({ "scout.md": file("description: |") })

      assert.lengthOf(problems, 1)
      assert.match(problems[0]!, /^scout\.md:3 description: /)
    }))

  it.effect.each([
    "description: 'It's fine'",
    "description: \"Reads\" code",
    "description: [Beta] reads code",
    "description: {x} reads",
    "description: @reviewer reads",
    "description: `code` reads"
  ])("F01 with %j is one problem that says to quote it", (header) =>
    Effect.gen(function*() {
      const { problems } = yield* load({ "scout.md": file(header) })

      assert.lengthOf(problems, 1)
      assert.match(problems[0]!, /^scout\.md:3.*quote/)
    }))

  it.effect.each([
    "description: Reviews code: all of it",
    "description: Reviews code.\n  Use it for reviews.",
    "description: >-\n  Reviews code: all of it.\n  Use it for reviews.",
    "description: \"Reviews code: all of it.\"",
    "description: Reviews code\ntools:\n- search\n- read"
  ])("F01 with %j is taken", (header) =>
    Effect.gen(function*() {
      const { names, severities } = yield* load({ "scout.md": file(header) })

      assert.deepStrictEqual(names, ["scout"])
      assert.notInclude(severities, "error")
    }))

  it.effect("F01 with a dotted name is told what is allowed, and a name that is", () =>
    Effect.gen(function*() {
      const { problems } = yield* load({
        "a.md": "---\nname: team.code.reviewer\ndescription: Reviews\n---\nYou review.\n"
      })

      assert.deepStrictEqual(problems, [
        "a.md:2 name: Expected 1 to 52 of the characters a-z A-Z 0-9 _ -, such as \"team-code-reviewer\""
      ])
    }))
})

const scripted = (answer: string) =>
  Effect.map(ScriptedModel.make({ clerk: [Step.text(answer)] }), ({ client }) => client)

const build = (models: unknown, modelId?: string) =>
  Effect.flatMap(AgentBuilder.make("clerk").withModel(modelId).build(), (agent) => agent.run("hi")).pipe(
    Effect.provide(Layer.merge(TestRuntime.layer, ModelRegistry.layer(models as ModelRegistry.Models)))
  )

const problem = (models: unknown, modelId?: string) =>
  Effect.map(Effect.flip(build(models, modelId)), (error) => {
    assert.strictEqual(error._tag, "AgentDefinitionError")
    return error._tag === "AgentDefinitionError" ? error.problems.map(({ message }) => message).join() : ""
  })

const stub = { provider: "stub", modelId: "stub", generate: () => Effect.never } as unknown as ModelClient.ModelClient

describe("F01 Aliases of models", () => {
  it.effect("F01 lead to a model, through other aliases too", () =>
    Effect.gen(function*() {
      for (const modelId of ["sonnet", "default-sonnet", "claude"]) {
        const { status } = yield* build({
          models: { claude: yield* scripted(modelId) },
          aliases: { sonnet: "claude", "default-sonnet": "sonnet" }
        }, modelId)
        assert.deepStrictEqual<unknown>({ ...status }, { _tag: "Completed", answer: modelId })
      }
    }))

  it.effect.each(
    [
      [{ sonnet: "claud" }, "the alias \"sonnet\" leads to no model; models: claude"],
      [{ a: "b", b: "a" }, "the alias \"a\" leads to itself; the alias \"b\" leads to itself"],
      [{ a: "a" }, "the alias \"a\" leads to itself"],
      [{ claude: "claude" }, "the alias \"claude\" has the name of a model"],
      [{ sonnet: "toString" }, "the alias \"sonnet\" leads to no model; models: claude"],
      [{ sonnet: 5 }, "aliases.sonnet must be a string, not 5"],
      [["sonnet"], "aliases must be a plain object, not an array"],
      [new Map([["sonnet", "claude"]]), "aliases must be a plain object, not a Map"]
    ] as const
  )("F01 of the form %j are a problem of every definition", ([aliases, issue]) =>
    Effect.gen(function*() {
      const message = yield* problem({ default: stub, models: { claude: stub }, aliases })
      assert.strictEqual(message, `The options of ModelRegistry.layer are not valid: ${issue}`)
    }))

  it.effect("F01 are among the models that an unknown one is answered with", () =>
    Effect.gen(function*() {
      const message = yield* problem({ models: { claude: stub }, aliases: { sonnet: "claude" } }, "opus")
      assert.strictEqual(message, "There is no model \"opus\"; known models: claude, sonnet")
    }))
})
