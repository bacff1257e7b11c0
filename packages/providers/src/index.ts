/**
 * Models for Mandate agents.
 *
 * @since 0.1.0
 */
export * as AiSdk from "./AiSdk.ts"
export * as AiSdkEnv from "./AiSdkEnv.ts"
export * as AiSdkRegistry from "./AiSdkRegistry.ts"
export * as AiSdkTools from "./AiSdkTools.ts"
export * as EffectAi from "./EffectAi.ts"
export * as McpTools from "./McpTools.ts"
export * as ModelFallback from "./ModelFallback.ts"
export * as StandardTools from "./StandardTools.ts"
