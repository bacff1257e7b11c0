/**
 * The tools. Two of them have an effect and need approval, one asks a person.
 */
import { ToolContext } from "@mandate/core"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Entry, Ledger } from "./Ledger.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Schema for the answer to the one question there is: in what tone to write, and with what voucher. */
export const Care = Schema.Struct({ tone: Schema.Literals(["formal", "warm"]), voucherEuros: between(0, 50) })

/** How a customer is to be treated. */
export type Care = typeof Care.Type

/** Schema for the arguments of a payment. */
export const Payment = Schema.Struct({ to: Schema.String, euros: between(1, 500) })

/** Schema for the arguments of a mail. */
export const Mail = Schema.Struct({ to: Schema.String, subject: Schema.String, text: Schema.String })

export const Pay = Tool.make("pay", {
  description: "Pays money back to a customer. A person has to approve it.",
  parameters: Payment,
  success: Payment,
  needsApproval: true
})

export const AskCare = Tool.make("ask_care", {
  description: "Asks a colleague how a customer is to be treated.",
  parameters: Schema.Struct({ customer: Schema.String }),
  success: Care
})

export const SendMail = Tool.make("send_mail", {
  description: "Sends a mail to a customer. A person has to approve it.",
  parameters: Mail,
  success: Mail,
  needsApproval: true
})

/** The tool of the cashier. */
export const cashier = Toolkit.make(Pay)

/** What it does. It gives what was paid, which is what a person made of the call. */
export const cashierHandlers = {
  pay: (payment: typeof Payment.Type) => Effect.as(enter({ effect: "payment", ...payment }), payment)
}

/** The tools of the letter writer. */
export const letters = Toolkit.make(AskCare, SendMail)

/** What they do. */
export const lettersHandlers = {
  ask_care: ({ customer }: { readonly customer: string }) =>
    ToolContext.ask(`In what tone do we write to ${customer}, and with a voucher of how many euros?`, { answer: Care }),
  send_mail: (mail: typeof Mail.Type) => Effect.as(enter({ effect: "mail", to: mail.to, subject: mail.subject }), mail)
}

// After a crash the call runs again, under the same key. A ledger that cannot be written fails the run, which is
// recovered when it can.
const enter = Effect.fnUntraced(function*(entry: Entry) {
  const ledger = yield* Ledger
  const key = yield* ToolContext.idempotencyKey
  yield* Effect.catch(ledger.enter(key, entry), (error) => ToolContext.fatal(error.message))
})
