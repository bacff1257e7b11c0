/** The command in the process of the test. */
import { NodeServices } from "@effect/platform-node"
import { type ModelClient, ModelRegistry, type ModelRequest, type RunEvent } from "@mandate/core"
import { Effect, FileSystem, Layer } from "effect"
import * as Command from "../../src/Command.ts"
import type * as Options from "../../src/Options.ts"
import { Output } from "../../src/Output.ts"
import * as ScriptedModel from "../../src/ScriptedModel.ts"

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: ReadonlyArray<string>
}

/** Audits a folder with a model, and gives what was printed. */
export const audit = Effect.fnUntraced(function*(
  options: Pick<Options.Options, "folder"> & Partial<Options.Options>,
  client: ModelClient.ModelClient = ScriptedModel.make(ScriptedModel.programs)
) {
  const printed: Array<string> = []
  const stderr: Array<string> = []
  const output = Layer.succeed(Output, {
    print: (line) => Effect.sync(() => void printed.push(line)),
    log: (line) => Effect.sync(() => void stderr.push(line))
  })
  const exitCode = yield* Command.audit(
    { json: false, trace: undefined, concurrency: 4, help: false, ...options },
    { name: "a test", layer: ModelRegistry.layer({ default: client }) }
  ).pipe(Effect.provide(Layer.merge(NodeServices.layer, output)))
  return { exitCode, stdout: printed.join("\n"), stderr } satisfies Ran
})

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
