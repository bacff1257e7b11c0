/**
 * How many files an input may have, and how large they may be.
 *
 * @since 0.1.0
 */

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
export const resolve = ({ maxFileBytes, maxFiles, maxTotalBytes }: FileLimits): Required<FileLimits> => ({
  maxFiles: maxFiles ?? defaults.maxFiles,
  maxFileBytes: maxFileBytes ?? defaults.maxFileBytes,
  maxTotalBytes: maxTotalBytes ?? defaults.maxTotalBytes
})

/**
 * What is wrong with bounds, one sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (limits: FileLimits): ReadonlyArray<string> =>
  Object.entries(limits).flatMap(([name, value]) => {
    const range = ranges[name as keyof FileLimits]
    if (!Object.hasOwn(ranges, name)) return [`there is no bound "${name}"; the bounds are ${names.join(", ")}`]
    const [least, most] = range
    return value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)
      ? []
      : [`${name} must be a whole number from ${least} to ${most}, not ${String(value)}`]
  })

const ceilingBytes = 256 * 1024 * 1024

const ranges: { readonly [name in keyof Required<FileLimits>]: readonly [least: number, most: number] } = {
  maxFiles: [0, 1000],
  maxFileBytes: [1, ceilingBytes],
  maxTotalBytes: [1, ceilingBytes]
}

const names = Object.keys(ranges)
