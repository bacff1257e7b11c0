/**
 * Finds the TypeScript examples in Markdown and in doc comments.
 */
import type { SourceFile } from "./files.ts"

export interface Snippet {
  readonly path: string
  /** Line of its first line of code in that file, from 1. */
  readonly line: number
  readonly code: string
  /** False for a fence marked `no-check`. */
  readonly checked: boolean
}

/** Every `ts` snippet of a Markdown file, or of the doc comments of a TypeScript file. */
export const snippetsIn = ({ path, text }: SourceFile): ReadonlyArray<Snippet> => {
  // No line of code starts with a star and a fence, so the fences of a source file are those of its comments.
  const margin = path.endsWith(".ts") ? /^\s*\* ?/ : /^/
  const lines = text.split("\n").map((line) => margin.test(line) ? line.replace(margin, "") : outside)
  const snippets: Array<Snippet> = []

  for (let open = 0; open < lines.length; open++) {
    const [, indent = "", fence, info = ""] = /^(\s*)(`{3,})(.*)$/.exec(lines[open]!) ?? []
    if (fence === undefined) continue

    const close = lines.findIndex((line, index) => index > open && (line === outside || line.trim() === fence))
    if (close < 0 || lines[close] === outside) throw new Error(`${path}:${open + 1} this fence is never closed`)

    const [language = "", ...words] = info.trim().split(/\s+/)
    if (["ts", "typescript"].includes(language)) {
      const code = lines.slice(open + 1, close).map((line) =>
        line.startsWith(indent) ? line.slice(indent.length) : line
      )
      snippets.push({ path, line: open + 2, code: code.join("\n"), checked: !words.includes("no-check") })
    }
    open = close
  }
  return snippets
}

/** Stands for a line of a source file that is not part of a comment. */
const outside = "\0"
