import { assert } from "@effect/vitest"
import { PostureFiles } from "@mandate/core/postures"
import { Effect } from "effect"
import { directory, type Files, yaml } from "./folder.ts"

/** What a directory of these files gives. */
export const load = Effect.fnUntraced(function*(files: Files, options?: PostureFiles.LoadOptions) {
  const path = yield* directory(files)
  return shown(path, yield* PostureFiles.load(path, options))
})

/** Problems without the part of their paths that differs each time. */
export const shown = (path: string, { postures, problems }: PostureFiles.Loaded) => ({
  postures,
  names: postures.map(({ name }) => name),
  problems: problems.map((problem) => PostureFiles.format(problem).replaceAll(`${path}/`, "")),
  severities: problems.map(({ severity }) => severity)
})

/** The problems of a file that has an error, beside one that is valid. */
export const problemsOf = (content: string | Uint8Array, name = "bad.yaml", options?: PostureFiles.LoadOptions) =>
  Effect.map(load({ [name]: content, "good.yaml": yaml("good") }, options), ({ names, problems, severities }) => {
    assert.deepStrictEqual(names, ["good"])
    assert.include(severities, "error")
    return problems
  })

/** The problems of a file that is taken all the same. */
export const warningsOf = (content: string, name = "a.yaml", options?: PostureFiles.LoadOptions) =>
  Effect.map(load({ [name]: content }, options), ({ postures, problems, severities }) => {
    assert.lengthOf(postures, 1)
    assert.notInclude(severities, "error")
    return problems
  })

/** What a posture has at least. */
export const bare = (name: string) => ({ name, description: "Does it", instructions: "You do it." })
