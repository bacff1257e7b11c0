import { assert, layer } from "@effect/vitest"
import { Posture, PostureRegistry } from "@mandate/core"
import { PostureFiles } from "@mandate/core/postures"
import { Effect, Layer, Schema } from "effect"
import { directory, markdown, node, yaml } from "./folder.ts"
import { bare, load } from "./loading.ts"

layer(node)("PostureFiles.load", (it) => {
  it.effect("loads YAML with every field", () =>
    Effect.gen(function*() {
      const text = yaml(
        "reviewer",
        "tools: [search, read_file]",
        "model: fast",
        "settings: { temperature: 0, stopSequences: [END], providerOptions: { openai: { user: a } } }",
        "report: { type: object, properties: { ok: { type: boolean } } }",
        "budget: { maxTokens: 20000, maxToolCalls: 8, timeout: 60 seconds }",
        "ceiling: { maxTokens: 50000, timeoutSeconds: 300 }",
        "maxDepth: 2",
        "maxSteps: 12"
      )
      const { postures, problems } = yield* load({ "reviewer.yml": text })

      assert.deepStrictEqual(problems, [])
      assert.deepStrictEqual(postures, [
        yield* Posture.make({
          ...bare("reviewer"),
          allowedTools: ["read_file", "search"],
          model: "fast",
          settings: { temperature: 0, stopSequences: ["END"], providerOptions: { openai: { user: "a" } } },
          report: { schema: { type: "object", properties: { ok: { type: "boolean" } } } },
          budget: { maxTokens: 20_000, maxToolCalls: 8, timeout: "60 seconds" },
          ceiling: { maxTokens: 50_000, timeout: "300 seconds" },
          maxDepth: 2,
          maxSteps: 12
        })
      ])
    }))

  it.effect("loads a subagent file of a coding agent unchanged, keeps what it does not know and says so", () =>
    Effect.gen(function*() {
      const text = [
        "---",
        "name: code-reviewer",
        "description: Use this agent when: a change is ready. Examples: <example>user: \"Done\"</example>",
        "tools: Read, Grep, Bash(git log:*, git diff:*), mcp__docs__search",
        "model: sonnet",
        "color: blue",
        "permissionMode: plan",
        "---",
        "",
        "You are a senior reviewer.",
        "",
        "- Read first",
        ""
      ].join("\n")
      const { postures, problems, severities } = yield* load({ "code-reviewer.md": text })

      assert.deepStrictEqual(postures, [
        yield* Posture.make({
          name: "code-reviewer",
          description: "Use this agent when: a change is ready. Examples: <example>user: \"Done\"</example>",
          instructions: "You are a senior reviewer.\n\n- Read first",
          allowedTools: ["Read", "Grep", "Bash(git log:*, git diff:*)", "mcp__docs__search"],
          model: "sonnet",
          extra: { color: "blue", permissionMode: "plan" }
        })
      ])
      assert.deepStrictEqual(problems, [
        "code-reviewer.md:3 description: Expected quotes around this text; it is taken as it stands",
        "code-reviewer.md:6 color: Nothing acts on this field; it is kept in extra",
        "code-reviewer.md:7 permissionMode: Nothing acts on this field; it is kept in extra"
      ])
      assert.deepStrictEqual(severities, ["warning", "warning", "warning"])
    }))

  it.effect("takes tools as a list, as a text with commas, and as a star or nothing for all", () =>
    Effect.gen(function*() {
      const toolsOf = (...lines: ReadonlyArray<string>) =>
        Effect.map(load({ "a.md": markdown(["description: Does it", ...lines]) }), ({ postures, problems }) => ({
          tools: postures[0]!.allowedTools,
          problems
        }))
      const all = "An empty list allows every tool; leave it out, or write \"*\", to say so"

      assert.deepStrictEqual(yield* toolsOf("tools: b, a,, b,"), { tools: ["a", "b"], problems: [] })
      assert.deepStrictEqual(yield* toolsOf("tools:", "  - b", "  - a"), { tools: ["a", "b"], problems: [] })
      assert.deepStrictEqual(yield* toolsOf("allowedTools: [a]"), { tools: ["a"], problems: [] })
      assert.deepStrictEqual(yield* toolsOf("tools: \"*\""), { tools: [], problems: [] })
      assert.deepStrictEqual(yield* toolsOf(), { tools: [], problems: [] })
      assert.deepStrictEqual(yield* toolsOf("tools: []"), { tools: [], problems: [`a.md:3 tools: ${all}`] })
      assert.deepStrictEqual((yield* toolsOf("tools: *")).tools, [])
      assert.deepStrictEqual(yield* toolsOf("tools:"), { tools: [], problems: [`a.md:3 tools: ${all}`] })
    }))

  it.effect("says what a field is called that is nearly spelt so, and where a limit belongs", () =>
    Effect.gen(function*() {
      const lines = ["desciption: Does it", "max-tokens: 3", "timeout: 5 minutes", "mode: all"]
      const { postures, problems, severities } = yield* load({ "a.md": markdown(["description: Does it", ...lines]) })

      assert.deepStrictEqual(problems, [
        "a.md:3 desciption: Expected the name description",
        "a.md:4 max-tokens: Expected a limit in budget or in ceiling, not here",
        "a.md:5 timeout: Expected a limit in budget or in ceiling, not here",
        "a.md:6 mode: Nothing acts on this field; it is kept in extra"
      ])
      assert.deepStrictEqual(new Set(severities), new Set(["warning"]))
      assert.deepStrictEqual(Object.keys(postures[0]!.extra), ["desciption", "max-tokens", "mode", "timeout"])
    }))

  it.effect("refuses merge keys, whose limits would be missing", () =>
    Effect.gen(function*() {
      const { postures, problems } = yield* load({
        "a.md": markdown(["description: Does it", "defaults: &d { budget: { maxTokens: 3 } }", "<<: *d"])
      })

      assert.include(problems, "a.md:4 <<: Expected no merge key; write its fields out")
      assert.deepStrictEqual(postures, [])
    }))

  it.effect("refuses what is nearly a field that holds a run to something", () =>
    Effect.gen(function*() {
      const lines = ["budgett: { maxTokens: 3 }", "maxStep: 3", "allowdTools: [a]"]
      const { postures, problems, severities } = yield* load({ "a.md": markdown(["description: Does it", ...lines]) })

      assert.deepStrictEqual(problems, [
        "a.md:3 budgett: Expected the name budget",
        "a.md:4 maxStep: Expected the name maxSteps",
        "a.md:5 allowdTools: Expected the name allowedTools"
      ])
      assert.deepStrictEqual(new Set(severities), new Set(["error"]))
      assert.deepStrictEqual(postures, [])
    }))

  it.effect("takes no time for a line that is nearly a text with a colon", () =>
    Effect.gen(function*() {
      const lines = [`a: x${": ".repeat(64_000)}\u2028`, `a: x:${" ".repeat(128_000)}\u2028y`]
      const loaded = yield* Effect.forEach(lines, (line) => load({ "bad.md": markdown(["name: b", line]) }))

      // Time that grows with the square of a line's length would be minutes, and over the limit of a test.
      assert.lengthOf(loaded, 2)
    }))

  it.effect("names a posture after its file where it has no name", () =>
    Effect.gen(function*() {
      const { names, problems } = yield* load({
        "writer.md": markdown(["description: Writes"]),
        "Reader.YAML": "description: Reads\ninstructions: You read.\nname:\n",
        "two words.md": markdown(["description: Writes"]),
        "writer.agent.md": markdown(["name: writer.agent", "description: Writes"])
      })

      assert.deepStrictEqual(names, ["Reader", "writer"])
      const expected = "Expected 1 to 52 of the characters a-z A-Z 0-9 _ -"
      assert.deepStrictEqual(problems, [
        `two words.md name: ${expected} in the file's name, or a name in the file`,
        `writer.agent.md:2 name: ${expected}, such as "writer-agent"`
      ])
    }))

  it.effect("takes the default model for inherit", () =>
    Effect.map(load({ "a.md": markdown(["description: Does it", "model: inherit"]) }), ({ postures, problems }) => {
      assert.notProperty(postures[0], "model")
      assert.deepStrictEqual(problems, [])
    }))

  it.effect("gives one version to a posture however its file is written", () =>
    Effect.gen(function*() {
      const text = markdown(["name: a", "description: Does it", "tools: y, x"], "\nYou do it.\n\nWell.\n")
      const block = "instructions: |\n  You do it.\n\n  Well.\ndescription: Does it\ntools: [x, y]\nname: a\n"
      const contents = [text, text.replaceAll("\n", "\r\n"), `\ufeff${text}`]
      const sets = yield* Effect.forEach(contents, (content) => load({ "a.md": content }))
      const versions = [...sets, yield* load({ "a.yaml": block })].map(({ postures }) => Posture.version(postures[0]!))

      assert.lengthOf(versions, 4)
      assert.lengthOf(new Set(versions), 1)
    }))
})

layer(node)("PostureFiles.layer without watching", (it) => {
  it.effect("fills a registry, and fails when there is no such directory", () =>
    Effect.gen(function*() {
      const schemas = { finding: Schema.Struct({ claim: Schema.String }) }
      const folder = yield* directory({ "b.yaml": yaml("b", "report: finding"), "a.yaml": yaml("a"), "bad.yaml": "[" })
      const names = Effect.flatMap(PostureRegistry.PostureRegistry, (registry) =>
        Effect.map(registry.list, (postures) => [
          ...postures.map(({ name }) =>
            name
          ),
          registry.reportSchema("finding")
        ]))
      const layerOf = (path: string) => PostureFiles.layer({ directory: path, watch: false, schemas })

      assert.deepStrictEqual(yield* Effect.provide(names, layerOf(folder)), ["a", "b", schemas.finding])
      assert.strictEqual(
        (yield* Effect.flip(Effect.scoped(Layer.build(layerOf(`${folder}/none`))))).reason,
        "Missing"
      )
    }))
})
