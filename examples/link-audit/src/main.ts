/**
 * The process of the command.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import * as Main from "../../support/src/Main.ts"
import * as Command from "./Command.ts"

Main.run("link-audit", Effect.provide(Command.run(process.argv.slice(2), process.env), NodeServices.layer))

// The first Ctrl-C cancels the audit, which takes a moment. npm passes it on a
// second time at once; whoever presses it again later does not want to wait.
// The signal's own action ends the process whatever it is at, which `exit` does
// not while a file is being opened.
process.once("SIGINT", () => {
  setTimeout(() => process.removeAllListeners("SIGINT"), 500).unref()
})
