/**
 * Deterministic tests for Mandate agents.
 *
 * @since 0.1.0
 */
export * as FixedIds from "./FixedIds.ts"
export * as ModelClientContract from "./ModelClientContract.ts"
export * as RunStoreContract from "./RunStoreContract.ts"
export * as Script from "./Script.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
export * as ScriptError from "./ScriptError.ts"
export * as Step from "./Step.ts"
export * as StrictProvider from "./StrictProvider.ts"
export * as StrictRules from "./StrictRules.ts"
export * as TestRuntime from "./TestRuntime.ts"
