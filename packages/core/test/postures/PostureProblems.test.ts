import { assert, layer } from "@effect/vitest"
import { PostureFiles } from "@mandate/core/postures"
import { Effect, Schema } from "effect"
import { directory, markdown, node, yaml } from "./folder.ts"
import { load, problemsOf, warningsOf } from "./loading.ts"

layer(node)("what PostureFiles.load says is wrong", (it) => {
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
})
