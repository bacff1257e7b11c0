/**
 * Changes of the registry, as the walk waits for them.
 */
import { Posture, PostureRegistry } from "@mandate/core"
import { Effect, Fiber, type Scope, Stream } from "effect"
import { ClaimError } from "./Show.ts"

/** A change in short: what became of which posture, and its version. */
export interface Change {
  readonly what: string
  readonly posture: string
  readonly version: string
}

/**
 * Waits for the next change from now on, in the background, and gives the
 * effect that has it. An editor, or a system that tells nothing, may take its
 * time; if it takes too long the claim does not hold.
 */
export const nextChange: Effect.Effect<
  Effect.Effect<Change, ClaimError>,
  never,
  PostureRegistry.PostureRegistry | Scope.Scope
> = Effect.gen(function*() {
  const { changes } = yield* PostureRegistry.PostureRegistry
  // It must have started before whoever calls this goes on to make the change.
  const fiber = yield* Effect.forkScoped(Stream.runCollect(Stream.take(changes, 1)), { startImmediately: true })
  return within("The registry notices the change.", Effect.map(Fiber.join(fiber), ([change]) => inShort(change!)))
})

/** Waits at most as long as the folder is read in any case. */
export const within = <A, E, R>(claim: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ClaimError, R> =>
  Effect.timeoutOrElse(effect, {
    duration: "20 seconds",
    orElse: () => Effect.fail(new ClaimError({ claim, found: "nothing, for 20 seconds" }))
  })

/** Names and versions of all postures that there are now. */
export const versions: Effect.Effect<ReadonlyArray<string>, never, PostureRegistry.PostureRegistry> = Effect.flatMap(
  PostureRegistry.PostureRegistry,
  ({ list }) => Effect.map(list, (all) => all.map((posture) => `${posture.name}@${Posture.version(posture)}`))
)

const inShort = ({ _tag, posture }: PostureRegistry.PostureChange): Change => ({
  what: _tag,
  posture: posture.name,
  version: Posture.version(posture)
})
