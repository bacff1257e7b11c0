/**
 * Formats a total for a terminal of 80 columns.
 */
import { count, escape } from "../../support/src/Text.ts"
import * as Report from "./Report.ts"

const maxWidth = 80
const gap = "  "

/**
 * Formats one row for each broken link, one line for each file that was not
 * audited, and a summary.
 */
export const format = (result: Report.AuditResult, failures: ReadonlyArray<Report.Failure> = []): string =>
  [
    ...rows(result.broken),
    ...notAudited(failures),
    ...(result.broken.length + failures.length > 0 ? [""] : []),
    summary(result, failures.length)
  ].join("\n")

/** A line for each file that was not audited; where very many have one reason, for the first of them. */
export const notAudited = (failures: ReadonlyArray<Report.Failure>): ReadonlyArray<string> =>
  [...new Set(failures.map(({ message }) => message))].flatMap((message) => {
    const files = failures.filter((failure) => failure.message === message).map(({ file }) => file)
    const shown = files.length > maxFilesPerReason ? files.slice(0, maxFilesPerReason - 1) : files
    const more = files.length - shown.length
    return [
      ...shown.map((file) => `Not audited: ${escape(file)}: ${escape(message)}`),
      ...(more === 0 ? [] : [`Not audited: ${count(more, "file")} more: ${escape(message)}`])
    ]
  })

const maxFilesPerReason = 10

const rows = (broken: ReadonlyArray<Report.Row>): ReadonlyArray<string> => {
  const places = broken.map((row) => escape(Report.isUnreadable(row) ? row.file : `${row.file}:${row.line}`))
  const links = broken.map((row) => escape(row.link))
  const free = maxWidth - widest(broken.map(({ reason }) => reason)) - 2 * gap.length
  const [placeWidth, linkWidth] = share(free, widest(places), widest(links))
  return broken.map(({ reason }, index) =>
    [column(places[index] ?? "", placeWidth), column(links[index] ?? "", linkWidth), reason].join(gap)
  )
}

const summary = ({ broken, files, links }: Report.AuditResult, failed: number): string => {
  const unread = broken.filter(Report.isUnreadable).length
  const brokenLinks = broken.length - unread
  return [
    `${count(links, "link")} in ${count(files, "file")}: ${brokenLinks === 0 ? "none" : brokenLinks} broken`,
    ...(unread === 0 ? [] : [`${count(unread, "file")} not readable`]),
    ...(failed === 0 ? [] : [`${count(failed, "file")} not audited`])
  ].join(", ")
}

/** Gives two columns the width they want, and half each at least when both want more than there is. */
const share = (free: number, left: number, right: number): readonly [number, number] => {
  if (left + right <= free) return [left, right]
  const half = Math.floor(free / 2)
  const leftWidth = right <= half ? free - right : Math.min(left, half)
  return [leftWidth, free - leftWidth]
}

const column = (text: string, columns: number): string => {
  const shown = shorten(text, columns)
  return shown + " ".repeat(columns - width(shown))
}

/** Cuts the middle out, since a path tells most at its two ends. */
const shorten = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  const characters = [...text]
  const tail = take(characters.toReversed(), Math.ceil((columns - 1) / 2)).toReversed()
  const head = take(characters, columns - 1 - width(tail.join("")))
  return `${head.join("")}…${tail.join("")}`
}

/** The first characters that fit. */
const take = (characters: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  let used = 0
  const end = characters.findIndex((character) => (used += width(character)) > columns)
  return end === -1 ? characters : characters.slice(0, end)
}

const widest = (texts: ReadonlyArray<string>): number => texts.reduce((most, text) => Math.max(most, width(text)), 0)

/** East Asian wide and full-width characters, in their main blocks. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

/** Columns that a text takes. Wide characters and emoji take two, accents that combine with a letter none. */
const width = (text: string): number => {
  let columns = 0
  for (const character of text) {
    if (/\p{Mn}/u.test(character)) continue
    columns += wide.test(character) || /\p{Emoji_Presentation}/u.test(character) ? 2 : 1
  }
  return columns
}
