import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Mandate } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as ChildProcess from "effect/process/ChildProcess"
import { McpTools } from "../src/index.ts"
import * as Tools from "./support/Tools.ts"

// A client of the test server, a program of its own that ends with the scope.
const connect = Effect.flatMap(
  McpClient.stdio({
    command: ChildProcess.make(process.execPath, [`${import.meta.dirname}/support/McpServer.ts`]),
    protocol: McpProtocol.v2025_11_25
  }),
  (transport) =>
    Effect.provideService(
      McpClient.make({ name: "mandate-test", version: "1.0.0" }),
      McpClient.Transport,
      transport
    )
)
const listed = (client: McpClient.McpClient, prefix?: string) => McpTools.from(client, { prefix })
const live = Effect.provide(NodeServices.layer)
const failed = (reason: string, message: string) => [true, { error: { reason, message } }] as const

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("withToolkit and effect/ai's MCP client, over stdio", () => {
  it.live(
    "lists the tools of a server, passes parsed arguments, and gives results and failures",
    () =>
      Effect.gen(function*() {
        const { results, tools } = yield* Tools.run(
          McpClient.toolkit(yield* connect, "tides_"),
          Step.call("tides_high_water", { port: "Bergen", days: [1, 2] }),
          Step.call("tides_low_water", {})
        )

        assert.deepStrictEqual(tools.map(({ name }) => name), [
          "tides_high_water",
          "tides_low_water",
          "tides_storm",
          "tides_picture",
          "tides_pid",
          "tides_exit",
          "tides_hang"
        ])
        assert.strictEqual(tools[0]!.description, "Says when the water is high")
        assert.deepInclude(tools[0]!.inputSchema, { type: "object", required: ["port"] })
        assert.deepStrictEqual(results[0], [false, "{\"port\":\"Bergen\",\"days\":[1,2]}"])
        assert.isTrue(results[1]![0])
        assert.include(JSON.stringify(results[1]![1]), "the gauge is dry")
      }).pipe(Effect.scoped, live),
    20_000
  )
})

describe("McpTools over stdio", () => {
  it.live("gives the text of a result, and the words of a tool that fails", () =>
    Effect.gen(function*() {
      const { results, tools } = yield* Tools.run(
        listed(yield* connect),
        Step.call("high_water", { port: "Bergen" }),
        Step.call("low_water", {}),
        Step.call("storm", {})
      )

      assert.deepStrictEqual(results.slice(0, 2), [
        [false, "{\"port\":\"Bergen\"}"],
        failed("ToolError", "the gauge is dry")
      ])
      assert.isBelow(JSON.stringify(results[2]).length, 9_000)
      assert.include(tools.map(({ name }) => name), "high_water")
    }).pipe(Effect.scoped, live), 20_000)

  it.live("gives arguments that the server refuses as a failure of the tool", () =>
    Effect.gen(function*() {
      const { results: [result] } = yield* Tools.run(
        listed(yield* connect),
        Step.call("high_water", { port: 3 })
      )

      assert.isTrue(result![0])
      assert.include(JSON.stringify(result), "port")
    }).pipe(Effect.scoped, live), 20_000)

  it.live(
    "says of a result that is no text that there was one, where McpClient.toolkit has left it out",
    () =>
      Effect.gen(function*() {
        const toolkit = McpTools.from(McpClient.toolkit(yield* connect))
        const { results } = yield* Tools.run(
          toolkit,
          Step.call("picture", {}),
          Step.call("high_water", { port: "Oslo" })
        )

        assert.deepStrictEqual(results, [
          [false, "The call succeeded. Its result is of a kind that cannot be shown, and was left out."],
          [false, "{\"port\":\"Oslo\"}"]
        ])
      }).pipe(Effect.scoped, live),
    20_000
  )

  it.live("fails the calls of a server that dies, and lets the run go on", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        clerk: [Step.call("exit", {}), Step.call("high_water", { port: "Bergen" }), Step.text("done")]
      })
      const agent = Tools.withToolkit(listed(yield* connect))
      const { status } = yield* Effect.flatMap(agent.build(), (built) => built.run("Go")).pipe(
        Effect.provide([Mandate.layerMemory, ScriptedModel.layerOf(model)])
      )

      assert.strictEqual(status._tag, "Completed")
      const results = (yield* model.requests).at(-1)!.request.messages.flatMap((message) =>
        message.role === "tool" ? message.content.map(({ isError, output }) => [isError, output.value] as const) : []
      )
      assert.deepStrictEqual(results, [
        failed("TransportError", "The connection to the server failed"),
        failed("TransportError", "The connection to the server failed")
      ])
    }).pipe(Effect.scoped, live), 20_000)

  it.live("is a problem of the definition when the server is gone already", () =>
    Effect.gen(function*() {
      const client = yield* Effect.scoped(connect)
      const problems = yield* Tools.problems(listed(client)).pipe(Effect.provide(Logger.layer([])))

      assert.lengthOf(problems, 1)
      assert.match(problems[0]!, /^HandlersFailed: the tools of an MCP server could not be listed: \w+Error$/)
    }).pipe(live), 20_000)

  it.live("interrupts a call that hangs, and the server goes on", () =>
    Effect.gen(function*() {
      const client = yield* connect
      yield* Effect.gen(function*() {
        const agent = yield* Tools.withToolkit(listed(client)).build()
        const fiber = yield* Effect.forkChild(agent.run("Go"))
        yield* Effect.sleep("50 millis")
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide([Mandate.layerMemory, ScriptedModel.layer({ clerk: [Step.call("hang", {})] })]))
      const { results } = yield* Tools.run(listed(client), Step.call("high_water", { port: "Oslo" }))

      assert.deepStrictEqual(results, [[false, "{\"port\":\"Oslo\"}"]])
    }).pipe(Effect.scoped, live), 20_000)

  it.live("ends the server's process with the scope that an agent was bound in", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const toolkit = Effect.flatMap(connect, (client) => listed(client))
      const model = yield* ScriptedModel.make({ clerk: [Step.call("pid", {}), Step.text("done")] })
      const agent = yield* Tools.agent.withToolkit(toolkit).build().pipe(
        Effect.provideContext(yield* Layer.build(Layer.merge(Mandate.layerMemory, ScriptedModel.layerOf(model)))),
        Effect.provideService(Scope.Scope, scope)
      )
      yield* agent.run("Go")
      const text = JSON.stringify((yield* model.requests).at(-1)!.request.messages.at(-1))
      const pid = Number(/"value":"(\d+)"/.exec(text)![1])

      assert.isTrue(isAlive(pid))
      yield* Scope.close(scope, Exit.void)
      yield* Effect.sleep("100 millis")
      assert.isFalse(isAlive(pid))
    }).pipe(Effect.scoped, live), 20_000)
})
