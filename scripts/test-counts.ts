/**
 * Prints which tests failed and why, and how many passed and failed, from a report that Vitest's JSON reporter wrote:
 * `node scripts/test-counts.ts <report>`. A file that could not be loaded counts as one failed test.
 */
import { readFileSync } from "node:fs"
import { relative } from "node:path"

interface TestFile {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: ReadonlyArray<{
    readonly status: string
    readonly fullName: string
    readonly failureMessages?: ReadonlyArray<string>
  }>
}

/** How much is shown of why a test failed: the whole of it is in the output of the tests. */
const maxLines = 5

const text = readFileSync(process.argv[2]!, "utf8")
// Vitest writes nothing if it fails to start.
const files: ReadonlyArray<TestFile> = text === "" ? [] : JSON.parse(text).testResults

const count = (file: TestFile, status: string): number =>
  file.assertionResults.filter((result) => result.status === status).length

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((total, each) => total + each, 0)

const passed = sum(files.map((file) => count(file, "passed")))
const failed = sum(files.map((file) => Math.max(count(file, "failed"), file.status === "failed" ? 1 : 0)))

const start = (text: string): string => text.split("\n").slice(0, maxLines).map((line) => `    ${line}`).join("\n")

for (const file of files.filter(({ status }) => status === "failed")) {
  const tests = file.assertionResults.filter(({ status }) => status === "failed")
  console.log(`failed in ${relative(process.cwd(), file.name)}:`)
  for (const test of tests) console.log(`  ${test.fullName}\n${start(test.failureMessages?.join("\n") ?? "")}`)
  if (tests.length === 0) console.log(start(file.message))
}
console.log(`${passed} passed, ${failed} failed`)
if (passed === 0 || failed > 0) process.exitCode = 1
