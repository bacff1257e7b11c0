/**
 * Postures in files: a directory of YAML, or of Markdown with front matter.
 *
 * @since 0.1.0
 */
export * as PostureFiles from "./PostureFiles.ts"
