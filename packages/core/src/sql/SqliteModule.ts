/**
 * SQLite as this runtime has it.
 *
 * @since 0.1.0
 */
import type { DatabaseSync } from "node:sqlite"

/**
 * The class of SQLite's connections. Nothing where the runtime has no
 * `node:sqlite`. It is asked for when a store opens: an import would end the
 * program on a runtime without it, before anything could say why.
 *
 * @category getters
 * @since 0.1.0
 */
export const load = (): typeof DatabaseSync | undefined =>
  globalThis.process?.getBuiltinModule?.("node:sqlite")?.DatabaseSync

/**
 * Whether a connection tells if it is in a transaction and waits for locks,
 * which those of Node before 22.16, and of Node 23, do not.
 *
 * @category getters
 * @since 0.1.0
 */
export const isComplete = (db: DatabaseSync): boolean => typeof db.isTransaction === "boolean"

/**
 * The runtime and its version: "Node 20.20.2".
 *
 * @category getters
 * @since 0.1.0
 */
export const runtime = (): string => {
  const versions = globalThis.process?.versions as { readonly [name: string]: string | undefined } | undefined
  if (versions?.["deno"] !== undefined) return `Deno ${versions["deno"]}`
  if (versions?.["bun"] !== undefined) return `Bun ${versions["bun"]}`
  return versions?.["node"] === undefined ? "this runtime" : `Node ${versions["node"]}`
}
