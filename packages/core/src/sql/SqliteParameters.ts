/**
 * Parameters of a query by their numbers, on every version of Node.
 *
 * @since 0.1.0
 */
import type { SQLInputValue } from "node:sqlite"

/**
 * A query whose parameters are all plain `?`, and the values for it from those
 * that its caller gives.
 *
 * @category models
 * @since 0.1.0
 */
export interface Positional {
  readonly sql: string
  readonly values: (given: ReadonlyArray<SQLInputValue>) => ReadonlyArray<SQLInputValue>
}

/**
 * Turns numbered parameters (`?1`) into plain ones and repeats their values as
 * often as the query names them. Before Node 24.7 a numbered parameter cannot be
 * bound by its position.
 *
 * @category constructors
 * @since 0.1.0
 */
export const positional = (sql: string): Positional => {
  const order: Array<number> = []
  const plain = sql.replace(/\?(\d+)/g, (_, number: string) => {
    order.push(Number(number) - 1)
    return "?"
  })
  return order.length === 0
    ? { sql, values: (given) => given }
    : { sql: plain, values: (given) => order.map((index) => given[index]!) }
}
