/**
 * Asks at the terminal.
 */
import { Effect } from "effect"
import { createInterface } from "node:readline"

/**
 * Asks for an answer, and gives the words that follow the id in `answer`, or
 * nothing when the user has enough.
 */
export const askAnswer = Effect.fnUntraced(function*(
  id: string,
  isQuestion: boolean
): Effect.fn.Return<ReadonlyArray<string> | undefined> {
  while (true) {
    const choice = yield* ask(
      `\n${id}\n${isQuestion ? "JSON to reply, or q to quit" : "y, n, e to edit, q to quit"} > `
    )
    if (choice === undefined || choice === "q") return undefined
    if (isQuestion) {
      if (choice !== "") return ["reply", choice]
      continue
    }
    if (choice === "y") return ["approve"]
    if (choice === "n") {
      const reason = yield* ask("Why not? > ")
      if (reason !== undefined && reason !== "") return ["reject", reason]
    }
    if (choice === "e") {
      const edited = yield* ask("Arguments, as JSON > ")
      if (edited !== undefined && edited !== "") return ["edit", edited]
    }
  }
})

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
