/**
 * What a client gave, made JSON and checked.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Problem } from "./Problem.ts"

/**
 * The problem of a response that does not have the shape of one.
 *
 * @category errors
 * @since 0.1.0
 */
export const malformed: Problem = {
  reason: "invalid-response",
  detail: "the response does not have the shape of one"
}

/**
 * Reads something as if it had the type that its client gives it, makes JSON
 * of it, and checks what comes out.
 *
 * **Details**
 *
 * Keys that are `undefined` are dropped, and what has a JSON form becomes it.
 * A reader that throws has met something that is off its type.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <S extends Schema.Top>(schema: S): <A extends S["Type"]>(
  read: () => Result.Result<A, Problem>
) => Result.Result<A, Problem> => {
  const is = Schema.is(schema)
  return <A extends S["Type"]>(read: () => Result.Result<A, Problem>) =>
    Result.try({ try: () => Result.map(read(), toJson<A>), catch: () => malformed }).pipe(
      Result.flatMap((made) => made),
      Result.filterOrFail((made): made is A => is(made), () => malformed)
    )
}

const toJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))
