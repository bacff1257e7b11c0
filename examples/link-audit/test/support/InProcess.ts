/** The command in the process of the test. */
import { NodeServices } from "@effect/platform-node"
import { type ModelClient, ModelRegistry, type ModelRequest, type RunEvent } from "@mandate/core"
import { Effect, Fiber, FileSystem, Layer, type Scope } from "effect"
import { Output } from "../../../support/src/Output.ts"
import * as Written from "../../../support/test/Written.ts"
import * as Command from "../../src/Command.ts"
import type * as Models from "../../src/Models.ts"
import type * as Options from "../../src/Options.ts"
import * as ScriptedModel from "../../src/ScriptedModel.ts"

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: ReadonlyArray<string>
}

/** A command at work, and what it wrote so far. */
export interface Running {
  readonly fiber: Fiber.Fiber<number>
  readonly stdout: () => string
  readonly stderr: ReadonlyArray<string>
  /** Waits until a line with a text was written to stderr. */
  readonly logged: (text: string) => Effect.Effect<void>
}

/** Starts the command with variables of its own. It is interrupted when the scope closes. */
export const start = (args: ReadonlyArray<string>, environment: Models.Environment) =>
  starting(Command.run(args, environment))

/** Runs the command with variables of its own, and gives what was printed. */
export const run = (args: ReadonlyArray<string>, environment: Models.Environment) =>
  Effect.scoped(Effect.flatMap(start(args, environment), ended))

/** Audits a folder with a model, and gives what was printed. */
export const audit = (
  options: Pick<Options.Options, "folder"> & Partial<Options.Options>,
  client: ModelClient.ModelClient = ScriptedModel.make(ScriptedModel.programs)
) =>
  Command.audit(
    { json: false, trace: undefined, concurrency: 4, help: false, ...options },
    { name: "a test", layer: ModelRegistry.layer({ default: client }) }
  ).pipe(Effect.orDie, starting, Effect.flatMap(ended), Effect.scoped)

const starting = Effect.fnUntraced(function*(
  command: Effect.Effect<number, never, NodeServices.NodeServices | Output>
): Effect.fn.Return<Running, never, Scope.Scope> {
  const printed: Array<string> = []
  const stderr: Array<string> = []
  const log = Written.make()
  const output = Layer.succeed(Output, {
    print: (line) => Effect.sync(() => void printed.push(line)),
    log: (line) =>
      Effect.sync(() => {
        stderr.push(line)
        log.append(`${line}\n`)
      })
  })
  const fiber = yield* Effect.forkScoped(Effect.provide(command, Layer.merge(NodeServices.layer, output)))
  return {
    fiber,
    stdout: () => printed.join("\n"),
    stderr,
    logged: log.includes
  }
})

const ended = ({ fiber, stderr, stdout }: Running): Effect.Effect<Ran> =>
  Effect.map(Fiber.join(fiber), (exitCode) => ({ exitCode, stdout: stdout(), stderr }))

/** Reads a trace. */
export const readTrace = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const lines = (yield* fs.readFileString(path)).split("\n")
  if (lines.pop() !== "") return yield* Effect.die("the last line of the trace is not whole")
  return lines.map((line) => JSON.parse(line) as RunEvent.RunEvent)
})

/** A model that follows programs, and what it was asked. */
export const recording = (programs: typeof ScriptedModel.programs = ScriptedModel.programs) => {
  const requests: Array<{ readonly agentId: string; readonly request: ModelRequest.ModelRequest }> = []
  const model = ScriptedModel.make(programs)
  const client: ModelClient.ModelClient = {
    ...model,
    generate: (request, call) => {
      requests.push({ agentId: call.agentId, request })
      return model.generate(request, call)
    }
  }
  return { client, requests }
}
