/**
 * What an application pays for the packages in a bundle.
 */
import { build } from "esbuild"
import { gzipSync } from "node:zlib"

export interface Size {
  readonly bytes: number
  readonly gzip: number
}

/** Size of a minified bundle of some code that is resolved from a folder. */
export const sizeOf = async (folder: string, code: string, external: ReadonlyArray<string>): Promise<Size> => {
  const { outputFiles: [file] } = await build({
    stdin: { contents: code, resolveDir: folder, loader: "js" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "es2022",
    logLevel: "silent",
    external: [...external]
  })
  const { contents } = file!
  return { bytes: contents.byteLength, gzip: gzipSync(contents, { level: 9 }).byteLength }
}

/** Rows of numbers under their heads, in columns. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>): string => {
  const cells = [head, ...rows.map((row) => row.map((cell) => typeof cell === "number" ? grouped(cell) : cell))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells
    .map((row) =>
      row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)).join("  ")
    )
    .join("\n")
}

const grouped = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, " ")
