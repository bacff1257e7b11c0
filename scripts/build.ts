/**
 * Builds the packages as they are published: `npm run build`.
 *
 * `packages/<name>/dist` is the package: `npm pack packages/core/dist` makes the tarball that users install. Each source
 * file becomes a module and a declaration of its own, under the same path.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "tsup"
import { root } from "./lib/files.ts"
import { importsOf } from "./lib/imports.ts"
import { installedWith, type Manifest, manifestFailures, publishedManifest, publishedReadme } from "./lib/manifest.ts"
import { namedSources, undeclaredImports } from "./lib/packageFiles.ts"

/** In the order in which they need each other. */
const names = ["core", "providers", "testing"]

/** One module from each source file. Bundlers drop whole modules; of a bundled file they keep every namespace. */
const modules = async (source: string, dist: string): Promise<void> => {
  const files = globSync("**/*.ts", { cwd: source })
  await build({
    config: false,
    silent: true,
    entry: Object.fromEntries(files.map((file) => [file.slice(0, -".ts".length), join(source, file)])),
    outDir: dist,
    format: "esm",
    target: "es2022",
    platform: "node",
    tsconfig: join(root, "tsconfig.json"),
    sourcemap: true,
    splitting: false,
    removeNodeProtocol: false,
    external: [/^[^./]/],
    esbuildPlugins: [{
      name: "one-module-a-file",
      setup: ({ onResolve }) => {
        onResolve(
          { filter: /^\.\.?\// },
          ({ kind, path }) =>
            kind === "entry-point" ? undefined : { path: path.replace(/\.ts$/, ".js"), external: true }
        )
      }
    }]
  })
}

/** Names sources as users know them: a path out of the package leads nowhere where it is installed. */
const nameSources = (name: string, dist: string): void => {
  for (const file of globSync("**/*.js.map", { cwd: dist })) {
    const path = join(dist, file)
    writeFileSync(path, namedSources(readFileSync(path, "utf8"), name, file))
  }
}

// `tsup --dts` needs the classic compiler API, which TypeScript 7 does not have.
const declarations = (folder: string): ReadonlyArray<string> => {
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [tsc, "-p", join(folder, "tsconfig.build.json"), "--pretty", "false"],
    { cwd: root, encoding: "utf8" }
  )
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split("\n")
}

const importFailures = (dist: string, manifest: Manifest): ReadonlyArray<string> =>
  globSync("**/*.{js,d.ts}", { cwd: dist }).flatMap((file) =>
    undeclaredImports(importsOf(readFileSync(join(dist, file), "utf8")), manifest.name, installedWith(manifest))
      .map((specifier) => `${manifest.name}: ${file} imports ${specifier}, which the package does not depend on`)
  )

/** Builds one package and says what is wrong with it. */
const buildPackage = async (name: string): Promise<ReadonlyArray<string>> => {
  const folder = join(root, "packages", name)
  const dist = join(folder, "dist")
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const failures = manifestFailures(manifest)
  if (failures.length > 0) return failures

  rmSync(dist, { recursive: true, force: true })
  await modules(join(folder, "src"), dist)
  nameSources(manifest.name, dist)
  const errors = declarations(folder)
  if (errors.length > 0) return errors

  writeFileSync(join(dist, "package.json"), `${JSON.stringify(publishedManifest(manifest), undefined, 2)}\n`)
  writeFileSync(join(dist, "README.md"), publishedReadme(readFileSync(join(folder, "README.md"), "utf8")))
  copyFileSync(join(root, "LICENSE"), join(dist, "LICENSE"))
  return importFailures(dist, manifest)
}

for (const name of names) {
  const start = performance.now()
  const failures = await buildPackage(name)
  for (const failure of failures) console.error(failure)
  if (failures.length > 0) {
    process.exitCode = 1
    break
  }
  console.log(`built packages/${name}/dist in ${((performance.now() - start) / 1000).toFixed(1)} s`)
}
