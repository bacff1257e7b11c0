/**
 * Rules about the text of single files.
 */
import { codeOf, lineAt } from "./code.ts"
import type { SourceFile } from "./files.ts"
import { importsOf } from "./imports.ts"

const maxLines = 300

/** From this length on a file is named in the summary, so that it is split before it must be. */
export const warnLines = 250

interface Rule {
  readonly files: RegExp
  /** Where to look: at code alone, or at the whole text with its comments and strings. */
  readonly look: "code" | "text"
  readonly pattern: RegExp
  readonly because: string
}

const core = /^packages\/(core|testing)\/src\/.*\.ts$/
const source = /^packages\/[^/]+\/src\/.*\.ts$/

const rules: ReadonlyArray<Rule> = [
  // Providers hand async functions to the AI SDK, so these three hold for core and testing alone.
  { files: core, look: "code", pattern: /(?<![\w$.])async\b(?!\s*:)/g, because: "async: use Effect.gen" },
  { files: core, look: "code", pattern: /(?<![\w$.])try\s*\{/g, because: "try: use a typed error" },
  { files: core, look: "code", pattern: /(?<![\w$.])throw\b(?!\s*:)/g, because: "throw: use a typed error" },
  { files: source, look: "code", pattern: /\bDate\.now\b|\bnew Date\(\)/g, because: "system time: use Clock" },
  { files: source, look: "code", pattern: /\bMath\.random\b/g, because: "Math.random: use Random" },
  { files: source, look: "code", pattern: /\bconsole\./g, because: "console: use Effect.log" },
  { files: source, look: "code", pattern: /\bas any\b/g, because: "as any: give it a type" },
  { files: source, look: "text", pattern: /@ts-(ignore|nocheck)/g, because: "a silenced compiler: fix the type" },
  { files: source, look: "text", pattern: /\b(TODO|FIXME)\b/g, because: "an open end: do it or leave it out" },
  {
    files: /^/,
    look: "text",
    pattern: /(?<![\w.~-])\/(?:home|Users|root|work)\/\w/g,
    because: "a path of one machine: write it relative to the repository"
  },
  {
    files: /^/,
    look: "text",
    pattern: /registry\.(?:npmjs|yarnpkg)|\bregistry\s*=\s*http|"resolved":\s*"http/g,
    because: "a registry's address: npm omits it with omit-lockfile-registry-resolved=true"
  }
]

/** Checks one file and says what breaks a rule, one line each. */
export const sourceFailures = (file: SourceFile): ReadonlyArray<string> => [
  ...rules.filter(({ files }) => files.test(file.path)).flatMap((rule) => breaks(rule, file)),
  ...(source.test(file.path) ? [...importsWithoutExtension(file), ...tooLong(file)] : [])
]

/** Number of lines of a text. */
export const linesOf = (text: string): number => text.trimEnd().split("\n").length

const breaks = ({ look, pattern, because }: Rule, { path, text }: SourceFile): ReadonlyArray<string> => {
  const searched = look === "code" ? codeOf(text) : text
  return [...searched.matchAll(pattern)].map(({ index }) => `${path}:${lineAt(text, index)} ${because}`)
}

const importsWithoutExtension = ({ path, text }: SourceFile): ReadonlyArray<string> =>
  importsOf(text)
    .filter(({ specifier }) => specifier?.startsWith(".") && !specifier.endsWith(".ts"))
    .map(({ specifier, line }) => `${path}:${line} import of "${specifier}": relative imports end in .ts`)

const tooLong = ({ path, text }: SourceFile): ReadonlyArray<string> =>
  linesOf(text) > maxLines ? [`${path} has ${linesOf(text)} lines: split it, ${maxLines} is the limit`] : []
