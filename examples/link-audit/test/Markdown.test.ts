import { assert, describe, it } from "@effect/vitest"
import * as Markdown from "../src/Markdown.ts"

const lines = (...text: ReadonlyArray<string>) => text.join("\n")

const links = (text: string) => Markdown.parse(text).links.map(({ kind, line, target }) => `${line} ${kind} ${target}`)

const anchors = (text: string) => [...Markdown.parse(text).anchors]

describe("Markdown links", () => {
  it("finds inline links, images and links with titles", () => {
    const text = lines(
      "[a](a.md) and [b](<b c.md> \"title\")",
      "![i](i.png 'title')",
      "[![badge](badge.svg)](build.md)"
    )

    assert.deepStrictEqual(links(text), [
      "1 link a.md",
      "1 link b c.md",
      "2 image i.png",
      "3 link build.md",
      "3 image badge.svg"
    ])
  })

  it("takes a definition as the link and its uses as none", () => {
    const text = lines("[one][ref], [ref][], [ref], ![pic][ref]", "", "[ref]: target.md \"title\"")

    assert.deepStrictEqual(links(text), ["3 definition target.md"])
  })

  it("takes a reference without a definition as text", () => {
    assert.deepStrictEqual(links("[one][nowhere] and [nowhere] and [ ] todo"), [])
  })

  it("finds definitions in quotes and lists, used or not", () => {
    const text = lines("> [in quote]: a.md", "", "- item", "", "  [in list]: b.md", "", "[unused]: c.md")

    assert.deepStrictEqual(links(text), ["1 definition a.md", "5 definition b.md", "7 definition c.md"])
  })

  it("finds autolinks, bare addresses and mail addresses", () => {
    assert.deepStrictEqual(links("<https://a.example/x> https://b.example www.c.example me@d.example <me@e.example>"), [
      "1 link https://a.example/x",
      "1 link https://b.example",
      "1 link http://www.c.example",
      "1 link mailto:me@d.example",
      "1 link mailto:me@e.example"
    ])
  })

  it("finds no link in code, comments and escapes", () => {
    const text = lines(
      "`[a](a.md)` and ``[b](`b.md)`` and \\[c](c.md)",
      "",
      "```md",
      "[d](d.md)",
      "[d]: d.md",
      "```",
      "",
      "~~~",
      "[e](e.md)",
      "~~~",
      "",
      "    [f](f.md)",
      "",
      "<!-- [g](g.md)",
      "",
      "<a href=\"h.md\">h</a> -->",
      "",
      "text <!-- <a href=\"i.md\"> --> text"
    )

    assert.deepStrictEqual(links(text), [])
  })

  it("takes a fence that is never closed to the end", () => {
    assert.deepStrictEqual(links(lines("```", "[a](a.md)", "", "[b](b.md)")), [])
  })

  it("finds links in tables, footnotes, headings, lists and emphasis", () => {
    const text = lines(
      "# [h](h.md)",
      "",
      "| a | b |",
      "| - | - |",
      "| [t](t.md) | ~~[s](s.md)~~ |",
      "",
      "note[^1] **[e](e.md)**",
      "",
      "[^1]: see [f](f.md)",
      "",
      "1. - [l](l.md)"
    )

    assert.deepStrictEqual(links(text), [
      "1 link h.md",
      "5 link t.md",
      "5 link s.md",
      "7 link e.md",
      "9 link f.md",
      "11 link l.md"
    ])
  })

  it("gives the line a link starts on, whatever the line ends are", () => {
    const text = ["one", "two [a](a.md)", "[long", "text](b.md)", "", "c [c](c.md)"]
    const expected = ["2 link a.md", "3 link b.md", "6 link c.md"]

    assert.deepStrictEqual(links(text.join("\n")), expected)
    assert.deepStrictEqual(links(text.join("\r\n")), expected)
    assert.deepStrictEqual(links(text.join("\r")), expected)
  })

  it("undoes Markdown's escapes and character references in a target", () => {
    assert.deepStrictEqual(links("[a](a\\_b\\).md) [b](b&amp;c.md) [c](c(d).md)"), [
      "1 link a_b).md",
      "1 link b&c.md",
      "1 link c(d).md"
    ])
  })

  it("keeps an empty target", () => {
    assert.deepStrictEqual(links("[a]() ![b](<>)"), ["1 link ", "1 image "])
  })

  it("finds links and images in raw HTML", () => {
    const text = lines(
      "<p align=\"center\">",
      "  <a href=\"a.md?x=1&amp;y=2\" class='b'>a</a>",
      "  <img alt=\"x > y\"",
      "    SRC = i.png />",
      "</p>",
      "",
      "text <a",
      "href='b.md'>b</a> <a>none</a> <link href=\"no.css\">",
      "",
      "> <div>",
      "> <a href=c.md>c</a>"
    )

    assert.deepStrictEqual(links(text), [
      "2 html a.md?x=1&y=2",
      "3 html i.png",
      "7 html b.md",
      "11 html c.md"
    ])
  })

  it("finds no HTML link in comments, scripts and attributes", () => {
    const text = lines(
      "<div title='<a href=\"a.md\">'>",
      "<!-- <a href=\"b.md\"> -->",
      "<a data-href=\"c.md\">",
      "<a href=\"d.md\" href=\"second.md\">",
      "</div>",
      "",
      "<script>",
      "document.write('<a href=\"e.md\">')",
      "</script>",
      "",
      "<div><!-- <a href=\"f.md\">"
    )

    assert.deepStrictEqual(links(text), ["4 html d.md"])
  })

  it("skips a byte order mark and front matter, and keeps the lines", () => {
    const text = lines("\ufeff---", "title: '[a](a.md)'", "see: x", "---", "# Title", "[b](b.md)")

    assert.deepStrictEqual(links(text), ["6 link b.md"])
    assert.deepStrictEqual(anchors(text), ["title"])
    assert.deepStrictEqual(anchors("\ufeff# Title"), ["title"])
  })

  it("does not take text between two rules as front matter", () => {
    assert.deepStrictEqual(links(lines("---", "", "[a](a.md)", "", "---")), ["3 link a.md"])
    assert.deepStrictEqual(links(lines("text", "", "---", "see: [a](a.md)", "", "---")), ["4 link a.md"])
  })

  it("finds nothing in an empty text", () => {
    assert.deepStrictEqual(Markdown.parse(""), { links: [], anchors: new Set<string>() })
    assert.deepStrictEqual(links("\n\n"), [])
  })
})

describe("Markdown anchors", () => {
  it("makes slugs as GitHub does", () => {
    const text = lines(
      "# Hello, World!",
      "## `npm run` & _more_ (1.2)",
      "### Über straße 日本語",
      "#### 🚀 Getting started",
      "##### snake_case and dash-ed  twice",
      "###### [A link](x.md) with ![alt](i.png)image",
      "Setext",
      "======",
      "# Trailing ##"
    )

    assert.deepStrictEqual(anchors(text), [
      "hello-world",
      "npm-run--more-12",
      "über-straße-日本語",
      "-getting-started",
      "snake_case-and-dash-ed--twice",
      "a-link-with-image",
      "setext",
      "trailing"
    ])
  })

  it("numbers repeated headings and steps over a number that is taken", () => {
    assert.deepStrictEqual(anchors(lines("# A", "# A", "# A-1", "# a", "# A")), ["a", "a-1", "a-1-1", "a-2", "a-3"])
  })

  it("treats names of object members as plain headings", () => {
    const text = lines("# __proto__", "# \\_\\_proto\\_\\_", "# constructor", "# `__proto__`", "# `toString`")

    assert.deepStrictEqual(anchors(text), ["proto", "__proto__", "constructor", "__proto__-1", "tostring"])
  })

  it("takes headings in quotes and lists, and none in code", () => {
    const text = lines("> # Quoted", "", "- # Listed", "", "```", "# Fenced", "```", "", "    # Indented", "", "#None")

    assert.deepStrictEqual(anchors(text), ["quoted", "listed"])
  })

  it("skips a heading without a slug", () => {
    assert.deepStrictEqual(anchors(lines("# !!!", "# Real")), ["real"])
  })

  it("takes custom anchors as they are", () => {
    const text = lines(
      "## <a name=\"Custom\"></a>Heading",
      "text <a id='other'></a> <span id=span name=\"not\"></span>",
      "",
      "<div id=\"block\"><a name=\"a&amp;b\" id=\"\"></a></div>",
      "",
      "`<a id=\"code\"></a>` <!-- <a id=\"comment\"></a> -->"
    )

    assert.deepStrictEqual(anchors(text), ["heading", "Custom", "other", "span", "block", "a&b"])
  })

  it("takes HTML headings, also over several nodes, and numbers them with the others", () => {
    const text = lines(
      "<h1 align=\"center\">My <b>Project</b> &amp; more</h1>",
      "",
      "<h2>",
      "",
      "Spanning `nodes`",
      "",
      "</h2>",
      "",
      "# Spanning nodes",
      "",
      "<h3>never closed"
    )

    assert.deepStrictEqual(anchors(text), ["my-project--more", "spanning-nodes", "spanning-nodes-1"])
  })
})
