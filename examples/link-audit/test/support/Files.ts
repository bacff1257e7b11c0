/** Folders of Markdown for tests. */
import { Effect, FileSystem, Path } from "effect"

export type Files = Readonly<Record<string, string | Uint8Array>>

/** Writes files below a new folder and gives its path. A name that ends in `/` is a folder. */
export const write = Effect.fnUntraced(function*(files: Files) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  for (const [name, content] of Object.entries(files)) {
    const path = paths.join(root, name)
    yield* fs.makeDirectory(name.endsWith("/") ? path : paths.dirname(path), { recursive: true })
    if (name.endsWith("/")) continue
    yield* fs.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content)
  }
  return root
})

/** A word that stands in the text of every generated file, and in no link of it. */
export const marker = "PROSE-5d1c"

/**
 * Files that link to each other. Every file has five links, one of them to
 * the web; every third has two broken ones instead of sound ones.
 */
export const generated = (
  count: number
): { readonly files: Files; readonly fileLinks: number; readonly json: string } => {
  const name = (index: number) => `part-${index % 4}/file-${String(index % count).padStart(3, "0")}.md`
  const indices = Array.from({ length: count }, (_, index) => index)
  const isWorse = (index: number) => index % 3 === 0
  const text = (index: number) => {
    const next = name((index + 4) % count)
    return [
      `# File ${index}`,
      "",
      `${marker} [next](../${next}) and [heading](#file-${index})`,
      isWorse(index) ? "[gone](gone.md)" : "[part](..)",
      isWorse(index) ? "[nowhere](#nowhere)" : "[top](#top)",
      "<https://example.org>"
    ].join("\n")
  }
  const broken = indices.filter(isWorse).map((index) => ({ file: name(index) })).flatMap(({ file }) => [
    { file, line: 4, link: "gone.md", reason: "missing" },
    { file, line: 5, link: "#nowhere", reason: "no such heading" }
  ])
  return {
    files: Object.fromEntries(indices.map((index) => [name(index), text(index)])),
    fileLinks: 4 * count,
    json: JSON.stringify({
      files: count,
      links: 5 * count,
      broken: broken.toSorted((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line)
    })
  }
}
