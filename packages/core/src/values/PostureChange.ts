/**
 * What became of a posture.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Named } from "./Named.ts"
import { Posture } from "./Posture.ts"

/**
 * Schema for a change of a registry: a name that was free, a posture that
 * another one replaced, a name that is free again.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PostureChange = Schema.TaggedUnion({
  Added: { posture: Posture },
  Changed: { posture: Posture, previous: Posture },
  Removed: { posture: Posture }
})

/**
 * A change of a registry.
 *
 * @category models
 * @since 0.1.0
 */
export type PostureChange = Named<typeof PostureChange.Type>
