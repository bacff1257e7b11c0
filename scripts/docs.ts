/**
 * Compiles every TypeScript example of the documentation: `npm run verify -- docs`.
 *
 * The examples become files of their own in `.examples/`, which Git ignores. They see the packages' sources.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { filesMatching, root } from "./lib/files.ts"
import { report } from "./lib/report.ts"
import { type Snippet, snippetsIn } from "./lib/snippets.ts"

const documented = /^docs\/.*\.md$|^(README|CONTRIBUTING)\.md$|^packages\/[^/]+\/(README\.md|src\/(README\.md|.*\.ts))$/
const folder = join(root, ".examples")

const nameOf = ({ path, line }: Snippet): string => `${path.replaceAll("/", "__")}__${line}.ts`

const write = (snippets: ReadonlyArray<Snippet>): void => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  // An example names things for its reader, used or not.
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../tsconfig.json", compilerOptions, include: ["*.ts"] })
  )
  for (const snippet of snippets) writeFileSync(join(folder, nameOf(snippet)), `${snippet.code}\n`)
}

/** The compiler's lines, with the places in `.examples/` turned back into places in the documentation. */
const compile = (snippets: ReadonlyArray<Snippet>): ReadonlyArray<string> => {
  const byName = new Map(snippets.map((snippet) => [nameOf(snippet), snippet]))
  const { status, stdout, stderr, error } = spawnSync("tsc", ["-p", folder, "--pretty", "false"], {
    cwd: root,
    encoding: "utf8"
  })
  if (status === 0) return []
  if (error !== undefined) return [`tsc does not start: ${error.message}`]
  return `${stdout}${stderr}`.trim().split("\n").map((line) =>
    line.replace(/^\.examples\/([^(]+)\((\d+),\d+\):/, (place, name: string, at: string) => {
      const snippet = byName.get(name)
      return snippet === undefined ? place : `${snippet.path}:${snippet.line + Number(at) - 1}`
    })
  )
}

const snippets = filesMatching(documented).flatMap(snippetsIn)
const checked = snippets.filter((snippet) => snippet.checked)
write(checked)

report(
  checked.length === 0 ? [] : compile(checked),
  `${checked.length} examples compiled, ${snippets.length - checked.length} marked no-check`
)
