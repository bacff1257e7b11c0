/**
 * Why a link is broken or a file cannot be read.
 */
import { Schema } from "effect"

/**
 * Schema for the reasons, in the fixed words that reports show.
 *
 * - `missing`: there is no such file or folder.
 * - `outside`: it is not in the audited folder, or a symbolic link leads out of it.
 * - `not a folder`: the target ends in `/` and is a file.
 * - `no such heading`: the file is there, the heading or anchor is not.
 * - `malformed`: the percent-encoding of the target cannot be decoded.
 * - `empty`: the link has no target.
 * - `unreadable`: the operating system refuses, it is no regular file, or the
 *   Markdown parser gives up.
 * - `too large`, `not UTF-8`, `not Markdown`: the file is there, and is not
 *   one that the audit reads.
 */
export const Reason = Schema.Literals([
  "missing",
  "outside",
  "not a folder",
  "no such heading",
  "malformed",
  "empty",
  "unreadable",
  "too large",
  "not UTF-8",
  "not Markdown"
])

/** Why a link is broken or a file cannot be read. */
export type Reason = typeof Reason.Type
