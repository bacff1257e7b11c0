/**
 * The world outside of the store: a file with one line for each effect.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import * as fs from "node:fs"
import { Output } from "../../support/src/Output.ts"
import { escape } from "../../support/src/Text.ts"

/** Schema for what has an effect: a payment or a mail. */
export const Entry = Schema.Union([
  Schema.Struct({ effect: Schema.Literal("payment"), to: Schema.String, euros: Schema.Int }),
  Schema.Struct({ effect: Schema.Literal("mail"), to: Schema.String, subject: Schema.String })
])

/** What has an effect. */
export type Entry = typeof Entry.Type

/** The ledger cannot be opened, read or written. */
export class LedgerError extends Schema.TaggedError<LedgerError>("approval-desk/LedgerError")("LedgerError", {
  file: Schema.String
}) {
  override get message(): string {
    return `The ledger ${JSON.stringify(this.file)} cannot be read or written`
  }
}

/** Service that stands for a bank and a mail server. */
export class Ledger extends Context.Service<Ledger, {
  /**
   * Has an effect, once for each key: a key that has a line already gets no
   * second one. The line is on the disk when this returns.
   */
  readonly enter: (key: string, entry: Entry) => Effect.Effect<void, LedgerError>

  /** All effects so far, in order. */
  readonly entries: Effect.Effect<ReadonlyArray<Entry>, LedgerError>
}>()("approval-desk/Ledger") {}

/**
 * Layer of a ledger in a file. Before and after each line it takes its time,
 * `delayMillis` each, as a bank would.
 */
export const layer = (options: {
  readonly file: string
  readonly delayMillis: number
}): Layer.Layer<Ledger, LedgerError, Output> =>
  Layer.effect(
    Ledger,
    Effect.gen(function*() {
      const { file, delayMillis } = options
      const output = yield* Output
      const attempt = <A>(body: () => A) =>
        Effect.try({ try: body, catch: () => new LedgerError({ file: options.file }) })
      const descriptor = yield* Effect.acquireRelease(
        attempt(() => fs.openSync(file, "a+")),
        (descriptor) => Effect.sync(() => fs.closeSync(descriptor))
      )
      const read = attempt(() => linesOf(fs.readFileSync(file, "utf8")))
      return {
        entries: Effect.map(read, (lines) => lines.map(({ entry }) => entry)),
        enter: Effect.fnUntraced(function*(key, entry) {
          yield* output.log(`${describe(entry)}: on its way`)
          yield* Effect.sleep(delayMillis)
          const isKnown = (yield* read).some((line) => line.key === key)
          yield* attempt(() => {
            if (!isKnown) fs.writeSync(descriptor, `${startOf(file)}${JSON.stringify({ key, entry })}\n`)
            fs.fsyncSync(descriptor)
          })
          yield* output.log(`${describe(entry)}: ${isKnown ? "was in the ledger before" : "in the ledger"}`)
          yield* Effect.sleep(delayMillis)
        }, Effect.tapError(({ message }) => output.log(message)))
      }
    })
  )

/** An effect in words. */
export const describe = (entry: Entry): string =>
  entry.effect === "payment"
    ? `Payment of ${entry.euros} euros to ${escape(entry.to)}`
    : `Mail to ${escape(entry.to)}, "${escape(entry.subject)}"`

const decodeLine = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ key: Schema.String, entry: Entry }))
)

const linesOf = (text: string) =>
  text.split("\n").flatMap((line) => Option.match(decodeLine(line), { onNone: () => [], onSome: (line) => [line] }))

// A line that a crash of the machine cut off is closed, so that the next one stands alone.
const startOf = (file: string): string => {
  const text = fs.readFileSync(file, "utf8")
  return text === "" || text.endsWith("\n") ? "" : "\n"
}
