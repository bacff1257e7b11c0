/**
 * Cached results in any storage that `effect/persistence` can use.
 *
 * @since 0.1.0
 */
export * as ResultCachePersistence from "./ResultCachePersistence.ts"
