/**
 * The command line of the audit.
 *
 * `effect/cli` would bring flags that this command does not have (completions,
 * log level), so the standard library splits the arguments.
 */
import { Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { isGiven, type OptionToken, quoted, text } from "../../support/src/Arguments.ts"

/** What the user asked for. */
export interface Options {
  /** As given: relative to the working directory. */
  readonly folder: string
  readonly json: boolean
  readonly trace: string | undefined
  readonly concurrency: number
  readonly help: boolean
}

/** The command line cannot be understood. */
export class UsageError extends Schema.TaggedError<UsageError>("link-audit/UsageError")("UsageError", {
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.problem}\nRun link-audit --help for the options.`
  }
}

/** Exit code for a {@link UsageError}. */
export const usageExitCode = 2

/** What is audited when no folder is given: the documentation of this repository. */
export const defaultFolder = fileURLToPath(new URL("../../../docs", import.meta.url))

const maxConcurrency = 64

const defaults: Options = {
  folder: defaultFolder,
  json: false,
  trace: undefined,
  concurrency: 4,
  help: false
}

/** Text for `--help`. */
export const usage = `link-audit [folder] [options]

Checks the links of the Markdown files in a folder, by default the docs of the
repository that link-audit is in.

  --json           print {"files","links","broken"} as JSON instead of a table
  --trace FILE     write the events of the agents to FILE, as JSON lines
  --concurrency N  audit N files at once, 1 to ${maxConcurrency} (default: ${defaults.concurrency})
  --help           print this text

A scripted model does the work, unless MANDATE_MODEL names another one:

  openai/<model>             with OPENAI_API_KEY; OPENAI_BASE_URL if needed
  openai-chat/<model>        the same, for the API of chat completions
  anthropic/<model>          with ANTHROPIC_API_KEY
  google/<model>             with GOOGLE_GENERATIVE_AI_API_KEY
  openai-compatible/<model>  with OPENAI_BASE_URL; OPENAI_API_KEY if needed

Exit code: 0 no broken link; 1 a broken link or a file that cannot be read;
2 wrong usage, or the folder cannot be opened; 3 a model or a subagent failed;
130 cancelled.`

/** Reads the arguments that follow the command's name. `--help` wins over whatever else is there, right or wrong. */
export const parse = Effect.fnUntraced(function*(args: ReadonlyArray<string>): Effect.fn.Return<Options, UsageError> {
  const { positionals, tokens, values } = split(args)
  if (values.help !== undefined) return { ...defaults, help: true }
  for (const token of tokens) {
    const problem = token.kind === "option" ? problemOf(token) : undefined
    if (problem !== undefined) return yield* new UsageError({ problem })
  }
  const [folder = defaults.folder, ...rest] = positionals
  if (rest.length > 0) {
    return yield* new UsageError({ problem: `Only one folder can be audited, got ${quoted(positionals)}` })
  }
  if (folder === "") return yield* new UsageError({ problem: "The folder is empty" })
  return {
    folder,
    json: values.json !== undefined,
    trace: text(values.trace),
    concurrency: Number(text(values.concurrency) ?? defaults.concurrency),
    help: false
  }
})

/** Not strict, so that it never throws; {@link problemOf} then says what is wrong. */
const split = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean" },
      trace: { type: "string" },
      concurrency: { type: "string" },
      help: { type: "boolean", short: "h" }
    },
    strict: false,
    tokens: true
  })

const problemOf = ({ inlineValue, name, rawName, value }: OptionToken): string | undefined => {
  switch (name) {
    case "json":
    case "help":
      return value === undefined ? undefined : `${rawName} takes no value`
    case "trace":
      return isGiven(value, inlineValue) ? undefined : `${rawName} needs a file`
    case "concurrency":
      if (!isGiven(value, inlineValue)) return `${rawName} needs a number`
      return /^[1-9][0-9]?$/.test(value) && Number(value) <= maxConcurrency
        ? undefined
        : `${rawName} must be a whole number from 1 to ${maxConcurrency}, got ${JSON.stringify(value)}`
    default:
      return `Unknown option ${rawName}`
  }
}
