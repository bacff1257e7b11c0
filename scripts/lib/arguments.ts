/**
 * The command lines of the scripts: what they take, and a sentence where they are given something else.
 */
import { parseArgs, type ParseArgsConfig } from "node:util"

type Parsed<T extends ParseArgsConfig> = ReturnType<typeof parseArgs<T>>

/** Says what is wrong with the command line and how it is used, and exits with 2. */
export const misused: (problem: string, usage: string) => never = (problem, usage) => {
  console.error(`${problem}\nusage: ${usage}`)
  process.exit(2)
}

/** Reads the command line. `--help` prints the usage; what `parseArgs` refuses is `misused`. */
export const readArguments = <const T extends ParseArgsConfig>(usage: string, config: T): Parsed<T> => {
  if (process.argv.slice(2).includes("--help")) {
    console.log(`usage: ${usage}`)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    // Only the first sentence: the others advise on `--`, which no script here takes.
    return misused((error instanceof Error ? error.message : String(error)).split(". ")[0]!, usage)
  }
}

/** Reads a whole number from `least` on. */
export const wholeNumber = (name: string, text: string, least: number, usage: string): number => {
  const value = Number(text)
  return text.trim() !== "" && Number.isSafeInteger(value) && value >= least
    ? value
    : misused(`${name} takes a whole number, ${least} or more, not "${text}"`, usage)
}
