/**
 * The command line.
 */
import { Answer } from "@mandate/core"
import { Effect, Schema } from "effect"
import { parseArgs } from "node:util"
import { isGiven, type OptionToken, quoted, text } from "../../support/src/Arguments.ts"

/** What the user asked for. */
export interface Options {
  readonly act: Act
  /** The file of the store. None for the walk-through, which then makes one of its own. */
  readonly db: string | undefined
  /** How long the bank and the mail server take before and after an effect, each. */
  readonly delayMillis: number
}

/** What is to be done. */
export type Act =
  | { readonly _tag: "Walk" }
  | { readonly _tag: "Help" }
  | { readonly _tag: "Start" }
  | { readonly _tag: "Pending"; readonly json: boolean }
  | { readonly _tag: "Answer"; readonly answer: Answer.Answer }
  | { readonly _tag: "Cancel" }

/** The command line cannot be understood. */
export class UsageError extends Schema.TaggedError<UsageError>("approval-desk/UsageError")("UsageError", {
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.problem}\nRun approval-desk --help for the commands.`
  }
}

/** Where the store is when no file is given. */
export const defaultDb = "./.approval-desk.db"

const maxDelayMillis = 60_000

/** Text for `--help`. */
export const usage = `approval-desk [command] [options]

A desk of agents works on a case and waits for people. Each command is a
process of its own; nothing but the file is kept between them.

  (none)                 walk through a case; asks at a terminal
  start                  open the case
  pending                list what waits for an answer; --json for programs
  answer ID approve      let a call run as it is shown
  answer ID reject WHY   do not let it run, and say why
  answer ID edit JSON    let it run with other arguments
  answer ID reply JSON   answer a question
  cancel                 give the case up

  --db FILE    the store (default: ${defaultDb}); effects go to FILE.ledger
  --delay MS   how long an effect takes, before and after it (default: 0)
  --help       print this text

A command that was killed may be given again, or any other: it goes on where
the last one stopped.

Exit code: 0 done; 1 nothing was done: the answer was refused, there is no
case, another command is at work; 2 wrong usage, or a file cannot be used;
130 stopped by Ctrl-C, and the case stays open.`

/** Reads the arguments that follow the command's name. `--help` wins over whatever else is there, right or wrong. */
export const parse = Effect.fnUntraced(function*(args: ReadonlyArray<string>): Effect.fn.Return<Options, UsageError> {
  const { positionals, tokens, values } = split(args)
  if (values.help !== undefined) return { act: { _tag: "Help" }, db: undefined, delayMillis: 0 }
  for (const token of tokens) {
    const problem = token.kind === "option" ? problemOf(token) : undefined
    if (problem !== undefined) return yield* new UsageError({ problem })
  }
  const act = yield* actOf(positionals, values.json !== undefined)
  return {
    act,
    db: text(values.db) ?? (act._tag === "Walk" ? undefined : defaultDb),
    delayMillis: Number(text(values.delay) ?? 0)
  }
})

const actOf = Effect.fnUntraced(function*(
  [command, ...rest]: ReadonlyArray<string>,
  json: boolean
): Effect.fn.Return<Act, UsageError> {
  if (command === "answer") return { _tag: "Answer", answer: yield* answerOf(rest) }
  if (rest.length > 0) return yield* new UsageError({ problem: `${command} takes nothing, got ${quoted(rest)}` })
  if (command === "pending") return { _tag: "Pending", json }
  if (json) return yield* new UsageError({ problem: "--json is for pending" })
  switch (command) {
    case undefined:
      return { _tag: "Walk" }
    case "start":
      return { _tag: "Start" }
    case "cancel":
      return { _tag: "Cancel" }
    default:
      return yield* new UsageError({ problem: `There is no command ${JSON.stringify(command)}` })
  }
})

const answerOf = Effect.fnUntraced(function*(
  [id, kind, ...words]: ReadonlyArray<string>
): Effect.fn.Return<Answer.Answer, UsageError> {
  const value = words.join(" ")
  if (id === undefined || kind === undefined) {
    return yield* new UsageError({ problem: "answer needs an ID, and approve, reject, edit or reply" })
  }
  switch (kind) {
    case "approve":
      if (words.length > 0) return yield* new UsageError({ problem: `approve takes nothing, got ${quoted(words)}` })
      return Answer.approve(id)
    case "reject":
      if (value.trim() === "") return yield* new UsageError({ problem: "reject needs a reason" })
      return Answer.reject(id, value)
    case "edit":
      return Answer.edit(id, yield* jsonOf(kind, value))
    case "reply":
      return Answer.replyUnknown(id, yield* jsonOf(kind, value))
    default:
      return yield* new UsageError({
        problem: `An answer is approve, reject, edit or reply, not ${JSON.stringify(kind)}`
      })
  }
})

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const jsonOf = (kind: string, text: string) =>
  Effect.mapError(decodeJson(text), () => new UsageError({ problem: `${kind} needs JSON, in quotes of the shell` }))

/** Not strict, so that it never throws; {@link problemOf} then says what is wrong. */
const split = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    options: {
      db: { type: "string" },
      delay: { type: "string" },
      json: { type: "boolean" },
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
    case "db":
      if (!isGiven(value, inlineValue)) return `${rawName} needs a file`
      return value === ":memory:" ? `${rawName} needs a file, which memory is not` : undefined
    case "delay":
      if (!isGiven(value, inlineValue)) return `${rawName} needs a number`
      return /^[0-9]{1,5}$/.test(value) && Number(value) <= maxDelayMillis
        ? undefined
        : `${rawName} must be a whole number from 0 to ${maxDelayMillis}, got ${JSON.stringify(value)}`
    default:
      return `Unknown option ${rawName}`
  }
}
