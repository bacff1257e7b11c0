import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ToolCatalog } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Arbitrary, Effect, Layer, Result, Schema } from "effect"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as ChildProcess from "effect/process/ChildProcess"
import { z } from "zod"
import { AiSdkTools, McpTools, StandardTools } from "../../src/index.ts"
import * as ToolNames from "../../src/tools/ToolNames.ts"
import * as McpDouble from "../support/McpDouble.ts"
import * as Tools from "../support/Tools.ts"

const long = "a".repeat(70)

/** Of each: the name of a tool, and the name that a model calls it by. */
const mapped = [
  ["fs.read", "fs_read"],
  ["fs/read file", "fs_read_file"],
  ["größe", "gr__e"],
  ["search", "search"],
  ["task", "tool_task"],
  ["task_x", "tool_task_x"],
  ["task.x", "tool_task_x"],
  ["delegate", "tool_delegate"],
  ["submit_report", "tool_submit_report"],
  ["handoff_to_sales", "tool_handoff_to_sales"],
  ["", "tool_"],
  ["日本", "__"]
] as const

const schema = z.object({})
const foreign = {
  "AI SDK tools": (names: ReadonlyArray<string>, calls: Array<string>, options?: AiSdkTools.NameOptions) =>
    AiSdkTools.from(
      Object.fromEntries(names.map((name) => [name, { inputSchema: schema, execute: () => void calls.push(name) }])),
      options
    ),
  "Standard Schema tools": (names: ReadonlyArray<string>, calls: Array<string>, options?: StandardTools.NameOptions) =>
    StandardTools.from(
      Object.fromEntries(names.map((name) => [name, { input: schema, execute: () => void calls.push(name) }])),
      options
    ),
  "tools of an MCP server": (names: ReadonlyArray<string>, calls: Array<string>, options?: McpTools.NameOptions) =>
    McpTools.from(
      McpDouble.make(names, (name) =>
        Effect.sync(() => {
          calls.push(name)
          return { content: [] }
        })).client,
      options
    )
} satisfies { readonly [what: string]: (...args: Array<any>) => Tools.AnyToolkit }

for (const [what, make] of Object.entries(foreign)) {
  describe(`F16 names of ${what}`, () => {
    for (const [own, name] of mapped) {
      it.effect(`F16 ${JSON.stringify(own)} is ${name} for a model, and is called under its own name`, () =>
        Effect.gen(function*() {
          const calls: Array<string> = []
          const { tools } = yield* Tools.run(make([own], calls), Step.call(name))

          assert.deepStrictEqual(tools.map((tool) => tool.name), [name])
          assert.deepStrictEqual(calls, [own])
        }))
    }

    it.effect("F16 a name that is too long is cut, the same each time, and differs from others like it", () =>
      Effect.gen(function*() {
        const names = Effect.map(
          Tools.run(make([`${long}x`, `${long}y`], []), Step.call("none")),
          ({ tools }) => tools.map(({ name }) => name)
        )
        const first = yield* names

        assert.deepStrictEqual(yield* names, first)
        assert.strictEqual(new Set(first).size, 2)
        for (const name of first) assert.match(name, /^a{55}_[0-9a-f]{8}$/)
      }))

    it.effect("F16 a prefix, names of one's own and a choice of tools are taken", () =>
      Effect.gen(function*() {
        const calls: Array<string> = []
        const options = { prefix: "files.", include: ["fs.read", "fs.list"], rename: { "fs.list": "ls" } }
        const { tools } = yield* Tools.run(
          make(["fs.read", "fs.list", "fs.remove"], calls, options),
          Step.call("files_fs_read"),
          Step.call("ls")
        )
        const functions = yield* Tools.run(
          make(["fs.read", "fs.list"], calls, {
            include: (name) => name !== "fs.list",
            rename: (name) => name === "fs.read" ? "cat" : undefined
          }),
          Step.call("cat")
        )

        assert.deepStrictEqual(functions.tools.map(({ name }) => name), ["cat"])
        assert.deepStrictEqual(tools.map(({ name }) => name), ["files_fs_read", "ls"])
        assert.deepStrictEqual(calls, ["fs.read", "fs.list", "fs.read"])
      }))

    it.effect("F16 two tools that would have one name are a problem that names both", () =>
      Effect.gen(function*() {
        const problems = yield* Tools.problems(make(["fs.read", "fs/read", "other"], []))

        assert.deepStrictEqual(problems, [
          "ToolNameCollision: the tools \"fs.read\" and \"fs/read\" would both be named \"fs_read\"; give one another name with rename"
        ])
      }))

    it.effect("F16 options that name no tool, and names that providers refuse, are problems", () =>
      Effect.gen(function*() {
        const problems = yield* Tools.problems(
          make(["a", "b"], [], { include: ["a", "c"], rename: { a: "x.y", d: "e" } })
        )

        assert.deepStrictEqual(problems.map((problem) => problem.split(":")[0]), [
          "InvalidSetting",
          "InvalidSetting",
          "InvalidToolName"
        ])
        assert.include(problems[0], "\"c\"")
        assert.include(problems[1], "\"d\"")
        assert.include(problems[2], "the tool \"a\" cannot be named \"x.y\"")
      }))
  })
}

describe("F16 names", () => {
  it.effect("F16 the catalog has tools of an MCP server under the names for a model", () =>
    Effect.gen(function*() {
      const { calls, client } = McpDouble.make(["fs.read"])
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* ToolCatalog.names, ["fs_read"])
        yield* (yield* AgentBuilder.make("a").withCatalogTools(["fs_read"]).build()).run("Go")
      }).pipe(Effect.provide([
        ToolCatalog.layerToolkit(McpTools.from(client)).pipe(Layer.provideMerge(ToolCatalog.layer)),
        Mandate.layerMemory,
        ScriptedModel.layer({ a: [Step.call("fs_read"), Step.text("done")] })
      ]))

      assert.deepStrictEqual(calls, ["fs.read"])
    }))

  it.prop(
    "F16 whatever a name is, its name for a model is one that providers take",
    { name: Arbitrary.schema(Schema.String), prefix: Arbitrary.schema(Schema.String) },
    ({ name, prefix }) => {
      const [made] = Result.getOrThrow(ToolNames.make([{ name }], { prefix }))

      assert.match(made!.name, /^(?!(submit_report|task|task_.*|delegate|handoff_to_.*)$)[a-zA-Z0-9_-]{1,64}$/)
    }
  )

  it.live("F16 a server over stdio is called under the names that it has", () =>
    Effect.gen(function*() {
      const transport = yield* McpClient.stdio({
        command: ChildProcess.make(process.execPath, [`${import.meta.dirname}/../support/McpFiles.ts`]),
        protocol: McpProtocol.v2025_11_25
      })
      const client = yield* McpClient.make({ name: "test", version: "1.0.0" }).pipe(
        Effect.provideService(McpClient.Transport, transport)
      )
      const { results, tools } = yield* Tools.run(
        McpTools.from(client),
        Step.call("fs_read", { path: "x" }),
        Step.call("tool_task_list")
      )

      assert.deepStrictEqual(tools.map(({ name }) => name), ["fs_read", "tool_task_list"])
      assert.deepStrictEqual(results, [
        [false, [
          { type: "text", text: "read x" },
          { type: "file", mediaType: "image/png", data: { type: "base64", base64: "iVBORw0KGgo=" } },
          { type: "text", text: "Resource a.txt: file:///a.txt" }
        ]],
        [false, "listed"]
      ])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 20_000)
})
