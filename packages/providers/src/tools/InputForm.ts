/**
 * The form in which arguments of a foreign tool are shown to a person, and in
 * which they run.
 *
 * **Details**
 *
 * The check of a foreign schema goes one way. A form is JSON that the check
 * makes the same value of as of what the model wrote: its own result where it
 * takes that again (defaults, coerced and trimmed values), or else what the
 * model wrote with the defaults filled in. Arguments for which neither holds
 * have no form.
 *
 * @since 0.1.0
 */
import type { FormArguments, NoForm } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { isDeepStrictEqual } from "node:util"
import type { ToolInput } from "./ToolInput.ts"

type Json = Parameters<FormArguments>[0]

/**
 * The forms of arguments that a check takes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ check }: ToolInput): FormArguments =>
  Effect.fnUntraced(function*(args): Effect.fn.Return<Result.Result<Json, NoForm>> {
    const checked = yield* Effect.result(check(structuredClone(args)))
    if (Result.isFailure(checked)) return Result.fail({ _tag: "Invalid", issues: checked.failure })
    const value = checked.success
    for (const candidate of [written(value), filled(args, value)]) {
      if (candidate === undefined) continue
      // A check may change what it is given.
      const again = yield* Effect.result(check(structuredClone(candidate)))
      if (Result.isSuccess(again) && isDeepStrictEqual(again.success, value)) return Result.succeed(candidate)
    }
    return Result.fail({
      _tag: "NotShown",
      issues: ["the value: Expected a transformation that can be shown as JSON, with its defaults"]
    })
  })

// A value as JSON; nothing for one that has none, or whose own code throws.
const written = (value: unknown): Json | undefined =>
  Result.getOrElse(
    Result.try(() => {
      const text = JSON.stringify(value) as string | undefined
      return text === undefined ? undefined : JSON.parse(text) as Json
    }),
    () => undefined
  )

// What the model wrote, with what the check has put beside it.
const filled = (args: Json, value: unknown): Json | undefined => {
  if (Array.isArray(args)) {
    if (!Array.isArray(value) || value.length !== args.length) return undefined
    const items = args.map((item: Json, index) => filled(item, value[index]))
    return items.includes(undefined) ? undefined : items as ReadonlyArray<Json>
  }
  if (!Predicate.isObject(args)) return Predicate.isObjectOrArray(value) && isPlain(value) ? undefined : args
  // Of an object that became something else nobody knows what was filled in.
  if (!isPlain(value)) return undefined
  const members: Array<readonly [string, Json]> = []
  for (const [key, item] of Object.entries(args)) {
    const member = Object.hasOwn(value, key) ? filled(item as Json, value[key]) : item as Json
    if (member === undefined) return undefined
    members.push([key, member])
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined || Object.hasOwn(args, key)) continue
    const member = written(item)
    if (member === undefined) return undefined
    members.push([key, member])
  }
  return Object.fromEntries(members)
}

const isPlain = (value: unknown): value is { readonly [key: string]: unknown } => {
  if (!Predicate.isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
