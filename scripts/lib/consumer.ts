/**
 * An application outside of the repository that installs the packages as its users do.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./files.ts"

export interface Ran {
  readonly ok: boolean
  readonly stdout: string
  /** Both streams, for people. */
  readonly output: string
}

/** Runs a program to its end in a folder. */
export const run = (cwd: string, command: string, args: ReadonlyArray<string>): Ran => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1e9,
    env: { ...process.env, NO_COLOR: "1" }
  })
  return {
    ok: status === 0,
    stdout: stdout ?? "",
    output: `${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`.trim()
  }
}

/** Writes a file of an application, with the folders above it. */
export const write = (folder: string, path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** Makes an application and installs packages by name or tarball, with nothing of the repository in reach. */
export const install = (folder: string, packages: ReadonlyArray<string>): Ran => {
  write(folder, "package.json", JSON.stringify({ private: true, type: "module" }))
  return run(folder, "npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...packages])
}

/** How applications set up their compiler. Declarations of libraries are checked too. */
export const compilerOptions = {
  NodeNext: { module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: {
    module: "ESNext",
    moduleResolution: "bundler",
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true
  }
} as const

/** Compiles files of an application, with declarations, into a folder that is named after the module resolution. */
export const compile = (
  folder: string,
  resolution: keyof typeof compilerOptions,
  files: ReadonlyArray<string>
): Ran => {
  const options = {
    ...compilerOptions[resolution],
    target: "ES2022",
    lib: ["ES2023", "DOM"],
    types: [],
    strict: true,
    declaration: true,
    skipLibCheck: false,
    outDir: resolution
  }
  const config = `tsconfig.${resolution}.json`
  write(folder, config, JSON.stringify({ compilerOptions: options, files }))
  return run(folder, process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    config,
    "--pretty",
    "false"
  ])
}

/** Puts a second copy of `effect` under a folder of an application, for as long as `use` takes. */
export const withSecondEffect = <A>(folder: string, under: string, use: () => A): A => {
  const modules = join(folder, under, "node_modules")
  cpSync(join(folder, "node_modules/effect"), join(modules, "effect"), {
    recursive: true,
    filter: (path) => !/\/effect\/(?:src|ai-docs)$|\.(?:d\.ts|map)$/.test(path)
  })
  try {
    return use()
  } finally {
    rmSync(modules, { recursive: true })
  }
}
