/**
 * Words of a provider or of the network that may be in errors and in what is
 * stored: codes and names, never text.
 *
 * @since 0.1.0
 */

/**
 * A code or a type as a provider gives it, such as `insufficient_quota`: 1 to
 * 64 of the characters `a-z A-Z 0-9 _ . -`. Nothing for any other value, nor
 * for one that looks like a key.
 *
 * @category getters
 * @since 0.1.0
 */
export const code = (value: unknown): string | undefined => match(value, /^[A-Za-z0-9_.-]{1,64}$/)

/**
 * The name of a parameter of a request, such as `messages[2].content`: as
 * {@link code}, and with `[` and `]`.
 *
 * @category getters
 * @since 0.1.0
 */
export const parameter = (value: unknown): string | undefined => match(value, /^[A-Za-z0-9_.[\]-]{1,64}$/)

/**
 * What became of a connection: a code of the network or of TLS, and the host
 * and port it was made to, such as `ECONNREFUSED 127.0.0.1:8080`.
 *
 * @category getters
 * @since 0.1.0
 */
export const network = (value: unknown): string | undefined =>
  match(value, /^[A-Za-z0-9_]{1,64}( [A-Za-z0-9.:[\]_-]{1,255})?$/)

const match = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === "string" && pattern.test(value) && !looksLikeKey.test(value) ? value : undefined

// Keys of providers and clouds, and tokens of the JWT form.
const looksLikeKey = /^(sk|pk|rk|gsk|xai|hf|key)[-_]|^(AIza|gh[pousr]_|github_pat_|xox|eyJ|AKIA|ya29)/i
