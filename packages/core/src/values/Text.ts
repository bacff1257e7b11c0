/**
 * What a reader sees of a text.
 *
 * @since 0.1.0
 */

/**
 * Whether a text shows nothing: it is empty, or blank in any script.
 *
 * @category getters
 * @since 0.1.0
 */
export const isBlank = (text: string): boolean => !hasVisible.test(text)

// Blanks of any script: white space, format and control characters, and letters that show nothing.
const hasVisible = /[^\p{White_Space}\p{Cf}\p{Cc}\u2800\u3164\u115f\u1160\uffa0]/u
