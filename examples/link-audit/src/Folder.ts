/**
 * The folder under audit: its Markdown files, their links, and whether a link leads somewhere.
 *
 * How a target is understood:
 *
 * - A relative target starts at the folder of its file; one that starts with
 *   `/` at the audited folder, as GitHub starts at the repository.
 * - A fragment is checked where it leads into Markdown: a Markdown file, or
 *   the `README.md` that GitHub shows below a folder. A folder without one has
 *   no headings. Fragments of other files are not checked.
 * - A fragment matches as it is or in lower case, as on GitHub, where
 *   `#Install` finds `install`. An empty fragment and `#top` are the top of
 *   the page.
 * - Whether the case of a file name matters is up to the file system.
 */
import { Cache, Context, Effect, type FileSystem, Layer, Path, Schema } from "effect"
import * as ConfinedFiles from "./ConfinedFiles.ts"
import * as Markdown from "./Markdown.ts"
import { Reason } from "./Reason.ts"
import * as Target from "./Target.ts"

/** Schema for the links of one file: how many are web or mail addresses, and the others, which can be checked. */
export const LinkList = Schema.Struct({
  web: Schema.Natural,
  targets: Schema.Array(Schema.Struct({ line: Schema.Natural, target: Schema.String }))
})

/** The links of one file. */
export type LinkList = typeof LinkList.Type

/** Schema for whether a link leads somewhere, and if not, why. */
export const Verdict = Schema.Union([
  Schema.Struct({ ok: Schema.Literal(true) }),
  Schema.Struct({ ok: Schema.Literal(false), reason: Reason })
])

/** Whether a link leads somewhere. */
export type Verdict = typeof Verdict.Type

/**
 * The folder under audit.
 *
 * **Details**
 *
 * Every path is relative to the folder, with `/`. A path that leaves it, also
 * over a symbolic link, is a `FileError` with the reason `outside`. A file is
 * parsed once: the folder is taken to stand still while it is audited.
 */
export class Folder extends Context.Service<Folder, {
  /** The Markdown files, sorted. */
  readonly files: Effect.Effect<ReadonlyArray<string>, ConfinedFiles.FolderError>

  /** The text of a Markdown file. */
  readonly read: (path: string) => Effect.Effect<string, ConfinedFiles.FileError>

  /** The links of a Markdown file. */
  readonly listLinks: (path: string) => Effect.Effect<LinkList, ConfinedFiles.FileError>

  /** Checks a target that stands in the file at `path`. Web and mail addresses pass unchecked. */
  readonly checkTarget: (path: string, target: string) => Effect.Effect<Verdict, ConfinedFiles.FileError>
}>()("link-audit/Folder") {}

/** Opens a folder. */
export const open = Effect.fnUntraced(function*(
  folder: string
): Effect.fn.Return<Folder["Service"], ConfinedFiles.FolderError, FileSystem.FileSystem | Path.Path> {
  const files = yield* ConfinedFiles.make(folder)
  const { dirname } = yield* Path.Path
  const documents = yield* Cache.make({
    capacity: maxDocuments,
    lookup: (path: string) => Effect.flatMap(files.read(path), (text) => parse(path, text))
  })

  const locate = (target: string, from: string) => {
    if (target === "") return files.locate(from)
    return target.startsWith("/") ? files.locate(`.${target}`) : files.locate(target, dirname(from))
  }

  /** The anchors that a fragment can lead to; none where fragments are not checked. */
  const anchorsOf = Effect.fnUntraced(function*(entry: ConfinedFiles.Entry) {
    if (entry.type !== "Directory") {
      return ConfinedFiles.isMarkdown(entry.path) ? (yield* Cache.get(documents, entry.path)).anchors : undefined
    }
    const readme = (yield* files.names(entry)).find((name) => name.toLowerCase() === "readme.md")
    if (readme === undefined) return new Set<string>()
    return (yield* Cache.get(documents, (yield* files.locate(readme, entry.path)).path)).anchors
  })

  /** A reason against the target is a verdict here, not an error. */
  const checkLocal = Effect.fnUntraced(
    function*(from: string, target: string, fragment: string) {
      const entry = yield* locate(target, from)
      if (target.endsWith("/") && entry.type !== "Directory") return broken("not a folder")
      if (fragment === "" || fragment.toLowerCase() === "top") return sound
      const anchors = yield* anchorsOf(entry)
      return anchors === undefined || anchors.has(fragment) || anchors.has(fragment.toLowerCase())
        ? sound
        : broken("no such heading")
    },
    Effect.catchTag("FileError", ({ reason }) => Effect.succeed(broken(reason)))
  )

  return Folder.of({
    files: files.markdownFiles,
    read: files.read,
    listLinks: Effect.fn("Folder.listLinks")(function*(path) {
      const { links } = yield* Cache.get(documents, path)
      const targets = links.filter(({ target }) => Target.parse(target)._tag !== "Web")
      return {
        web: links.length - targets.length,
        targets: targets.map(({ line, target }) => ({ line, target }))
      }
    }),
    checkTarget: Effect.fn("Folder.checkTarget")(function*(path, target) {
      const from = yield* files.locate(path)
      return yield* Target.Target.$match(Target.parse(target), {
        Web: () => Effect.succeed(sound),
        Empty: () => Effect.succeed(broken("empty")),
        Malformed: () => Effect.succeed(broken("malformed")),
        Local: (local) => checkLocal(from.path, local.path, local.fragment)
      })
    })
  })
})

/** Layer that opens a folder. */
export const layer = (
  folder: string
): Layer.Layer<Folder, ConfinedFiles.FolderError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(Folder, open(folder))

/** Bounds the memory of an audit; a file that falls out is parsed again when it is asked for. */
const maxDocuments = 1_000

const sound: Verdict = { ok: true }

const broken = (reason: Reason): Verdict => ({ ok: false, reason })

const parse = (path: string, text: string) =>
  Effect.try({
    try: () => Markdown.parse(text),
    catch: () => new ConfinedFiles.FileError({ path, reason: "unreadable" })
  })
