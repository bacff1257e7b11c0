/**
 * The process of the command.
 */
import * as Main from "../../support/src/Main.ts"
import * as Command from "./Command.ts"

Main.run("posture-desk", Command.run(process.argv.slice(2)))
