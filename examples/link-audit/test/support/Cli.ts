/** The command as a process of its own. */
import { fileURLToPath } from "node:url"
import * as Processes from "../../../support/test/Processes.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** The words that start the command, for a shell. */
export const command = `"${process.execPath}" --conditions=mandate-source "${main}"`

/** Starts the command. It is killed when the scope closes, if it still runs then. */
export const start = (args: ReadonlyArray<string>, environment?: Readonly<Record<string, string>>) =>
  Processes.start(main, args, environment)

/** Runs the command to its end. */
export const run = (args: ReadonlyArray<string>, environment?: Readonly<Record<string, string>>) =>
  Processes.run(main, args, environment)
