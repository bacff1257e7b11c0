/**
 * The command line.
 */
import { Effect, Schema } from "effect"
import { parseArgs } from "node:util"
import { isGiven, type OptionToken, text } from "../../support/src/Arguments.ts"

/** What the user asked for. */
export interface Options {
  readonly json: boolean
  readonly keep: boolean
  /** How long the model takes for each answer. */
  readonly delayMillis: number
  readonly help: boolean
}

/** The command line cannot be understood. */
export class UsageError extends Schema.TaggedError<UsageError>("posture-desk/UsageError")("UsageError", {
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.problem}; posture-desk --help lists what there is`
  }
}

const maxDelayMillis = 60_000

/** Text for `--help`. */
export const usage = `posture-desk [options]

Walks through a folder of postures: one is run, found in the cache, edited
while the program runs, and run again; another one runs out of its budget; a
third one delegates to itself; and a file is broken. What it says is checked
as it is said.

  --json      print the results alone, as JSON, one a line
  --keep      do not remove the copy of the folder that it works on
  --delay MS  how long the model takes for each answer (default: 0)
  --help      print this text

Exit code: 0 all held; 1 something did not; 2 wrong usage; 130 stopped by
Ctrl-C.`

/** Reads the arguments that follow the command's name. `--help` wins over whatever else is there, right or wrong. */
export const parse = Effect.fnUntraced(function*(args: ReadonlyArray<string>): Effect.fn.Return<Options, UsageError> {
  const { tokens, values } = split(args)
  const isHelp = values.help !== undefined
  for (const token of isHelp ? [] : tokens) {
    const problem = token.kind === "option" ? problemOf(token) : extra(token)
    if (problem !== undefined) return yield* new UsageError({ problem })
  }
  return {
    json: values.json !== undefined,
    keep: values.keep !== undefined,
    delayMillis: isHelp ? 0 : Number(text(values.delay) ?? 0),
    help: isHelp
  }
})

/** Not strict, so that it never throws; {@link problemOf} then says what is wrong. */
const split = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean" },
      keep: { type: "boolean" },
      delay: { type: "string" },
      help: { type: "boolean", short: "h" }
    },
    strict: false,
    tokens: true
  })

const extra = (token: { readonly kind: string; readonly value?: string }): string | undefined =>
  token.kind === "positional" ? `Nothing can be given but options, got ${JSON.stringify(token.value)}` : undefined

const problemOf = ({ inlineValue, name, rawName, value }: OptionToken): string | undefined => {
  switch (name) {
    case "json":
    case "keep":
    case "help":
      return value === undefined ? undefined : `${rawName} takes no value`
    case "delay":
      if (!isGiven(value, inlineValue)) return `${rawName} needs a number`
      return /^[0-9]{1,5}$/.test(value) && Number(value) <= maxDelayMillis
        ? undefined
        : `${rawName} must be a whole number from 0 to ${maxDelayMillis}, got ${JSON.stringify(value)}`
    default:
      return `Unknown option ${rawName}`
  }
}
