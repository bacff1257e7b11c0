/**
 * Asks at the terminal.
 */
import { Effect, Result } from "effect"
import { createInterface } from "node:readline"

/**
 * Asks for an answer, and gives the words that follow the id in `answer`, or
 * nothing when the user has enough.
 */
export const askAnswer = Effect.fnUntraced(function*(
  id: string,
  isQuestion: boolean
): Effect.fn.Return<ReadonlyArray<string> | undefined> {
  let problem = ""
  while (true) {
    const choices = isQuestion ? "JSON to reply, or q to quit" : "y, n, e to edit, q to quit"
    const choice = yield* ask(`${problem}\n${id}\n${choices} > `)
    problem = ""
    if (choice === undefined || choice === "q") return undefined
    if (choice === "") continue
    if (isQuestion) {
      if (isJson(choice)) return ["reply", choice]
      problem = notJson
    } else if (choice === "y") return ["approve"]
    else if (choice === "n") {
      const reason = yield* ask("Why not? > ")
      if (reason !== undefined && reason !== "") return ["reject", reason]
    } else if (choice === "e") {
      const edited = yield* ask("Arguments, as JSON > ")
      if (edited !== undefined && isJson(edited)) return ["edit", edited]
      problem = notJson
    } else problem = `${JSON.stringify(choice)} is none of y, n, e and q.\n`
  }
})

const notJson = "That is not JSON.\n"

const isJson = (text: string): boolean => Result.isSuccess(Result.try(() => JSON.parse(text)))

/** A line, or nothing at the end of the input. */
const ask = (prompt: string): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const terminal = createInterface({ input: process.stdin, output: process.stdout })
    let line: string | undefined
    terminal.question(prompt, (answer) => {
      line = answer.trim()
      terminal.close()
    })
    // Ctrl-C at a prompt goes to whoever listens for it in this process.
    terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
    terminal.on("close", () => resume(Effect.succeed(line)))
    return Effect.sync(() => terminal.close())
  })
