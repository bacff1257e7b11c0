/**
 * Models of the Vercel AI SDK.
 *
 * @since 0.1.0
 */
export { layer as fromEnv } from "./env/FromEnv.ts"
export { type Family, layer, make, type Options } from "./v4/Bridge.ts"
export { boundedFetch, maxResponseBytes } from "./v4/BoundedFetch.ts"
