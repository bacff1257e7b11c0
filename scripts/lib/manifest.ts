/**
 * From a package's `package.json` in the repository to the one that is published.
 */

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license?: string
  readonly type?: string
  readonly private?: boolean
  readonly sideEffects?: boolean
  readonly engines?: Readonly<Record<string, string>>
  /** By entry point, by condition. `mandate-source` names the source file that the entry point is built from. */
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly files?: ReadonlyArray<string>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The condition under which packages of the repository see each other's sources. Never published. */
export const sourceCondition = "mandate-source"

/** What npm does before it packs the folder of a package, so that no tarball is without what its entry points name. */
const prepack = "node ../../scripts/build.ts"

/** What a package must say to be built, and does not, one line each. */
export const manifestFailures = (manifest: Manifest): ReadonlyArray<string> => {
  const { name, exports, engines, peerDependencies } = manifest
  const required = [
    [manifest.private === true, "is not private; only its dist folder is published"],
    [
      manifest.scripts?.["prepack"] === prepack,
      `does not build itself before it is packed: prepack is not "${prepack}"`
    ],
    [JSON.stringify(manifest.files) === JSON.stringify(["dist"]), "packs more or less than its dist folder"],
    [manifest.type === "module", "has another type than module"],
    [manifest.sideEffects === false, "does not say that it has no side effects"],
    [(manifest.license ?? "") !== "", "has no license"],
    [(manifest.description ?? "") !== "", "has no description"],
    [engines?.["node"] !== undefined, "does not say which Node it needs"],
    [peerDependencies?.["effect"] !== undefined, "has no peer effect"],
    ["." in exports, "has no entry point \".\""]
  ] as const
  return [
    ...required.flatMap(([holds, failure]) => holds ? [] : [failure]),
    ...Object.entries(exports).flatMap(([entry, conditions]) => entryFailures(entry, conditions))
  ].map((failure) => `${name} ${failure}`)
}

/** Modules, their maps and declarations. npm adds the manifest, the README and the license by itself. */
const published = ["**/*.js", "**/*.js.map", "**/*.d.ts"]

/**
 * Where compilers find the types that users let them infer. Without it they cannot name those in the declarations of
 * users: what lies in a namespace of an entry point has no name from outside. There is nothing to load there.
 */
const inferred = { "./types/*": { types: "./*.d.ts" } }

/**
 * The manifest of the `dist` folder, which is what npm packs: no source condition, no tools of the repository, and
 * paths from `dist`.
 */
export const publishedManifest = (manifest: Manifest): Readonly<Record<string, unknown>> => {
  const { private: _private, scripts: _scripts, devDependencies: _devDependencies, exports, ...kept } = manifest
  const entries = Object.entries(exports).map(([entry, { [sourceCondition]: _source, ...conditions }]) => [
    entry,
    Object.fromEntries(Object.entries(conditions).map(([condition, path]) => [condition, fromDist(path)]))
  ])
  return {
    ...kept,
    exports: { ...Object.fromEntries(entries), ...inferred, "./package.json": "./package.json" },
    files: published
  }
}

/** What users import: the package, and its name with each path behind it. */
export const entryPoints = ({ name, exports }: Manifest): ReadonlyArray<string> =>
  Object.entries(exports)
    .filter(([, conditions]) => conditions["default"] !== undefined)
    .map(([entry]) => name + entry.slice(1))

/** Packages that a module may name: what is installed with it. */
export const installedWith = ({ dependencies, peerDependencies }: Manifest): ReadonlyArray<string> =>
  Object.keys({ ...dependencies, ...peerDependencies })

/** A README without links into the repository, which lead nowhere elsewhere; list items with such a link go whole. */
export const publishedReadme = (text: string): string =>
  `${
    text.split("\n")
      .filter((line) => !(/^\s*- /.test(line) && line.search(localLink) >= 0))
      .map((line) => line.replace(localLink, "$1"))
      .join("\n")
      .trimEnd()
  }\n`

const localLink = /\[([^\]\n]+)\]\((?![a-z]+:|#)[^)\n]*\)/g

// Sources and what is built from them have the same path below `src` and `dist`.
const entryFailures = (entry: string, conditions: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const source = /^\.\/src\/(.+)\.ts$/.exec(conditions[sourceCondition] ?? "")?.[1]
  if (source === undefined) return [`names no source for "${entry}"`]
  const expected = {
    [sourceCondition]: `./src/${source}.ts`,
    types: `./dist/${source}.d.ts`,
    default: `./dist/${source}.js`
  }
  return JSON.stringify(conditions) === JSON.stringify(expected)
    ? []
    : [`has for "${entry}" not ${JSON.stringify(expected)}`]
}

const fromDist = (path: string): string => path.replace(/^\.\/dist\//, "./")
