/**
 * Keeps packages on one copy of `effect`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as EffectIdentity from "../values/EffectIdentity.ts"

/**
 * Dies when a package that builds on the core has another copy of `effect`
 * than the core.
 *
 * **When to use**
 *
 * Use it where such a package makes a layer or a client, with any schema from
 * its own import of `effect`. Applications need it nowhere: `bind` and `build`
 * check what runs them and the schemas they are given.
 *
 * **Example** (A layer of another package)
 *
 * ```ts
 * import { EffectCopy, ModelRegistry } from "@mandate/core"
 * import { Effect, Layer, Schema } from "effect"
 *
 * export const noModels = Layer.unwrap(
 *   Effect.as(EffectCopy.ensure("my-package", Schema.Unknown), ModelRegistry.layer({}))
 * )
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const ensure = (packageName: string, schema: Schema.Top): Effect.Effect<void> =>
  EffectIdentity.isOwnSchema(schema)
    ? Effect.void
    : Effect.die(
      new Error(`Two copies of effect: ${packageName} has another one than @mandate/core. ${EffectIdentity.remedy()}.`)
    )
