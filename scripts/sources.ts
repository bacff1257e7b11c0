/**
 * Checks the text of the repository's files: `npm run verify -- sources`. The rules are in `lib/sourceRules.ts`.
 */
import { filesMatching } from "./lib/files.ts"
import { report } from "./lib/report.ts"
import { linesOf, sourceFailures, warnLines } from "./lib/sourceRules.ts"

const files = filesMatching(/^/)
const long = files
  .filter(({ path, text }) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && linesOf(text) > warnLines)
  .map(({ path, text }) => `${path} (${linesOf(text)})`)

report(
  files.flatMap(sourceFailures),
  [`${files.length} files`, ...(long.length > 0 ? [`over ${warnLines} lines: ${long.join(", ")}`] : [])].join("; ")
)
