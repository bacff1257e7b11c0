/**
 * Checks who imports whom in the packages: `npm run verify -- layers`. The rules are in `lib/layerRules.ts`.
 */
import { filesMatching } from "./lib/files.ts"
import { layerFailures } from "./lib/layerRules.ts"
import { report } from "./lib/report.ts"

const files = filesMatching(/^packages\/[^/]+\/src\/.*\.ts$/)

report(layerFailures(files), `${files.length} files`)
