/**
 * The command, from its arguments to its exit code.
 */
import { Effect } from "effect"
import { Output } from "../../support/src/Output.ts"
import { escape } from "../../support/src/Text.ts"
import * as Folder from "./Folder.ts"
import * as Options from "./Options.ts"
import * as Runtime from "./Runtime.ts"
import * as Show from "./Show.ts"
import * as Walk from "./Walk.ts"

const allHeld = 0
const didNotHold = 1
const unusable = 2

/** Runs the command and gives its exit code. Interrupting it cancels what runs and removes the copy of the folder. */
export const run = (
  args: ReadonlyArray<string>,
  postures: string = Folder.original
): Effect.Effect<number, never, Output> =>
  Effect.gen(function*() {
    const output = yield* Output
    const options = yield* Options.parse(args)
    if (options.help) {
      yield* output.print(Options.usage)
      return allHeld
    }
    const folder = yield* Folder.copy(postures, options.keep)
    if (options.keep) yield* output.log(`The folder is kept: ${folder}`)
    yield* Effect.provide(
      Effect.scoped(Walk.walk(folder, Show.make(options.json))),
      Runtime.layer(folder, options.delayMillis)
    )
    return allHeld
  }).pipe(
    Effect.scoped,
    Effect.catchTag("UsageError", ({ message }) => complain(unusable, message)),
    Effect.catch(({ message }) => complain(didNotHold, message))
  )

const complain = Effect.fnUntraced(function*(exitCode: number, problem: string) {
  const output = yield* Output
  yield* output.log(`posture-desk: ${escape(problem)}`)
  return exitCode
})
