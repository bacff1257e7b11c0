/**
 * Tells that something may have changed in a directory.
 *
 * **Details**
 *
 * A watcher of the operating system is bound to the directory itself: it says
 * nothing any more once that is gone, also when there is another one at its
 * path. So a watch is renewed whenever the directory is not the one it watches.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as PostureFolder from "./PostureFolder.ts"

/**
 * A watch. It ends with its scope.
 *
 * @category models
 * @since 0.1.0
 */
export interface FolderWatch {
  /** Watches the directory that is at the path now, if that is another one. */
  readonly renew: Effect.Effect<void>
}

/**
 * Starts to watch a directory. `changed` is called at every event, and once
 * when a watch begins, for what happened before.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(directory: string, changed: () => void) {
  const fs = yield* FileSystem.FileSystem
  const handle = yield* FiberHandle.make<void>()
  let current: { readonly identity: string } | undefined
  let isSilent = false

  const watch = (own: { readonly identity: string }) =>
    fs.watch(directory, { onReady: changed }).pipe(
      Stream.runForEach(() => Effect.sync(changed)),
      // Reading at intervals finds every change too. Said once, however often it is tried again.
      Effect.catchCause((cause) =>
        Effect.suspend(() => {
          if (isSilent) return Effect.void
          isSilent = true
          return Effect.logWarning("Postures are not watched, only read at intervals", cause)
        })
      ),
      Effect.annotateLogs({ directory }),
      Effect.ensuring(Effect.sync(() => {
        if (current === own) current = undefined
      }))
    )
  const renew = PostureFolder.identity(directory).pipe(
    Effect.provideService(FileSystem.FileSystem, fs),
    Effect.flatMap((identity) => {
      if (identity === current?.identity) return Effect.void
      current = { identity }
      return Effect.asVoid(FiberHandle.run(handle, watch(current)))
    }),
    // Whoever reads the directory says that it is gone.
    Effect.catch(() => FiberHandle.clear(handle))
  )
  yield* renew
  return { renew } satisfies FolderWatch
})
