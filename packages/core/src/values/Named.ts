/**
 * Names for unions.
 *
 * @since 0.1.0
 */

/**
 * The same union, with the name of the alias that is declared as it.
 *
 * **Details**
 *
 * `typeof Event.Type` of a union's schema has no name: editors and declarations
 * spell out all its cases wherever `Event` stands.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Named<A> = A extends unknown ? A : never
