/**
 * Digests of text.
 *
 * @since 0.1.0
 */
import { createHash } from "node:crypto"

/**
 * The SHA-256 of a text in UTF-8, as 64 hexadecimal digits.
 *
 * @category formatting
 * @since 0.1.0
 */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * The first 16 hexadecimal digits of the SHA-256 of a text in UTF-8.
 *
 * @category formatting
 * @since 0.1.0
 */
export const short = (text: string): string => sha256(text).slice(0, 16)
