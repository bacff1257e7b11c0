/**
 * Reads what a TypeScript file imports.
 */
import { codeOf, lineAt } from "./code.ts"

export interface Import {
  /** What is imported, or `undefined` where the name is computed. */
  readonly specifier: string | undefined
  readonly line: number
}

/** Every module a source names: imports, re-exports, `import()`, `require()` and import types. */
export const importsOf = (source: string): ReadonlyArray<Import> => {
  const code = codeOf(source)
  return [withClause, bare, call]
    .flatMap((pattern) => [...code.matchAll(pattern)])
    .map((found) => readAt(source, code, found.index + found[0].length - 1))
    .toSorted((a, b) => a.line - b.line)
}

// Each pattern ends at the quote that opens the specifier; `call` ends at the bracket if there is none.
const withClause = /(?<![\w$.])(?:import|export)\b(?:(?!\b(?:import|export)\b)[\w$\s{},*"'])*?\bfrom\s*["']/g
const bare = /(?<![\w$.])import\s*["']/g
const call = /(?<![\w$.])(?:import|require)\s*\((?:\s*["'`])?/g

const readAt = (source: string, code: string, open: number): Import => {
  const quote = code[open]!
  const specifier = source.slice(open + 1, code.indexOf(quote, open + 1))
  const computed = quote === "(" || (quote === "`" && specifier.includes("${"))
  return { specifier: computed ? undefined : specifier, line: lineAt(source, open) }
}
