/**
 * Typed agents that delegate.
 *
 * @since 0.1.0
 */
export * as Json from "./values/Json.ts"
export * as Message from "./values/Message.ts"
export * as ModelError from "./values/ModelError.ts"
export type * as ModelRequest from "./values/ModelRequest.ts"
export * as ModelResponse from "./values/ModelResponse.ts"
export * as Usage from "./values/Usage.ts"
export * as Utf8 from "./values/Utf8.ts"
export type * as ModelClient from "./service/ModelClient.ts"
export { IdSource } from "./service/IdSource.ts"
export * as ModelRegistry from "./service/ModelRegistry.ts"
