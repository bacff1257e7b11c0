/**
 * Names of tools that were named for something else than a model.
 *
 * @since 0.1.0
 */
import { Options as CallerOptions, type ToolkitError } from "@mandate/core"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * Which tools a model is offered, and under which names.
 *
 * **Details**
 *
 * - `include`: the tools to offer, by their own names: a list, or a function.
 *   Default: all
 * - `prefix`: stands before every name that `rename` does not give. Default:
 *   nothing
 * - `rename`: names for a model, by the tools' own names: an object, or a
 *   function that gives `undefined` for those it leaves. They are taken as they
 *   are. Default: none
 *
 * A tool is called under its own name.
 *
 * @category models
 * @since 0.1.0
 */
export interface NameOptions {
  readonly include?: ReadonlyArray<string> | ((name: string) => boolean) | undefined
  readonly prefix?: string | undefined
  readonly rename?: { readonly [name: string]: string } | ((name: string) => string | undefined) | undefined
}

/**
 * A problem of a toolkit.
 *
 * @category models
 * @since 0.1.0
 */
export type Problem = ToolkitError.ToolkitError["problems"][number]

/**
 * Gives the tools that are offered, with their names for a model, or all that
 * is wrong with them.
 *
 * **Details**
 *
 * Every name becomes one that providers take, 1 to 64 of `[a-zA-Z0-9_-]`: other
 * characters become `_`, a longer name is cut and ends in a hash of the whole,
 * and one that Mandate reserves begins with `tool_`. The same name always
 * becomes the same. Two tools that would have one name are a problem, and so are
 * a name in `include` or `rename` that no tool has, a new name that providers
 * do not take, a function that throws or gives something else, and options that
 * are not valid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A extends { readonly name: string }>(
  tools: ReadonlyArray<A>,
  options: NameOptions | undefined
): Result.Result<Named<A>, Problems> =>
  Result.flatMap(
    Result.mapError(decode(options), ([first, ...rest]): Problems => [invalid(first), ...rest.map(invalid)]),
    (options) => named(tools, options)
  )

type Named<A> = ReadonlyArray<{ readonly tool: A; readonly name: string }>
type Problems = readonly [Problem, ...Array<Problem>]

const named = <A extends { readonly name: string }>(
  tools: ReadonlyArray<A>,
  { include, prefix = "", rename }: NameOptions
): Result.Result<Named<A>, Problems> => {
  const wrong: Array<Problem> = []
  // What a function gives, which may be anything.
  const asked = (option: string, give: (name: string) => unknown, name: string, takes: string, is: typeof isFlag) => {
    const given = Result.try(() => give(name))
    if (Result.isSuccess(given) && is(given.success)) return given.success
    const problem = Result.isSuccess(given) ? `did not give ${takes}` : "threw"
    wrong.push(setting(`${option} ${problem} for the tool ${JSON.stringify(name)}`))
    return undefined
  }
  const included = tools.filter(({ name }) =>
    include === undefined ||
    (typeof include === "function"
      ? asked("include", include, name, "true or false", isFlag) === true
      : include.includes(name))
  )
  const offered = included.map((tool) => {
    const given = typeof rename === "function"
      ? asked("rename", rename, tool.name, "a string or undefined", isName) as string | undefined
      : ownValue(rename, tool.name)
    return { tool, given, name: given ?? accepted(`${prefix}${tool.name}`) }
  })
  const byName = new Map<string, ReadonlyArray<A>>()
  for (const { name, tool } of offered) byName.set(name, [...byName.get(name) ?? [], tool])
  const [first, ...rest]: ReadonlyArray<Problem> = [
    ...wrong,
    ...unknown("include", Array.isArray(include) ? include : [], tools),
    ...unknown("rename", typeof rename === "object" ? Object.keys(rename) : [], tools),
    ...offered.flatMap(({ given, name, tool }) => given === undefined ? [] : refusal(tool.name, name)),
    ...[...byName].flatMap(([name, same]): ReadonlyArray<Problem> =>
      same.length < 2 ? [] : [{
        kind: "ToolNameCollision",
        message: `the tools ${
          same.map((tool) => JSON.stringify(tool.name)).join(" and ")
        } would both be named "${name}"; give one another name with rename`
      }]
    )
  ]
  return first === undefined
    ? Result.succeed(offered.map(({ tool, name }) => ({ tool, name })))
    : Result.fail([first, ...rest])
}

const isText = (value: unknown): boolean => typeof value === "string"

const isRecordOfNames = Schema.is(CallerOptions.recordOf("names", isText))

const decode = CallerOptions.make<NameOptions>("option", {
  include: CallerOptions.checked<NonNullable<NameOptions["include"]>>(
    "a list of names, or a function",
    (include) => typeof include === "function" || (Array.isArray(include) && [...include].every(isText))
  ),
  prefix: CallerOptions.text,
  rename: CallerOptions.checked<NonNullable<NameOptions["rename"]>>(
    "a plain object of names, or a function",
    (rename) => typeof rename === "function" || isRecordOfNames(rename)
  )
})

const isFlag = (value: unknown): boolean => typeof value === "boolean"
const isName = (value: unknown): boolean => value === undefined || isText(value)

const setting = (message: string): Problem => ({ kind: "InvalidSetting", message })
const invalid = (issue: string): Problem => setting(`the options of the tools: ${issue}`)

const ownValue = (names: { readonly [name: string]: string } | undefined, name: string): string | undefined =>
  names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined

const unknown = (
  option: string,
  names: ReadonlyArray<string>,
  tools: ReadonlyArray<{ readonly name: string }>
): ReadonlyArray<Problem> =>
  names.filter((name) => !tools.some((tool) => tool.name === name)).map((name) => ({
    kind: "InvalidSetting" as const,
    message: `${option} names ${JSON.stringify(name)}, which is no tool; tools: ${
      tools.slice(0, maxListed).map((tool) => JSON.stringify(tool.name)).join(", ") || "none"
    }`
  }))

const refusal = (own: string, name: string): ReadonlyArray<Problem> =>
  typeof name === "string" && isAccepted.test(name) && !reserved.test(name) ? [] : [{
    kind: "InvalidToolName",
    message: `the tool ${JSON.stringify(own)} cannot be named ${
      JSON.stringify(name)
    }: a name has 1 to 64 of the characters a-z A-Z 0-9 _ - and is not reserved`
  }]

const accepted = (name: string): string => {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_")
  const free = plain === "" || reserved.test(plain) ? `tool_${plain}` : plain
  return free.length <= maxLength ? free : `${free.slice(0, maxLength - 9)}_${hash(name)}`
}

// FNV-1a: what counts is that it stays the same.
const hash = (text: string): string => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(16).padStart(8, "0")
}

const maxLength = 64
const maxListed = 50
const isAccepted = /^[a-zA-Z0-9_-]{1,64}$/

// As in the core, which refuses these names.
const reserved = /^(submit_report|task|task_.*|delegate|handoff_to_.*)$/s
