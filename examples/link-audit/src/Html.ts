/**
 * Reads the tags of the raw HTML that stands in Markdown.
 *
 * The grammar of a tag is CommonMark's own, which is what the Markdown parser
 * used to tell HTML from text. Nothing here builds a tree.
 */

/** A piece of HTML. `line` counts from 0, from the start of the HTML. */
export type Token =
  | {
    readonly _tag: "Open"
    readonly name: string
    readonly attributes: ReadonlyMap<string, string>
    readonly line: number
  }
  | { readonly _tag: "Close"; readonly name: string }
  | { readonly _tag: "Text"; readonly text: string }

const attribute = /\s+[a-zA-Z_:][\w.:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?/

const token = new RegExp(
  [
    /<!--[^]*?(?:-->|$)/.source,
    `<([a-zA-Z][a-zA-Z0-9-]*)((?:${attribute.source})*)\\s*/?>`,
    /<\/([a-zA-Z][a-zA-Z0-9-]*)\s*>/.source,
    /<[?!][^>]*(?:>|$)/.source
  ].join("|"),
  "g"
)

/** Takes apart what {@link attribute} has matched. */
const nameAndValue = /\s+([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+)))?/g

/** Elements whose content a browser takes as text. */
const rawText = new Set(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"])

/**
 * Splits HTML into tags and the text between them. Comments and the content
 * of scripts, styles and the like are left out.
 */
export const tokens = (html: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  const text = (from: number, to: number) => {
    if (to > from) found.push({ _tag: "Text", text: decodeReferences(html.slice(from, to)) })
  }
  const lineAt = lineCounter(html)
  let end = 0
  token.lastIndex = 0
  for (let match = token.exec(html); match !== null; match = token.exec(html)) {
    text(end, match.index)
    end = token.lastIndex
    const [, open, attributes, close] = match
    if (close !== undefined) found.push({ _tag: "Close", name: close.toLowerCase() })
    if (open === undefined) continue
    const name = open.toLowerCase()
    found.push({ _tag: "Open", name, attributes: readAttributes(attributes ?? ""), line: lineAt(match.index) })
    if (rawText.has(name)) end = token.lastIndex = endOfRawText(html, name, end)
  }
  text(end, html.length)
  return found
}

/** The first attribute of a name wins, as in HTML. */
const readAttributes = (source: string): ReadonlyMap<string, string> => {
  const attributes = new Map<string, string>()
  for (const [, name = "", double, single, bare] of source.matchAll(nameAndValue)) {
    const key = name.toLowerCase()
    if (!attributes.has(key)) attributes.set(key, decodeReferences(double ?? single ?? bare ?? ""))
  }
  return attributes
}

const endOfRawText = (html: string, name: string, from: number): number => {
  const close = new RegExp(`</${name}(?=[\\s/>])`, "gi")
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}

/** Counts line ends up to an offset. Offsets must not decrease, so that all of them together cost one pass. */
const lineCounter = (text: string): (offset: number) => number => {
  const lineEnd = /\r\n|\r|\n/g
  let lines = 0
  let next = lineEnd.exec(text)
  return (offset) => {
    for (; next !== null && next.index < offset; next = lineEnd.exec(text)) lines++
    return lines
  }
}

const named = new Map([["amp", "&"], ["lt", "<"], ["gt", ">"], ["quot", "\""], ["apos", "'"], ["nbsp", "\u00a0"]])

/** Decodes numeric character references and the six names that addresses and headings use in practice. */
const decodeReferences = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named.get(name) ?? whole
    const code = hex === undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd"
  })
