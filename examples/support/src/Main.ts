/**
 * The process of a command.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import * as Output from "./Output.ts"
import { escape } from "./Text.ts"

const stoppedExitCode = 130
const bugExitCode = 3

/** Runs a command and ends the process with its exit code. Ctrl-C interrupts it; a defect is told in one line. */
export const run = (name: string, command: Effect.Effect<number, never, Output.Output>): void =>
  NodeRuntime.runMain(
    command.pipe(
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.flatMap(
            Output.Output,
            (output) => output.log(`${name}: a bug, please report it: ${escape(messageOf(Cause.squash(cause)))}`)
          )
      ),
      Effect.provide(Layer.mergeAll(Output.layer, Layer.succeed(Logger.LogToStderr, true)))
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, end) => {
        if (Exit.isSuccess(exit)) return end(Number(exit.value))
        end(Cause.hasInterruptsOnly(exit.cause) ? stoppedExitCode : bugExitCode)
      }
    }
  )

const messageOf = (defect: unknown): string => defect instanceof Error ? defect.message : String(defect)
