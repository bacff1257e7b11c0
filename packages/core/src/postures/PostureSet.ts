/**
 * The postures that a directory stands for, from one reading to the next.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A file that gives no posture now keeps the last one it gave, as long as
 *    the file is there.
 * 2. Of two files with one name the first in the order of file names is kept.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { Posture } from "../values/Posture.ts"
import * as PostureFile from "./PostureFile.ts"
import type { PostureText } from "./PostureFolder.ts"
import { type FileProblem, inFile } from "./PostureProblem.ts"

/**
 * Postures sorted by name, all problems in the order of files and lines, and
 * what is known of each file, by its path.
 *
 * @category models
 * @since 0.1.0
 */
export interface PostureSet {
  readonly postures: ReadonlyArray<Posture>
  readonly problems: ReadonlyArray<FileProblem>
  readonly files: ReadonlyMap<string, State>
}

/**
 * What is known of a file: its text if there is one, what that gives, and the
 * last posture it gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface State {
  readonly text: string | undefined
  readonly parsed: PostureFile.Parsed
  readonly last: Posture | undefined
}

/**
 * The set before anything was read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: PostureSet = { postures: [], problems: [], files: new Map() }

/**
 * The set after a directory was read again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const next = (
  previous: PostureSet,
  texts: ReadonlyArray<PostureText>,
  known: PostureFile.Known
): PostureSet => {
  const files = new Map(texts.map((text) => [text.file, stateOf(text, previous.files.get(text.file), known)]))
  const owners = new Map<string, { readonly file: string; readonly posture: Posture }>()
  const problems: Array<FileProblem> = []
  for (const [file, { last, parsed }] of files) {
    problems.push(...parsed.problems)
    const owner = last === undefined ? undefined : owners.get(last.name)
    if (last !== undefined && owner === undefined) owners.set(last.name, { file, posture: last })
    if (owner !== undefined) {
      const message = `The name "${owner.posture.name}" is taken by ${owner.file}, which is kept`
      problems.push(inFile(file)({ line: parsed.nameLine, field: "name", message }))
    }
  }
  const postures = [...owners.values()].map(({ posture }) => posture)
  return { postures: postures.sort((a, b) => a.name < b.name ? -1 : 1), problems, files }
}

const stateOf = (
  { file, name, text }: PostureText,
  previous: State | undefined,
  known: PostureFile.Known
): State =>
  Result.match(text, {
    onFailure: (problem) => ({
      text: undefined,
      parsed: { posture: undefined, nameLine: undefined, problems: [inFile(file)(problem)] },
      // A warning is of what is no file: the one that was there is gone.
      last: problem.severity === "warning" ? undefined : previous?.last
    }),
    onSuccess: (content) => {
      // Parsing is what costs when a directory is read every few seconds.
      if (previous?.text === content) return previous
      const parsed = PostureFile.parse(file, name, content, known)
      return { text: content, parsed, last: parsed.posture ?? previous?.last }
    }
  })
