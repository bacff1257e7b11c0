/**
 * How a check ends: its failures, one a line, then one line that says what was checked.
 */
export const report = (failures: ReadonlyArray<string>, summary: string): void => {
  for (const failure of failures) console.log(failure)
  console.log(summary)
  if (failures.length > 0) process.exitCode = 1
}
