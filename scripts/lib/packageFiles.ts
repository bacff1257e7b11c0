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
