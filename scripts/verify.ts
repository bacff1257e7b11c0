/**
 * Runs every check of the repository, or those named: `npm run verify -- layers docs`.
 *
 * A failed check does not stop the next one, so that one run shows all there is to fix.
 */
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./lib/files.ts"

const checks: Readonly<Record<string, ReadonlyArray<string>>> = {
  format: ["dprint", "check"],
  lint: ["oxlint", "--deny-warnings"],
  layers: ["node", "scripts/layers.ts"],
  sources: ["node", "scripts/sources.ts"],
  types: ["tsc", "-p", "tsconfig.json"],
  typetests: ["vitest", "run", "--config", "vitest.workspace.ts", "typetest/"],
  docs: ["node", "scripts/docs.ts"]
}

const env = {
  ...process.env,
  // npm sets this path for its scripts; `node scripts/verify.ts` works alone too.
  PATH: join(root, "node_modules/.bin") + delimiter + process.env["PATH"],
  // The output is captured, which some tools take for a screen.
  ...(process.stdout.isTTY ? {} : { NO_COLOR: "1" })
}

/** Runs one check and prints its line, and under it what a failed check had to say. */
const passes = (name: string): boolean => {
  const [command, ...args] = checks[name]!
  const start = performance.now()
  const { status, stdout, stderr, error } = spawnSync(command!, args, {
    cwd: root,
    env,
    encoding: "utf8",
    maxBuffer: 1e9
  })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const output = `${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`.trim()

  // The scripts of this folder end with a line that says what they checked.
  const summary = status === 0 && command === "node" ? output : ""
  console.log(
    `${status === 0 ? "ok    " : "FAILED"}  ${name.padEnd(9)}  ${seconds.padStart(5)} s  ${summary}`.trimEnd()
  )
  if (status !== 0) console.log(output.replace(/^/gm, "        "))
  return status === 0
}

const named = process.argv.slice(2)
const unknown = named.filter((name) => !Object.hasOwn(checks, name))
if (unknown.length > 0) {
  console.error(`No check is called ${unknown.join(", ")}. Checks: ${Object.keys(checks).join(", ")}`)
  process.exit(1)
}

const failed = (named.length > 0 ? named : Object.keys(checks)).filter((name) => !passes(name))
if (failed.length > 0) {
  console.log(`\nFailed: ${failed.join(", ")}`)
  process.exitCode = 1
}
