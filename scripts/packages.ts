/**
 * Checks the packages as their users get them: `npm run check:packages`.
 *
 * Builds and packs them, installs the tarballs in a folder outside of the repository, compiles and runs the example of
 * the README there, runs a program with SQLite on every runtime, tries a second copy of `effect`, and prints sizes.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { sizeOf, table } from "./lib/bundles.ts"
import { compile, install, type Ran, run, withSecondEffect, write } from "./lib/consumer.ts"
import * as programs from "./lib/consumerPrograms.ts"
import { root } from "./lib/files.ts"
import { entryPoints, type Manifest, sourceCondition } from "./lib/manifest.ts"
import { sourceMapFailures, tarballFailures } from "./lib/packageFiles.ts"
import { installRuntimes, runtimesIn } from "./lib/runtimes.ts"

const dists = ["core", "providers", "testing"].map((name) => join(root, "packages", name, "dist"))
const folder = mkdtempSync(join(tmpdir(), "mandate-packages-"))
const tarballs = join(folder, "tarballs")
const app = join(folder, "app")
const runtimes = join(folder, "runtimes")

/** Prints a line for a step and, under it, what is wrong. */
const step = async (
  name: string,
  check: () => ReadonlyArray<string> | Promise<ReadonlyArray<string>>
): Promise<boolean> => {
  const start = performance.now()
  const failures = await check()
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${failures.length === 0 ? "ok    " : "FAILED"}  ${seconds.padStart(5)} s  ${name}`)
  for (const failure of failures) console.log(failure.replace(/^/gm, "        "))
  if (failures.length > 0) process.exitCode = 1
  return failures.length === 0
}

const failuresOf = ({ ok, output }: Ran): ReadonlyArray<string> => ok ? [] : [output]
const json = (text: string) => JSON.parse(text)
const manifestOf = (dist: string): Manifest => json(readFileSync(join(dist, "package.json"), "utf8"))

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}
let packed: ReadonlyArray<Packed> = []

const pack = (): ReadonlyArray<string> => {
  mkdirSync(tarballs)
  const ran = run(root, "npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", tarballs, ...dists])
  if (!ran.ok) return [ran.output]
  packed = json(ran.stdout)
  return packed.flatMap(({ filename, files }, index) => {
    const paths = files.map(({ path }) => path)
    const dist = dists[index]!
    const maps = paths.filter((path) => path.endsWith(".map")).flatMap((path) =>
      sourceMapFailures(readFileSync(join(dist, path), "utf8"), manifestOf(dist).name, path)
    )
    return [...tarballFailures(paths), ...maps].map((failure) => `${filename}: ${failure}`)
  })
}

const lint = async (): Promise<ReadonlyArray<string>> =>
  (await Promise.all(packed.map(async ({ filename }) => {
    // A copy: the buffer of a small file is part of a larger one.
    const { buffer: tarball } = new Uint8Array(readFileSync(join(tarballs, filename)))
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
    return messages.map((message) => `${pkg["name"]}: ${formatMessage(message, pkg, { color: false })}`)
  }))).flat()

/** Runs a compiled program and compares what it prints with the README. */
const runExample = (path: string): ReadonlyArray<string> => {
  const ran = run(app, process.execPath, [path])
  const expected = /^```text\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1]
  return ran.stdout === expected ? [] : [`${path} does not print what README.md shows:\n${ran.output}`]
}

const secondCopy = (under: string, program: string): ReadonlyArray<string> =>
  withSecondEffect(app, under, () => {
    const { ok, output } = run(app, process.execPath, [program])
    return !ok && /two copies of effect/i.test(output)
      ? []
      : [`${program} with a second effect under ${under} did not say so:\n${output}`]
  })

/** Runs each program on each runtime, in a folder of its own, and compares what it prints. */
const onEveryRuntime = (): ReadonlyArray<string> =>
  runtimesIn(runtimes).flatMap(({ command: [executable, ...args], name }) =>
    Object.entries(programs.printed).flatMap(([path, expected]) => {
      const { output, stdout } = run(app, executable, [...args, path, mkdtempSync(join(folder, "run-"))])
      return stdout.trim() === expected ? [] : [`${path} on ${name} does not print "${expected}":\n${output}`]
    })
  )

const sizes = async (): Promise<ReadonlyArray<string>> => {
  const rows = await Promise.all(
    Object.entries(programs.bundled).map(async ([name, code]) => {
      const own = await sizeOf(app, code, ["effect"])
      const all = await sizeOf(app, code, [])
      return [name, own.bytes, own.gzip, all.bytes, all.gzip] as const
    })
  )
  console.log(table(["bundle, minified", "bytes", "gzip", "with effect", "gzip"], rows))
  const [least, core] = [programs.smallest, programs.main].map((name) => rows.find((row) => row[0] === name)?.[1])
  return least! * 10 < core! ? [] : [`a bundle of ${programs.smallest} holds ${least} bytes: unused modules are kept`]
}

const steps: ReadonlyArray<readonly [string, () => ReadonlyArray<string> | Promise<ReadonlyArray<string>>]> = [
  ["builds", () => failuresOf(run(root, process.execPath, ["scripts/build.ts"]))],
  ["packs: no sources, no tests, nothing missing", pack],
  ["publint", lint],
  ["installs outside of the repository", () => {
    const { version } = json(readFileSync(join(root, "node_modules/effect/package.json"), "utf8"))
    return failuresOf(install(app, [...packed.map(({ filename }) => join(tarballs, filename)), `effect@${version}`]))
  }],
  ["compiles under NodeNext and prints what README.md shows", () => {
    for (const [path, text] of Object.entries(programs.files)) write(app, path, text)
    write(app, "everything.ts", programs.everything(dists.map(manifestOf).flatMap(entryPoints)))
    write(app, "readme.ts", readFileSync(join(root, "docs/examples/readme.ts"), "utf8"))
    const failures = failuresOf(
      compile(app, "NodeNext", ["readme.ts", ...programs.compiled, ...programs.compiledForNode])
    )
    return [...failures, ...runExample("NodeNext/readme.js")]
  }],
  ["shows unions by their names", () => {
    const declarations = readFileSync(join(app, "NodeNext/inferred.d.ts"), "utf8")
    return declarations.includes("_tag") ? [`inferred.d.ts spells a union out:\n${declarations}`] : []
  }],
  ["compiles under bundler and prints what README.md shows", () => {
    const failures = failuresOf(compile(app, "bundler", ["readme.ts", ...programs.compiled]))
    return [...failures, ...runExample("bundler/readme.js")]
  }],
  [
    "loads every entry point, and runs with one copy of effect",
    () =>
      // The condition must find nothing: users may set one of the same name.
      [[`--conditions=${sourceCondition}`, "NodeNext/everything.js"], ...programs.sound.map((path) => [path])]
        .flatMap((args) => failuresOf(run(app, process.execPath, args)))
  ],
  ["installs the oldest and newest Node, Bun and Deno", () => failuresOf(installRuntimes(runtimes))],
  ["runs on each with SQLite, as ES modules and as CommonJS", onEveryRuntime],
  ["finds a second effect under @mandate/core", () => secondCopy("node_modules/@mandate/core", "bind.js")],
  ["finds a second effect under @mandate/testing", () => secondCopy("node_modules/@mandate/testing", "script.js")],
  ["finds a second effect in a library of agents", () => secondCopy("library", "library.js")],
  ["leaves unused modules out of bundles", sizes]
]

try {
  for (const [name, check] of steps) if (!await step(name, check)) break
} finally {
  rmSync(folder, { recursive: true, force: true })
}
