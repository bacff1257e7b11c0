/**
 * Finds the links and the anchors of a Markdown text as GitHub renders it.
 */
import GithubSlugger from "github-slugger"
import type { Heading, Html, Nodes } from "mdast"
import { fromMarkdown } from "mdast-util-from-markdown"
import { gfmFromMarkdown } from "mdast-util-gfm"
import { toString } from "mdast-util-to-string"
import { gfm } from "micromark-extension-gfm"
import { visit } from "unist-util-visit"
import * as HtmlTokens from "./Html.ts"

/** A link, with the line it starts on (from 1) and its target as written. */
export interface Link {
  readonly line: number
  readonly target: string
  readonly kind: "link" | "image" | "definition" | "html"
}

/** What an audit needs to know of one Markdown text. */
export interface Document {
  /** In the order of the text. */
  readonly links: ReadonlyArray<Link>

  /** The fragments that lead somewhere in this text. */
  readonly anchors: ReadonlySet<string>
}

/**
 * Parses GitHub Flavored Markdown.
 *
 * **Details**
 *
 * - A reference definition is a link and its uses are not, so a wrong target
 *   is reported once, on the line to mend. A reference without a definition
 *   is text.
 * - Raw HTML counts: `href` of `<a>` and `src` of `<img>` are links, `id` of
 *   any element and `name` of `<a>` are anchors, `<h1>` to `<h6>` are
 *   headings. Other attributes that hold addresses (`srcset`, `poster`) are
 *   not read.
 * - A byte order mark and YAML front matter are skipped.
 *
 * **Gotchas**
 *
 * Nesting many thousand levels deep overflows the stack of the Markdown
 * library, which throws.
 */
export const parse = (text: string): Document => {
  const root = fromMarkdown(blankFrontMatter(text), {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()]
  })
  const collector = new Collector()
  visit(root, (node) => collector.enter(node))
  return { links: collector.links, anchors: collector.anchors }
}

/**
 * Takes the nodes of one tree in the order of the text. The order matters:
 * slugs number the repetitions of a heading, and an HTML heading may span nodes.
 */
class Collector {
  readonly links: Array<Link> = []
  readonly anchors = new Set<string>()
  readonly #slugger = new GithubSlugger()
  /** Line of the latest node that has one; addresses found inside a text node have none. */
  #line = 1
  /** Text of the HTML heading that is open. */
  #htmlHeading: string | undefined

  enter(node: Nodes): void {
    this.#line = node.position?.start.line ?? this.#line
    switch (node.type) {
      case "link":
      case "image":
      case "definition":
        return this.#addLink(this.#line, node.url, node.type)
      case "heading":
        return this.#addHeading(headingText(node))
      case "html":
        return this.#enterHtml(node, this.#line)
      case "text":
      case "inlineCode":
        if (this.#htmlHeading !== undefined) this.#htmlHeading += node.value
    }
  }

  #enterHtml(node: Html, line: number): void {
    for (const token of HtmlTokens.tokens(node.value)) {
      switch (token._tag) {
        case "Open": {
          const { attributes, name } = token
          const target = name === "a" ? attributes.get("href") : name === "img" ? attributes.get("src") : undefined
          if (target !== undefined) this.#addLink(line + token.line, target, "html")
          this.#addAnchor(attributes.get("id"))
          if (name === "a") this.#addAnchor(attributes.get("name"))
          if (isHeading(name)) this.#htmlHeading = ""
          break
        }
        case "Text":
          if (this.#htmlHeading !== undefined) this.#htmlHeading += token.text
          break
        case "Close":
          if (this.#htmlHeading !== undefined && isHeading(token.name)) {
            this.#addHeading(this.#htmlHeading)
            this.#htmlHeading = undefined
          }
      }
    }
  }

  #addLink(line: number, target: string, kind: Link["kind"]): void {
    this.links.push({ line, target: target.trim(), kind })
  }

  #addHeading(text: string): void {
    this.#addAnchor(this.#slugger.slug(text))
  }

  #addAnchor(anchor: string | undefined): void {
    if (anchor !== undefined && anchor !== "") this.anchors.add(anchor)
  }
}

const isHeading = (name: string): boolean => /^h[1-6]$/.test(name)

/** GitHub makes the slug from what is shown as text: neither tags nor the texts of images. */
const headingText = (node: Heading): string => toString(node, { includeHtml: false, includeImageAlt: false })

/**
 * Replaces YAML front matter by as many blank lines. CommonMark would read it
 * as a rule and a heading.
 */
const blankFrontMatter = (text: string): string =>
  text.replace(
    /^\ufeff?---[ \t]*\r?\n(?=[a-zA-Z_][\w-]*[ \t]*:)[^]*?\r?\n---[ \t]*(?=\r?\n|$)/,
    (matter) => matter.replace(/[^\r\n]+/g, "")
  )
