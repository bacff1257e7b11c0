/**
 * Tells whether a value is of the copy of `effect` that the core imports.
 *
 * **Details**
 *
 * Values of two copies look alike and mix without an error at first; later a
 * schema refuses what it should take. Only the identity of classes tells
 * copies apart.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Version from "effect/Version"

/**
 * Whether a fiber runs on the core's copy of `effect`.
 *
 * @category getters
 * @since 0.1.0
 */
export const isOwnFiber = (fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  classOf(fiber) === Effect.runSync(Effect.withFiberSucceed(classOf))

/**
 * Whether a schema is made with the core's copy of `effect`.
 *
 * @category getters
 * @since 0.1.0
 */
export const isOwnSchema = (schema: Schema.Top): boolean => classOf(schema.ast) === classOf(Schema.Unknown.ast)

/**
 * What to do about a second copy: a sentence for the end of a message.
 *
 * @category formatting
 * @since 0.1.0
 */
export const remedy = (): string =>
  `@mandate/core uses effect ${Version.getCurrentVersion()}; keep one copy: "npm ls effect" shows who brings the ` +
  `other, "npm dedupe" or an override in package.json removes it`

// The topmost prototype below that of plain objects. Were these no classes any more, all copies would look the same.
const classOf = (value: object): object => topmost(Object.getPrototypeOf(value))

const topmost = (prototype: object): object => {
  const above = Object.getPrototypeOf(prototype)
  return above === null || Object.getPrototypeOf(above) === null ? prototype : topmost(above)
}
