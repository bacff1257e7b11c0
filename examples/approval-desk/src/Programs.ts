/**
 * The programs that stand in for language models. Each decides on its next
 * move from the results in its conversation alone.
 */
import type { Message } from "@mandate/core"
import { Option, Schema } from "effect"
import * as Agents from "./Agents.ts"
import * as Tools from "./Tools.ts"

/** A tool call that a program makes. */
export interface Call {
  readonly tool: string
  readonly arguments: { readonly [name: string]: unknown }
}

/** What a program does next: it calls tools, or ends with a text. */
export type Move = { readonly calls: ReadonlyArray<Call> } | { readonly text: string }

/** What the desk is asked. */
export const request = "Order 1042 of Ada Byron, ada@example.org, arrived broken. It cost 120 euros. Put it right."

/** The case that the programs know. */
const ada = { customer: "Ada Byron", address: "ada@example.org", euros: 120 }

/** The next move of an agent, or nothing where there is no program for it. */
export const next = (agentId: string, messages: ReadonlyArray<Message.Message>): Move | undefined =>
  programs[agentId]?.(resultsIn(messages))

/** Results of the run, by tool. */
type Results = ReadonlyMap<string, Message.ToolResultPart>

const programs: { readonly [agentId: string]: (results: Results) => Move } = {
  desk: (results) => {
    const refund = results.get("task_refunds")
    const letter = results.get("task_letters")
    if (refund === undefined || letter === undefined) {
      return {
        calls: [
          { tool: "task_refunds", arguments: { customer: ada.customer, euros: ada.euros } },
          { tool: "task_letters", arguments: { customer: ada.customer, address: ada.address } }
        ]
      }
    }
    return { text: `${noteOf(refund)} ${noteOf(letter)}` }
  },
  refunds: (results) => {
    const paid = results.get("task_cashier")
    if (paid === undefined) return call("task_cashier", { customer: ada.customer, euros: ada.euros })
    const report = valueOf(taskResult(Agents.Refunded), paid)
    return submit(report?.report ?? { euros: 0, note: noteOf(paid) })
  },
  cashier: (results) => {
    const paid = results.get("pay")
    if (paid === undefined) return call("pay", { to: ada.customer, euros: ada.euros })
    const payment = paid.isError ? undefined : valueOf(Tools.Payment, paid)
    return submit(
      payment === undefined
        ? { euros: 0, note: `Nothing was paid back: ${problemOf(paid)}.` }
        : { euros: payment.euros, note: `${payment.euros} euros were paid back to ${payment.to}.` }
    )
  },
  letters: (results) => {
    const asked = results.get("ask_care")
    if (asked === undefined) return call("ask_care", { customer: ada.customer })
    const sent = results.get("send_mail")
    if (sent === undefined) return call("send_mail", letter(valueOf(Tools.Care, asked)))
    const mail = sent.isError ? undefined : valueOf(Tools.Mail, sent)
    return submit(
      mail === undefined
        ? { sent: false, note: `No mail was sent: ${problemOf(sent)}.` }
        : { sent: true, note: `"${mail.subject}" was sent to ${mail.to}.` }
    )
  }
}

const letter = (care: Tools.Care = { tone: "formal", voucherEuros: 0 }) => ({
  to: ada.address,
  subject: care.tone === "warm" ? "We are so sorry, Ada" : "Your order 1042",
  text: care.voucherEuros === 0
    ? "Your order arrived broken. We apologise."
    : `Your order arrived broken. Here is a voucher of ${care.voucherEuros} euros.`
})

const call = (tool: string, args: Call["arguments"]): Move => ({ calls: [{ tool, arguments: args }] })

const submit = (report: Call["arguments"]): Move => call("submit_report", report)

// A thread keeps the conversations of the cases before; this one begins with the last request.
const resultsIn = (messages: ReadonlyArray<Message.Message>): Results =>
  new Map(
    messages
      .slice(messages.findLastIndex(({ role }) => role === "user"))
      .flatMap((message) => message.role === "tool" ? message.content.map((part) => [part.name, part] as const) : [])
  )

const taskResult = <A>(report: Schema.Codec<A, unknown>) => Schema.Struct({ report })

const valueOf = <A>(schema: Schema.Codec<A, unknown>, { output }: Message.ToolResultPart): A | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(output.value))

const problemOf = (result: Message.ToolResultPart): string =>
  valueOf(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }), result)?.error.message
    ?? "the tool gave no reason"

const noteOf = (result: Message.ToolResultPart): string =>
  valueOf(taskResult(Schema.Struct({ note: Schema.String })), result)?.report.note ?? problemOf(result)
