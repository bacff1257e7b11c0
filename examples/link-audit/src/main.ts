/**
 * The process of the command.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import * as Command from "./Command.ts"
import * as Output from "./Output.ts"

const cancelledExitCode = 130
const bugExitCode = 3

const command = Command.run(process.argv.slice(2), process.env).pipe(
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("A bug in link-audit", cause)
  ),
  Effect.provide(Layer.mergeAll(NodeServices.layer, Output.layer, Layer.succeed(Logger.LogToStderr, true)))
)

NodeRuntime.runMain(command, {
  disableErrorReporting: true,
  teardown: (exit, end) => {
    if (Exit.isSuccess(exit)) return end(Number(exit.value))
    end(Cause.hasInterruptsOnly(exit.cause) ? cancelledExitCode : bugExitCode)
  }
})

// The first Ctrl-C cancels the audit, which takes a moment. npm passes it on a
// second time at once; whoever presses it again later does not want to wait.
// The signal's own action ends the process whatever it is at, which `exit` does
// not while a file is being opened.
process.once("SIGINT", () => {
  setTimeout(() => process.removeAllListeners("SIGINT"), 500).unref()
})
