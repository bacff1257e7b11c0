/**
 * Who may import whom in `packages/<name>/src`.
 */
import { dirname, join } from "node:path/posix"
import { circlesIn } from "./circles.ts"
import type { SourceFile } from "./files.ts"
import { importsOf } from "./imports.ts"

/** Folders of `packages/core/src`, low to high. A file imports its own folder or a lower one. */
const layers = ["values", "definition", "service", "loop", "run", "delegation", "agent"]

/** Folders that are entry points of their own. Nothing outside of one imports it, not even `index.ts`. */
const entries = ["sql", "postures", "persistence", "cluster"]

/** Parts of Effect that are heavy or unstable. In core, only entry points import them. */
const entryOnly = ["cluster", "sql", "workflow", "rpc", "persistence", "http"]

/** Checks the files of every package's `src` and says what breaks a rule, one line each. */
export const layerFailures = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> => {
  const edges = files.flatMap(edgesOf)
  const refused = edges.flatMap((edge) => {
    const reason = refusal(edge)
    return reason === undefined ? [] : [`${edge.from}:${edge.line} ${reason}`]
  })
  const circles = circlesIn(edges.filter(({ relative }) => relative))
  return [
    ...files.map(({ path }) => path).filter(hasNoLayer)
      .map((path) => `${path} is in no layer: move it to ${[...layers, ...entries].join(", ")}`),
    ...refused,
    ...circles.map((circle) => `import circle: ${circle.join(" -> ")}`)
  ]
}

/** One import of one file. `to` is a path if the import is relative, else the specifier as written. */
interface Edge {
  readonly from: string
  readonly to: string
  readonly relative: boolean
  readonly line: number
}

const edgesOf = ({ path, text }: SourceFile): ReadonlyArray<Edge> =>
  importsOf(text).map(({ specifier = "", line }) => {
    const relative = specifier.startsWith(".")
    return { from: path, to: relative ? join(dirname(path), specifier) : specifier, relative, line }
  })

const refusal = ({ from, to, relative }: Edge): string | undefined => {
  if (to === "") return "imports a computed name, which nobody can check"
  if (relative) return isInSourceOf(packageOf(from), to) ? layerRefusal(from, to) : `imports ${to}, outside of its src`
  if (/^effect($|\/)/.test(to)) return effectRefusal(from, to)
  if (packageOf(from) === "core") {
    return /^(ai|@ai-sdk|@mandate)($|\/)/.test(to) ? `imports ${to}, which core never does` : undefined
  }
  return /^@mandate\/(?!core$)/.test(to) ? `imports ${to}; of Mandate only "@mandate/core" is allowed here` : undefined
}

const layerRefusal = (from: string, to: string): string | undefined => {
  if (packageOf(from) !== "core" || folderOf(from) === folderOf(to)) return undefined
  if (entries.includes(folderOf(to))) return `imports ${to}, an entry point: nothing outside of its folder may`
  return rank(to) > rank(from) ? `imports ${to}, which is in a higher layer` : undefined
}

const effectRefusal = (from: string, to: string): string | undefined => {
  // Modules are PascalCase, barrels are not; a barrel costs far more time at start than the modules in use.
  if (!/\/[A-Z]\w*$/.test(to)) return `imports the barrel ${to}; import its modules one by one, as in "effect/Effect"`
  const inEntry = packageOf(from) !== "core" || entries.includes(folderOf(from))
  return !inEntry && entryOnly.includes(to.split("/")[1]!) ? `imports ${to}, which only entry points may` : undefined
}

const packageOf = (path: string): string => path.split("/")[1]!

/** Folder below `src`, or the file's own name where it has none. */
const folderOf = (path: string): string => path.split("/")[3]!

const isInSourceOf = (name: string, path: string): boolean => path.startsWith(`packages/${name}/src/`)

const hasNoLayer = (path: string): boolean =>
  packageOf(path) === "core" && ![...layers, ...entries, "index.ts"].includes(folderOf(path))

/** Higher ranks may import lower ones: the layers, then `index.ts`, then the entry points. */
const rank = (path: string): number => [...layers, "index.ts", ...entries].indexOf(folderOf(path))
