/**
 * Models for Mandate agents.
 *
 * @since 0.1.0
 */
export * as AiSdk from "./AiSdk.ts"
