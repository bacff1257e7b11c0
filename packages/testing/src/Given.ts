/**
 * What the functions of scripts are given, checked: a script that is not what
 * it seems to be would be found out far from where it was written.
 *
 * **Details**
 *
 * What a response holds is not looked at: it stands for what a provider may
 * send, and that may be anything.
 *
 * @since 0.1.0
 */
import { ModelError, Options } from "@mandate/core"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * Whether a value is a step.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isStep = (value: unknown): boolean =>
  typeof value === "function" || (Predicate.hasProperty(value, "_tag") && stepTags.includes(value._tag))

/**
 * Schema for an argument that is a step.
 *
 * @category schemas
 * @since 0.1.0
 */
export const step = Options.checked("a step, such as Step.text(\"done\")", isStep)

/**
 * Schema for an argument that is a list of steps.
 *
 * @category schemas
 * @since 0.1.0
 */
export const steps = Options.checked(
  "a list of steps, such as [Step.text(\"done\")]",
  (value) => Array.isArray(value) && [...value].every(isStep)
)

/**
 * Schema for an argument that is a script: a list of steps, or what the
 * functions of `Script` make.
 *
 * @category schemas
 * @since 0.1.0
 */
export const script = Options.checked(
  "a list of steps, or a script such as Script.each([Step.text(\"done\")])",
  (value) =>
    Array.isArray(value)
      ? [...value].every(isStep)
      : Predicate.hasProperty(value, "_tag") && scriptTags.includes(value._tag)
)

/**
 * Schema for an argument that is content of a response: texts and calls.
 *
 * @category schemas
 * @since 0.1.0
 */
export const content = Options.checked(
  "texts and calls, such as Step.call(\"search\")",
  (value) => Array.isArray(value) && [...value].every((item) => typeof item === "string" || isCall(item))
)

/**
 * Schema for an argument that is JSON: at its root, no more is looked at.
 *
 * @category schemas
 * @since 0.1.0
 */
export const json = Options.checked(
  "JSON",
  (value) =>
    value === null || ["string", "number", "boolean"].includes(typeof value) || Array.isArray(value) || isPlain(value)
)

/**
 * Schema for an argument that is a reason of a `ModelError`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const reason = Options.oneOf(ModelError.ModelErrorReason.literals)

/**
 * Schema for an argument that is a duration, which may be zero.
 *
 * @category schemas
 * @since 0.1.0
 */
export const wait = Options.checked("a duration that is not negative", (value) => Options.millisOf(value) >= 0)

/**
 * Checks the arguments of a function by their names, and throws
 * `InvalidOptions` where one is not what the function takes.
 *
 * @category decoding
 * @since 0.1.0
 */
export const args = <A extends object>(
  of: string,
  fields: Options.Fields<A>,
  required: ReadonlyArray<keyof A & string> = Object.keys(fields) as Array<keyof A & string>
): (given: { readonly [K in keyof A]: unknown }) => void => {
  const decode = Options.make<A>("argument", fields, required)
  return (given) => void Options.orThrow(of, decode(given))
}

const isCall = (value: unknown): boolean => Predicate.hasProperty(value, "_tag") && value._tag === "Call"

const isPlain = Schema.is(Options.record())

const stepTags: ReadonlyArray<unknown> = [
  "Call",
  "Answer",
  "Fail",
  "StreamError",
  "Unfinished",
  "Hang",
  "Defect",
  "Delay",
  "WithUsage",
  "Again"
]

const scriptTags: ReadonlyArray<unknown> = ["Runs", "Each", "ByInput", "Program", "Optional"]
