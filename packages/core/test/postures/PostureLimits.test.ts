import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { markdown, node, yaml } from "./folder.ts"
import { load, problemsOf, warningsOf } from "./loading.ts"

layer(node)("PostureFiles.load of values", (it) => {
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
        [`}${secret}`]: "bad.yaml:1: Expected YAML: quote the whole text, or indent its lines"
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
})
