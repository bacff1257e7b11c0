/**
 * The process of the command.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import * as Command from "./Command.ts"
import * as Output from "./Output.ts"
import { escape } from "./Text.ts"

const stoppedExitCode = 130
const bugExitCode = 3

const command = Command.run(process.argv.slice(2)).pipe(
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.flatMap(
        Output.Output,
        (output) => output.log(`approval-desk: a bug, please report it: ${escape(messageOf(Cause.squash(cause)))}`)
      )
  ),
  Effect.provide(Layer.mergeAll(Output.layer, Layer.succeed(Logger.LogToStderr, true)))
)

const messageOf = (defect: unknown): string => defect instanceof Error ? defect.message : String(defect)

NodeRuntime.runMain(command, {
  disableErrorReporting: true,
  teardown: (exit, end) => {
    if (Exit.isSuccess(exit)) return end(Number(exit.value))
    end(Cause.hasInterruptsOnly(exit.cause) ? stoppedExitCode : bugExitCode)
  }
})
