/**
 * What may be in a published package.
 */
import { isBuiltin } from "node:module"
import type { Import } from "./imports.ts"

/** Imports that find nothing where only the package and what it depends on is installed. */
export const undeclaredImports = (
  imports: ReadonlyArray<Import>,
  self: string,
  installed: ReadonlyArray<string>
): ReadonlyArray<string> =>
  imports
    .map(({ specifier = "" }) => specifier)
    .filter((specifier) => !/^\.\.?\//.test(specifier) && !isBuiltin(specifier))
    .filter((specifier) => ![self, ...installed].includes(packageOf(specifier)))

/** A source map of a built module whose source is named by its package: `@mandate/core/src/run/StartRun.ts`. */
export const namedSources = (map: string, name: string, file: string): string => {
  const source = `${name}/src/${file.replace(/\.js\.map$/, ".ts")}`
  return JSON.stringify({ ...JSON.parse(map), sources: [source] })
}

/** What is wrong with a source map of a package, one line each. */
export const sourceMapFailures = (map: string, name: string, file: string): ReadonlyArray<string> => {
  const { sources, sourceRoot = "" }: { readonly sources: ReadonlyArray<string>; readonly sourceRoot?: string } = JSON
    .parse(
      map
    )
  const expected = `${name}/src/${file.replace(/\.(?:js|d\.ts)\.map$/, ".ts")}`
  return sources.length === 1 && sources[0] === expected && sourceRoot === ""
    ? []
    : [`${file} names ${sources.join(", ")}, not ${expected}`]
}

/** Checks the paths in a tarball and says what is missing or does not belong there, one line each. */
export const tarballFailures = (paths: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...needed.filter((path) => !paths.includes(path)).map((path) => `${path} is missing`),
  ...paths.filter((path) => !needed.includes(path) && !allowed.test(path)).map((path) =>
    `${path} does not belong there`
  ),
  ...paths.filter((path) => path.endsWith(".js")).flatMap((path) =>
    [`${path}.map`, path.replace(/\.js$/, ".d.ts")]
      .filter((beside) => !paths.includes(beside))
      .map((beside) => `${beside} is missing beside ${path}`)
  )
]

const needed = ["LICENSE", "README.md", "index.d.ts", "index.js", "package.json"]
const allowed = /^(?!(?:src|test|typetest|node_modules|dist)\/)(?:[\w-]+\/)*[\w-]+\.(?:js|js\.map|d\.ts)$/

/** `@scope/name` or `name`, without the path after it. */
const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
