/**
 * Variables of the environment, read through `Config`.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { InvalidVariable } from "./EnvError.ts"

/**
 * Reads a variable. `undefined`: it is absent or empty.
 *
 * @category getters
 * @since 0.1.0
 */
export const text = (variable: string): Effect.Effect<string | undefined, InvalidVariable> =>
  Effect.map(read(variable, Config.String(variable)), (value) => value === "" ? undefined : value)

/**
 * Reads the base URL of a server. Only `http:` and `https:` are taken.
 *
 * @category getters
 * @since 0.1.0
 */
export const baseUrl = (variable: string): Effect.Effect<string | undefined, InvalidVariable> =>
  Effect.flatMap(text(variable), (given) => {
    if (given === undefined) return Effect.undefined
    const url = URL.parse(given)
    return url !== null && /^https?:$/.test(url.protocol)
      ? Effect.succeed(url.href)
      : Effect.fail(new InvalidVariable({ variable, problem: "must be a URL that starts with http:// or https://" }))
  })

/**
 * Reads a key. Only keys that can be sent in a header are taken.
 *
 * @category getters
 * @since 0.1.0
 */
export const key = (variable: string): Effect.Effect<Redacted.Redacted | undefined, InvalidVariable> =>
  Effect.flatMap(read(variable, Config.Redacted(variable)), (value) => {
    if (value === undefined || Redacted.value(value) === "") return Effect.undefined
    return /^[\x21-\x7e]+$/.test(Redacted.value(value))
      ? Effect.succeed(value)
      : Effect.fail(new InvalidVariable({ variable, problem: "holds a character that cannot be sent" }))
  })

const read = <A>(variable: string, config: Config.Config<A>): Effect.Effect<A | undefined, InvalidVariable> =>
  Effect.mapBoth(Config.option(config), {
    onSuccess: Option.getOrUndefined,
    onFailure: () => new InvalidVariable({ variable, problem: "cannot be read" })
  })
