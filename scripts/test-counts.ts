/**
 * Prints how many tests passed and failed, from a report that Vitest's JSON reporter wrote:
 * `node scripts/test-counts.ts <report>`. A file that could not be loaded counts as one failed test.
 */
import { readFileSync } from "node:fs"

interface TestFile {
  readonly status: string
  readonly assertionResults: ReadonlyArray<{ readonly status: string }>
}

const text = readFileSync(process.argv[2]!, "utf8")
// Vitest writes nothing if it fails to start.
const files: ReadonlyArray<TestFile> = text === "" ? [] : JSON.parse(text).testResults

const count = (file: TestFile, status: string): number =>
  file.assertionResults.filter((result) => result.status === status).length

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((total, each) => total + each, 0)

const passed = sum(files.map((file) => count(file, "passed")))
const failed = sum(files.map((file) => Math.max(count(file, "failed"), file.status === "failed" ? 1 : 0)))

console.log(`${passed} passed, ${failed} failed`)
if (passed === 0 || failed > 0) process.exitCode = 1
