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

// Blanks of any script: white space, format and control characters, and letters and marks that show nothing.
const hasVisible = /[^\p{White_Space}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u
