/**
 * Marks tools that must not run twice.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * Annotation of a tool that must not run a second time by itself.
 *
 * **Details**
 *
 * A call in flight at a crash runs again when its run is recovered. A tool with
 * `tool.annotate(AtMostOnce, true)` does not: its start is recorded first, and a
 * call that started without a recorded result waits for a person, who lets it
 * run again, gives its result, or refuses it. Default: `false`.
 *
 * @category annotations
 * @since 0.1.0
 */
export const AtMostOnce = Context.Reference<boolean>("~mandate/AtMostOnce", { defaultValue: () => false })
