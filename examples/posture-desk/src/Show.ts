/**
 * What the walk shows: in words, or as lines of JSON.
 */
import type { DelegateError, DelegateResult } from "@mandate/core"
import { Effect, Schema } from "effect"
import { Output } from "../../support/src/Output.ts"
import { count, escape } from "../../support/src/Text.ts"

/** Something that was said does not hold. */
export class ClaimError extends Schema.TaggedError<ClaimError>("posture-desk/ClaimError")("ClaimError", {
  claim: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `This does not hold: ${this.claim} Found: ${this.found}`
  }
}

/** How the walk is shown. */
export interface Show {
  /** Says what comes next. */
  readonly say: (text: string) => Effect.Effect<void, never, Output>
  /** Shows what came of an act. */
  readonly tell: (act: string, value: Told) => Effect.Effect<void, never, Output>
  /** Says what holds, once it is seen to. Fails if it does not. */
  readonly hold: (claim: string, holds: boolean, found: unknown) => Effect.Effect<void, ClaimError, Output>
}

/** What can come of an act. */
export type Told =
  | DelegateResult.DelegateResult
  | DelegateError.DelegateError
  | { readonly _tag: "Change" | "Problem"; readonly [field: string]: unknown }

/** Shows in words, or only results as JSON. */
export const make = (json: boolean): Show => {
  const print = (line: string) => Effect.flatMap(Output, (output) => output.print(line))
  const words = (line: string) => json ? Effect.void : print(line)
  return {
    say: (text) => words(`\n# ${text}`),
    tell: (act, value) => json ? print(JSON.stringify({ act, ...encoded(value) })) : print(describe(value)),
    hold: (claim, holds, found) =>
      holds ? words(`- ${claim}`) : Effect.fail(new ClaimError({ claim, found: JSON.stringify(found, inShort) }))
  }
}

// Of the events their kinds are enough to see what happened.
const inShort = (key: string, value: unknown): unknown =>
  key === "events" && Array.isArray(value) ? value.map(({ _tag }) => _tag).join(" ") : value

const encoded = (value: Told): object => {
  if (!("_tag" in value)) return value
  return value._tag === "DelegateError" ? { refused: value.reason, message: value.message } : value
}

const describe = (value: Told): string => {
  if (!("_tag" in value)) return `  ${result(value)}`
  if (value._tag === "DelegateError") return `  refused, ${value.reason._tag}: ${escape(value.message)}`
  const { _tag, ...fields } = value
  return `  ${Object.entries(fields).map(([name, field]) => `${name} ${escape(String(field))}`).join(", ")}`
}

const result = (value: DelegateResult.DelegateResult): string => {
  const { postureName, postureVersion, subSessionId, tokensUsed, toolCallsUsed } = value
  const cost = `${count(tokensUsed, "token")}, ${count(toolCallsUsed, "tool call")}`
  const said = "result" in value ? ` ${escape(JSON.stringify(value.result) ?? "no result")}` : ""
  const why = "error" in value ? ` ${escape(JSON.stringify(value.error))}` : ""
  return `${value.status}${said}${why}\n  (${postureName}@${postureVersion} in ${subSessionId}, ${cost})`
}
