import { assert, layer } from "@effect/vitest"
import { Posture, PostureRegistry } from "@mandate/core"
import { PostureFiles } from "@mandate/core/postures"
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { directory, type Files, markdown, node, yaml } from "./folder.ts"

const load = Effect.fnUntraced(function*(files: Files, options?: PostureFiles.LoadOptions) {
  const path = yield* directory(files)
  return shown(path, yield* PostureFiles.load(path, options))
})

// Problems without the part of their paths that differs each time.
const shown = (path: string, { postures, problems }: PostureFiles.Loaded) => ({
  postures,
  names: postures.map(({ name }) => name),
  problems: problems.map((problem) => PostureFiles.format(problem).replaceAll(`${path}/`, "")),
  severities: problems.map(({ severity }) => severity)
})

// A file that has one error, beside one that is valid.
const problemsOf = (content: string | Uint8Array, name = "bad.yaml", options?: PostureFiles.LoadOptions) =>
  Effect.map(load({ [name]: content, "good.yaml": yaml("good") }, options), ({ names, problems, severities }) => {
    assert.deepStrictEqual(names, ["good"])
    assert.include(severities, "error")
    return problems
  })

const warningsOf = (content: string, name = "a.yaml", options?: PostureFiles.LoadOptions) =>
  Effect.map(load({ [name]: content }, options), ({ postures, problems, severities }) => {
    assert.lengthOf(postures, 1)
    assert.notInclude(severities, "error")
    return problems
  })

const bare = (name: string) => ({ name, description: "Does it", instructions: "You do it." })

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
        `writer.agent.md:2 name: ${expected}`
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

  it.effect("reports every problem of a file with its line and field, and quotes no value", () =>
    Effect.gen(function*() {
      const secret = "s3cr3t"
      const problems = yield* problemsOf([
        "name: " + secret + " " + secret,
        "tools: [search, 7]",
        "settings:",
        `  temperature: ${secret}`,
        "budget:",
        "  maxTokens: \"10\"",
        "  maxToolCalls: -1",
        "  timeout: 60",
        "ceiling: { maxTokens: .inf, timeoutSeconds: 0 }".replace(".inf", "1.5"),
        `maxSteps: ${secret}`,
        "max_depth: 2",
        `report: [${secret}]`
      ].join("\n"))

      assert.deepStrictEqual(problems, [
        "bad.yaml description: Missing key",
        "bad.yaml instructions: Missing key",
        "bad.yaml:1 name: Expected 1 to 52 of the characters a-z A-Z 0-9 _ -",
        "bad.yaml:2 tools[1]: Expected text",
        "bad.yaml:4 settings.temperature: Expected number",
        "bad.yaml:6 budget.maxTokens: Expected a positive whole number",
        "bad.yaml:7 budget.maxToolCalls: Expected a positive whole number",
        "bad.yaml:8 budget.timeout: Expected a duration with its unit, such as \"60 seconds\"",
        "bad.yaml:9 ceiling.timeoutSeconds: Expected a positive number of seconds",
        "bad.yaml:9 ceiling.maxTokens: Expected a positive whole number",
        "bad.yaml:10 maxSteps: Expected a positive whole number",
        "bad.yaml:11 max_depth: Expected the name maxDepth",
        "bad.yaml:12 report: Expected the name of a schema, or a JSON Schema"
      ])
    }))

  it.effect("gives the lines of a Markdown file, not of its front matter", () =>
    Effect.gen(function*() {
      const text = ["---", "description: Does it", "budget:", "  maxTokens: 0", "---", "", " ", ""].join("\r\n")

      assert.deepStrictEqual(yield* problemsOf(text, "bad.md"), [
        "bad.md:4 budget.maxTokens: Expected a positive whole number",
        "bad.md:6 instructions: Expected instructions below the front matter"
      ])
      assert.deepStrictEqual(yield* problemsOf(markdown(["description: [a", "name: b"]), "bad.md"), [
        "bad.md:3: Expected another indentation, or a bracket closed before"
      ])
    }))
})

layer(node)("PostureFiles.load of bad input", (it) => {
  it.effect("warns of tools that there are not, where the tools are known", () =>
    Effect.gen(function*() {
      const tools = ["search"]
      const list = markdown(["description: Does it", "tools:", "  - search", "  - serch", "  - delegate"])
      const commas = markdown(["description: Does it", "tools: serch, search"])

      assert.deepStrictEqual(yield* warningsOf(list, "a.md", { tools }), [
        "a.md:5 tools[1]: There is no tool \"serch\""
      ])
      assert.deepStrictEqual(yield* warningsOf(commas, "a.md", { tools }), ["a.md:3 tools: There is no tool \"serch\""])
      assert.deepStrictEqual(yield* warningsOf(list, "a.md"), [])
      assert.lengthOf(yield* warningsOf(list, "a.md", { tools: [] }), 2)
    }))

  it.effect("refuses report schemas that are not registered or are none", () =>
    Effect.gen(function*() {
      const schemas = { finding: Schema.Struct({ claim: Schema.String }) }
      const problems = (report: string, options?: PostureFiles.LoadOptions) =>
        problemsOf(yaml("bad", report), "bad.yaml", options)

      assert.deepStrictEqual(yield* warningsOf(yaml("a", "report: finding"), "a.yaml", { schemas }), [])
      assert.deepStrictEqual(yield* warningsOf(yaml("a", "report: { name: finding }"), "a.yaml", { schemas }), [])
      assert.deepStrictEqual(yield* problems("report: other", { schemas }), [
        "bad.yaml:4 report: There is no report schema of this name; known: finding"
      ])
      assert.deepStrictEqual(yield* problems("report: finding"), [
        "bad.yaml:4 report: There is no report schema of this name; known: none"
      ])
      assert.deepStrictEqual(yield* problems("report:\n  name: 5"), ["bad.yaml:5 report.name: Expected text"])
      assert.deepStrictEqual(yield* problems("report: 5"), [
        "bad.yaml:4 report: Expected the name of a schema, or a JSON Schema"
      ])
      assert.deepStrictEqual(
        yield* problems("report: { type: object, properties: { a: { not: { type: string } } } }"),
        [
          "bad.yaml:4 report: The schema cannot be enforced at properties.a.not"
        ]
      )
    }))

  it.effect("keeps the first of two files with one name, and names both", () =>
    Effect.gen(function*() {
      const path = yield* directory({
        "b.yaml": yaml("same", "maxSteps: 2"),
        "a.md": markdown(["name: same", "description: A"])
      })
      const { postures, problems } = yield* PostureFiles.load(path)

      assert.deepStrictEqual(postures.map(({ description }) => description), ["A"])
      assert.deepStrictEqual(problems, [{
        severity: "error",
        file: `${path}/b.yaml`,
        line: 1,
        field: "name",
        message: `The name "same" is taken by ${path}/a.md, which is kept`
      }])
    }))

  it.effect("refuses what is no UTF-8", () =>
    Effect.gen(function*() {
      const latin = Uint8Array.from([...new TextEncoder().encode(yaml("bad")), 0xe9])

      assert.deepStrictEqual(yield* problemsOf(latin), ["bad.yaml: Expected text in UTF-8"])
    }))

  it.effect("refuses a file that is too large, and takes one that just fits", () =>
    Effect.gen(function*() {
      const text = yaml("big", "# ")
      const fits = text.trimEnd() + "x".repeat(PostureFiles.maxFileBytes - text.trimEnd().length)

      assert.deepStrictEqual(yield* warningsOf(fits), [])
      assert.deepStrictEqual(yield* problemsOf(`${fits}x`), [
        `bad.yaml: Expected at most ${PostureFiles.maxFileBytes} bytes`
      ])
    }))

  it.effect("bounds nesting", () =>
    Effect.gen(function*() {
      const nested = (levels: number) => `x: ${"[".repeat(levels)}${"]".repeat(levels)}`

      assert.lengthOf(yield* warningsOf(yaml("a", nested(32))), 1)
      for (
        const text of [nested(33), nested(1000), nested(100_000), `x: ${"{a: ".repeat(50_000)}`, "- ".repeat(100_000)]
      ) {
        const problems = yield* problemsOf(yaml("bad", text))
        assert.isAtMost(problems.length, 17)
        assert.isTrue(problems.some((problem) => problem.includes("Expected")), problems.join())
      }
      const [problem] = yield* problemsOf(yaml("bad", nested(33)))
      assert.match(problem!, /^bad\.yaml:4 x\[0\].*: Expected at most 32 levels of nesting$/)
    }))

  it.effect("follows aliases, within bounds", () =>
    Effect.gen(function*() {
      const shared = yield* load({ "a.yaml": yaml("a", "budget: &limits { maxTokens: 5 }", "ceiling: *limits") })
      const laughs = ["l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
      for (let n = 1; n < 12; n++) laughs.push(`l${n}: &l${n} [${Array(10).fill(`*l${n - 1}`).join(", ")}]`)
      const long = [`x: &x "${"x".repeat(20_000)}"`, `y: [${Array(100).fill("*x").join(", ")}]`]

      assert.deepStrictEqual(shared.postures[0]!.ceiling, { maxTokens: 5 })
      assert.match((yield* problemsOf(yaml("bad", ...laughs)))[0]!, /: Expected at most 10000 values$/)
      assert.match((yield* problemsOf(yaml("bad", ...long)))[0]!, /: Expected at most 1048576 characters$/)
      assert.match((yield* problemsOf(yaml("bad", "x: &x [*x]")))[0]!, /: Expected at most 32 levels of nesting$/)
      assert.deepStrictEqual(yield* problemsOf(yaml("bad", "x: *y")), [
        "bad.yaml:4 x: Expected the alias of an anchor above"
      ])
    }))

  it.effect("takes as many values and characters as there may be, and says once that there are more", () =>
    Effect.gen(function*() {
      // The fields of the file are values themselves, as the list is.
      const values = (count: number) => yaml("bad", `x: [${Array(count).fill("0").join(", ")}]`)
      const characters = (rest: number) =>
        yaml(
          "bad",
          `x: &x "${"x".repeat(20_000)}"`,
          `y: [${Array(51).fill("*x").join(", ")}, "${"x".repeat(rest)}"]`,
          "z: 1"
        )

      assert.lengthOf(yield* warningsOf(values(9995)), 1)
      assert.deepStrictEqual(yield* problemsOf(values(9996)), ["bad.yaml:4 x[9995]: Expected at most 10000 values"])
      assert.lengthOf(yield* warningsOf(characters(8526)), 3)
      assert.deepStrictEqual(yield* problemsOf(characters(8600)), [
        "bad.yaml:5 y[51]: Expected at most 1048576 characters"
      ])
    }))

  it.effect("reports as many problems of a text as anybody reads", () =>
    Effect.gen(function*() {
      const twice = Array.from({ length: 40 }, (_, n) => [`x${n}: 1`, `x${n}: 2`]).flat()

      assert.lengthOf(yield* problemsOf(yaml("bad", ...twice)), 16)
    }))

  it.effect("refuses fields that are there twice, and names the field and its second line", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* problemsOf(yaml("bad", "budget:", "  maxTokens: 5", "  maxTokens: 50", "name: b")),
        [
          "bad.yaml:6 budget.maxTokens: Expected each field once",
          "bad.yaml:7 name: Expected each field once"
        ]
      )
      assert.deepStrictEqual(yield* problemsOf(markdown(["description: A", "description: B"]), "bad.md"), [
        "bad.md:3 description: Expected each field once"
      ])
    }))

  it.effect("says what is wrong beside a text that is not in quotes, and not that text in its place", () =>
    Effect.gen(function*() {
      const description = "description: Use this when: a change is ready"
      const quotes = "bad.md:2 description: Expected quotes around this text; it is taken as it stands"
      const problemsAt = (...lines: ReadonlyArray<string>) => problemsOf(markdown([description, ...lines]), "bad.md")

      assert.deepStrictEqual(yield* problemsAt("tools: Read", "tools: Write"), [
        quotes,
        "bad.md:4 tools: Expected each field once"
      ])
      assert.deepStrictEqual(yield* problemsAt("budget: !!map { maxTokens: 5 }"), [
        quotes,
        "bad.md:3 budget: Expected no tags"
      ])
    }))

  it.effect("keeps __proto__ as a plain name", () =>
    Effect.gen(function*() {
      const text = yaml("a", "__proto__: { polluted: true }", "constructor: 5", "toString:")
      const { postures, problems } = yield* load({ "a.yaml": text })

      assert.deepStrictEqual(Object.keys(postures[0]!.extra).sort(), ["__proto__", "constructor", "toString"])
      assert.lengthOf(problems, 3)
      assert.isUndefined(({} as { polluted?: unknown }).polluted)
      assert.deepStrictEqual(yield* problemsOf(yaml("bad", "budget:", "  __proto__: { maxTokens: 5 }")), [
        "bad.yaml:5 budget.__proto__: Unexpected key"
      ])
    }))

  it.effect.each(
    [
      ["allowed-tools: Read", "allowed-tools", "allowedTools"],
      ["allowed_tools: [Read]", "allowed_tools", "allowedTools"],
      ["Tools: Read", "Tools", "tools"],
      ["Budget: { maxTokens: 5 }", "Budget", "budget"],
      ["CEILING: { maxTokens: 5 }", "CEILING", "ceiling"],
      ["\"max depth\": 1", "max depth", "maxDepth"],
      ["max_steps: 1", "max_steps", "maxSteps"],
      ["Report: finding", "Report", "report"]
    ] as const
  )("refuses what would be a limit with its right name: %s", ([line, field, name]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* problemsOf(yaml("a", line)), [`bad.yaml:4 ${field}: Expected the name ${name}`])
    }))

  it.effect.each(["budget", "ceiling", "report", "maxDepth", "maxSteps"])("refuses a limit that lost its value: %s", (
    field
  ) =>
    Effect.gen(function*() {
      assert.include(
        yield* problemsOf(yaml("a", `${field}:`, "maxTokens: 5")),
        `bad.yaml:4 ${field}: Expected a value; leave the field out to set none`
      )
    }))

  it.effect("takes extra for what it is, beside the fields that it does not know", () =>
    Effect.gen(function*() {
      const { postures, problems } = yield* load({ "a.yaml": yaml("a", "extra: { owner: ops }", "color: blue") })

      assert.deepStrictEqual(postures[0]!.extra, { owner: "ops", color: "blue" })
      assert.deepStrictEqual(problems, ["a.yaml:5 color: Nothing acts on this field; it is kept in extra"])
      assert.deepStrictEqual(yield* problemsOf(yaml("a", "extra: 5")), ["bad.yaml:4 extra: Expected object"])
      assert.include(
        yield* problemsOf(yaml("a", "extra: { color: red }", "color: blue")),
        "bad.yaml:5 color: Expected each field once; it is in extra too"
      )
    }))

  it.effect("refuses numbers that are none, are not positive, or are texts", () =>
    Effect.gen(function*() {
      for (const value of [".nan", ".inf", "-.inf"]) {
        assert.deepStrictEqual(yield* problemsOf(yaml("bad", `budget: { maxTokens: ${value} }`)), [
          "bad.yaml:4 budget.maxTokens: Expected a finite number"
        ])
      }
      for (
        const value of [
          "0",
          "-1",
          "1.5",
          "\"10\"",
          "20_000",
          "ten",
          "true",
          "[]",
          "",
          "1e400",
          "0x10",
          "9007199254740993"
        ]
      ) {
        const text = yaml("bad", "budget:", `  maxTokens: ${value}`)
        if (value === "0x10") assert.deepStrictEqual(yield* warningsOf(text), [])
        else {
          assert.deepStrictEqual(yield* problemsOf(text), [
            `bad.yaml:5 budget.maxTokens: Expected a ${value === "1e400" ? "finite" : "positive whole"} number`
          ])
        }
      }
    }))

  it.effect("refuses times without a unit, or that are not positive", () =>
    Effect.gen(function*() {
      const unit = "Expected a duration with its unit, such as \"60 seconds\""
      const problem = (line: string) =>
        Effect.map(
          problemsOf(yaml("bad", "budget:", `  ${line}`)),
          ([first]) => first!.replace("bad.yaml:5 budget.", "")
        )

      assert.strictEqual(yield* problem("timeout: 60"), `timeout: ${unit}`)
      assert.strictEqual(yield* problem("timeout: soon"), `timeout: ${unit}`)
      assert.strictEqual(yield* problem("timeout: 0 seconds"), "timeout: Expected a positive, finite duration")
      assert.strictEqual(yield* problem("timeout: -5 seconds"), "timeout: Expected a positive, finite duration")
      assert.strictEqual(yield* problem("timeout: Infinity"), "timeout: Expected a positive, finite duration")
      assert.strictEqual(yield* problem("timeoutSeconds: 0"), "timeoutSeconds: Expected a positive number of seconds")
      assert.strictEqual(
        yield* problem("timeoutSeconds: \"5\""),
        "timeoutSeconds: Expected a positive number of seconds"
      )
      assert.strictEqual(
        yield* problem("{ timeout: 5 seconds, timeoutSeconds: 5 }"),
        "timeout: Expected timeout or timeoutSeconds, not both"
      )
    }))

  it.effect("refuses texts that are no YAML, several documents, tags, and what has no fields", () =>
    Effect.gen(function*() {
      const secret = "s3cr3t"
      const texts: { readonly [text: string]: string } = {
        "": "bad.yaml:1: Expected fields, such as name",
        "# nothing": "bad.yaml:1: Expected fields, such as name",
        [secret]: "bad.yaml:1: Expected fields with names",
        [`- ${secret}`]: "bad.yaml:1: Expected fields with names",
        [`name: "${secret}`]: "bad.yaml:1: Expected a closing bracket, quote or colon",
        [`name: a\n\tmodel: ${secret}`]: "bad.yaml:2: Expected spaces, not tabs, as indentation",
        [`name: a: ${secret}`]: "bad.yaml:1: Expected quotes around a text with \": \" in it",
        [`name: @${secret}`]: "bad.yaml:1: Expected quotes around a text that starts like this",
        [`name: a\n---\nname: ${secret}`]: "bad.yaml:2: Expected one document",
        [`name: !${secret} a`]: "bad.yaml:1: Expected no tags",
        [`name: !!binary ${secret}`]: "bad.yaml:1 name: Expected no tags",
        [`name: !!str ${secret}`]: "bad.yaml:1 name: Expected no tags",
        [`name: ! ${secret}`]: "bad.yaml:1 name: Expected no tags",
        [`name: a\nbudget: !!map { ${secret}: 1 }`]: "bad.yaml:2 budget: Expected no tags",
        [`name: a\nx: !!set { ${secret} }`]: "bad.yaml:2 x: Expected no tags",
        [`!!map { name: ${secret} }`]: "bad.yaml:1: Expected no tags",
        [`!!str name: ${secret}`]: "bad.yaml:1: Expected no tags",
        [`? [${secret}]\n: a`]: "bad.yaml:1: Expected a name before the colon",
        [`: ${secret}`]: "bad.yaml:1: Expected a name before the colon",
        [`}${secret}`]: "bad.yaml:1: Expected YAML"
      }
      for (const [text, problem] of Object.entries(texts)) {
        const problems = yield* problemsOf(text)
        assert.include(problems, problem, text)
        assert.notInclude(problems.join(), secret)
      }
    }))

  it.effect("refuses Markdown without front matter or without instructions, and instructions in two places", () =>
    Effect.gen(function*() {
      const missing = "bad.md:1: Expected front matter, which starts with a line of ---"

      assert.deepStrictEqual(yield* problemsOf("", "bad.md"), [missing])
      assert.deepStrictEqual(yield* problemsOf("# Agents\n\n---\nname: a\n---\n", "bad.md"), [missing])
      assert.deepStrictEqual(yield* problemsOf("---\ndescription: A\n", "bad.md"), [
        "bad.md:1: Expected a second line of ---"
      ])
      assert.deepStrictEqual(yield* problemsOf("---\n---\nYou do it.\n", "bad.md"), [
        "bad.md:1: Expected fields, such as name"
      ])
      assert.deepStrictEqual(yield* problemsOf(markdown(["description: A", "instructions: B"]), "bad.md"), [
        "bad.md:3 instructions: Expected no instructions beside the text below"
      ])
      assert.deepStrictEqual(yield* problemsOf(markdown(["description: A", "instructions: 5"]), "bad.md"), [
        "bad.md:3 instructions: Expected text"
      ])
      assert.deepStrictEqual(yield* warningsOf(markdown(["description: A", "instructions: B"], ""), "a.md"), [])
      assert.deepStrictEqual(yield* problemsOf(yaml("bad").replace("You do it.", "\"  \""), "bad.yaml"), [
        "bad.yaml:3 instructions: Expected text that is not blank"
      ])
      assert.deepStrictEqual(yield* problemsOf(yaml("bad", "tools: a", "allowedTools: b"), "bad.yaml"), [
        "bad.yaml:5 allowedTools: Expected tools or allowedTools, not both"
      ])
    }))

  it.effect("leaves the temporary files of editors alone", () =>
    Effect.gen(function*() {
      const broken = "name: [\n"
      const { names, problems } = yield* load({
        "a.yaml": yaml("a"),
        ".a.yaml.swp": broken,
        ".#a.yaml": broken,
        ".hidden.md": broken,
        "#a.yaml#": broken,
        "a.yaml~": broken,
        "a.yaml.bak": broken,
        "4913": broken,
        "notes.txt": broken,
        ".md": broken
      })

      assert.deepStrictEqual(names, ["a"])
      assert.deepStrictEqual(problems, [])
    }))

  it.effect("says each problem on one line, and of names that are no text as well", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a\nb.yaml": "5" })
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/c`), Buffer.of(0xff), Buffer.from(".yaml")]), yaml("c"))
      const { problems } = shown(folder, yield* PostureFiles.load(folder))

      assert.deepStrictEqual(problems, [
        "a\\u000ab.yaml:1: Expected fields with names",
        "c\ufffd.yaml: Expected a name in UTF-8"
      ])
    }))

  it.effect("follows links, reports those that point nowhere, and does not read directories inside", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const elsewhere = yield* directory({ "posture": yaml("linked") })
      const folder = yield* directory({ "a.yaml": yaml("a") })
      yield* fs.symlink(path.join(elsewhere, "posture"), path.join(folder, "linked.yaml"))
      yield* fs.symlink(path.join(elsewhere, "nothing"), path.join(folder, "nowhere.md"))
      yield* fs.symlink("loop.md", path.join(folder, "loop.md"))
      yield* fs.makeDirectory(path.join(folder, "inner.md"))
      const { names, problems, severities } = shown(folder, yield* PostureFiles.load(folder))

      assert.deepStrictEqual(names, ["a", "linked"])
      assert.deepStrictEqual(problems, [
        "inner.md: Directories inside are not read",
        "loop.md: Cannot be read: BadResource",
        "nowhere.md: This link points nowhere"
      ])
      assert.deepStrictEqual(severities, ["warning", "error", "error"])
    }))

  it.effect("does not wait for what is written to a pipe", () =>
    Effect.gen(function*() {
      const folder = yield* directory({ "a.yaml": yaml("a") })
      execFileSync("mkfifo", [`${folder}/pipe.yaml`])

      assert.deepStrictEqual(shown(folder, yield* PostureFiles.load(folder)).problems, [
        "pipe.yaml: Expected a regular file"
      ])
    }))

  it.effect("fails when there is no such directory", () =>
    Effect.gen(function*() {
      const path = yield* Path.Path
      const folder = yield* directory({ "a.yaml": yaml("a") })
      const missing = yield* Effect.flip(PostureFiles.load(path.join(folder, "none")))
      const file = yield* Effect.flip(PostureFiles.load(path.join(folder, "a.yaml")))

      assert.instanceOf(missing, PostureFiles.PostureDirectoryError)
      assert.strictEqual(missing.reason, "Missing")
      assert.strictEqual(missing.message, `Postures cannot be read from ${folder}/none: it does not exist`)
      assert.strictEqual(file.reason, "NotADirectory")
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
