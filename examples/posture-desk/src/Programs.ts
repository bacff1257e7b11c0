/**
 * The programs that stand in for language models. Each decides on its next
 * move from its conversation alone.
 */
import type { Message } from "@mandate/core"
import { Option, Schema } from "effect"

/** A tool call that a program makes. */
export interface Call {
  readonly tool: string
  readonly arguments: { readonly [name: string]: unknown }
}

/** What a program does next: it calls tools, with some words beside them, or ends with a text. */
export interface Move {
  readonly text: string
  readonly calls?: ReadonlyArray<Call>
}

/** The next move of a posture's run, or nothing where there is no program for it. */
export const next = (posture: string, messages: ReadonlyArray<Message.Message>): Move | undefined =>
  programs[posture]?.(messages)

const programs: { readonly [posture: string]: (messages: ReadonlyArray<Message.Message>) => Move } = {
  reader: (messages) => {
    const [note] = resultsIn(messages)
    if (note === undefined) return { text: "", calls: [{ tool: "read_note", arguments: { name: "tides" } }] }
    const text = textOf(note)
    // As the instructions of the posture have it.
    return { text: instructionsIn(messages).includes("one word") ? text.split(" ")[0]! : text }
  },
  researcher: (messages) => {
    const [names, ...notes] = resultsIn(messages)
    if (names === undefined) return { text: "I see what there is.", calls: [{ tool: "list_notes", arguments: {} }] }
    if (notes.length === 0) {
      return { text: "So far: two notes to read.", calls: ["tides", "moon"].map(readNote) }
    }
    return { text: `Because of the moon. ${notes.map(textOf).join(" ")}` }
  },
  chief: (messages) => {
    const [answer] = resultsIn(messages)
    return answer === undefined
      ? { text: "", calls: [{ tool: "delegate", arguments: { posture: "chief", task: "Hand it on" } }] }
      : { text: reportOf(answer) }
  }
}

const readNote = (name: string): Call => ({ tool: "read_note", arguments: { name } })

const resultsIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.ToolResultPart> =>
  messages.flatMap((message) => message.role === "tool" ? message.content : [])

const instructionsIn = (messages: ReadonlyArray<Message.Message>): string =>
  messages.flatMap((message) => message.role === "system" ? [message.content] : []).join("\n")

const textOf = ({ output }: Message.ToolResultPart): string =>
  typeof output.value === "string" ? output.value : JSON.stringify(output.value)

const Answer = Schema.Union([
  Schema.Struct({ report: Schema.String }),
  Schema.Struct({ error: Schema.Struct({ reason: Schema.String, message: Schema.String }) })
])

const reportOf = (result: Message.ToolResultPart): string =>
  Option.match(Schema.decodeUnknownOption(Answer)(result.output.value), {
    onNone: () => textOf(result),
    onSome: (answer) =>
      "report" in answer ? answer.report : `Nobody took it. ${answer.error.reason}: ${answer.error.message}`
  })
