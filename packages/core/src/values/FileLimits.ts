/**
 * How many files an input may have, and how large they may be.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Options from "./Options.ts"

/**
 * Bounds on the files of one input.
 *
 * **Details**
 *
 * - `maxFiles`: number of files; 0 takes none. Default: 20
 * - `maxFileBytes`: bytes of one file, before it is encoded as base64.
 *   Default: 10 MiB
 * - `maxTotalBytes`: bytes of all files together. Default: 20 MiB
 *
 * Files behind a URL have no bytes here, and count in `maxFiles` alone. All
 * bounds have a ceiling: 1,000 files and 256 MiB.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileLimits {
  readonly maxFiles?: number
  readonly maxFileBytes?: number
  readonly maxTotalBytes?: number
}

/**
 * The bounds of an agent that sets none.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaults: Required<FileLimits> = {
  maxFiles: 20,
  maxFileBytes: 10 * 1024 * 1024,
  maxTotalBytes: 20 * 1024 * 1024
}

/**
 * The bounds of an agent, with the defaults for those that it does not set.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolve = (limits: FileLimits): Required<FileLimits> => ({
  ...defaults,
  // Bounds that are not valid are a problem of the definition, which never runs.
  ...Result.getOrElse(decode(limits), () => ({}))
})

/**
 * What is wrong with bounds, one sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (limits: FileLimits): ReadonlyArray<string> =>
  Result.match(decode(limits), { onSuccess: () => [], onFailure: (issues) => issues })

const wholeFrom = (least: number, most: number) =>
  Options.checked<number>(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
  )

const ceilingBytes = 256 * 1024 * 1024

const decode = Options.make<FileLimits>("bound", {
  maxFiles: wholeFrom(0, 1000),
  maxFileBytes: wholeFrom(1, ceilingBytes),
  maxTotalBytes: wholeFrom(1, ceilingBytes)
})
