/**
 * Commands as processes of their own.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Output } from "../../support/src/Output.ts"

const main = fileURLToPath(new URL("main.ts", import.meta.url))

/**
 * Runs a command, shows it with what it writes as it writes it, and gives its
 * exit code. With `killAt` it is killed with SIGKILL once it has written that.
 */
export const show = Effect.fnUntraced(function*(
  db: string,
  args: ReadonlyArray<string>,
  options: { readonly killAt?: string } = {}
) {
  const output = yield* Output
  yield* output.print(`$ approval-desk ${args.map(quoted).join(" ")}`)
  const { exitCode } = yield* run(db, args, (child, text) => {
    process.stdout.write(text)
    if (options.killAt !== undefined && text.includes(options.killAt)) child.kill("SIGKILL")
  })
  if (exitCode !== 0) yield* output.print(exitCode < 0 ? "[killed]" : `[exit code ${exitCode}]`)
  return exitCode
})

/** Runs a command and gives what it wrote. */
export const quiet = (db: string, args: ReadonlyArray<string>) => run(db, args, () => {})

const run = (
  db: string,
  args: ReadonlyArray<string>,
  onText: (child: ChildProcess, text: string) => void
): Effect.Effect<{ readonly exitCode: number; readonly stdout: string }> =>
  Effect.callback((resume) => {
    const child = spawn(process.execPath, [...process.execArgv, main, ...args, "--db", db], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      onText(child, text)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => onText(child, text))
    child.on("close", (exitCode) => resume(Effect.succeed({ exitCode: exitCode ?? -1, stdout })))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/** A word as a shell takes it. */
const quoted = (word: string): string => /^[\w.:~/=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
