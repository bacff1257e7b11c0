/**
 * The agents: a desk that delegates to two subagents at once, one of which
 * delegates further.
 */
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Schema } from "effect"
import type { Ledger } from "./Ledger.ts"
import * as Tools from "./Tools.ts"

/** Schema for a task: whom it is about, and how much the order cost. */
export const Refund = Schema.Struct({ customer: Schema.String, euros: Schema.Int })

/** Schema for what became of a refund. */
export const Refunded = Schema.Struct({ euros: Schema.Int, note: Schema.String })

/** Schema for a task: whom to write to. */
export const Letter = Schema.Struct({ customer: Schema.String, address: Schema.String })

/** Schema for what became of a letter. */
export const Written = Schema.Struct({ sent: Schema.Boolean, note: Schema.String })

const cashier: TypedAgent.TypedAgent<typeof Refund.Type, typeof Refunded.Type, Ledger> = TypedAgent.make("cashier", {
  description: "Pays a refund out",
  input: Refund,
  report: Refunded
}).withTools(Tools.cashier, Tools.cashierHandlers)

const refunds: TypedAgent.TypedAgent<typeof Refund.Type, typeof Refunded.Type, Ledger> = TypedAgent.make("refunds", {
  description: "Decides on a refund and has it paid",
  input: Refund,
  report: Refunded
}).withSubagents([cashier])

const letters: TypedAgent.TypedAgent<typeof Letter.Type, typeof Written.Type, Ledger> = TypedAgent.make("letters", {
  description: "Writes to a customer",
  input: Letter,
  report: Written
}).withTools(Tools.letters, Tools.lettersHandlers)

/** The agent that a case is given to. */
export const desk: AgentBuilder.AgentBuilder<string, Ledger> = AgentBuilder.make("desk").withSubagents(
  [refunds, letters],
  { maxDepth: 2 }
)
