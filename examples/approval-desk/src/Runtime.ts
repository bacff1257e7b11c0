/**
 * What the agents run on: a SQLite file, a ledger, and the scripted model.
 */
import { Mandate, type ModelRegistry } from "@mandate/core"
import { MandateSqlite, type SqliteError } from "@mandate/core/sqlite"
import { Duration, Layer } from "effect"
import type { Output } from "../../support/src/Output.ts"
import * as Ledger from "./Ledger.ts"
import * as ScriptedModel from "./ScriptedModel.ts"

/**
 * How long a command that was killed keeps a case from the next one. The
 * runtime's own default is 15 seconds; nobody wants to wait that long in a
 * demo.
 */
export const lease = Duration.seconds(2)

/** {@link lease} in words. */
export const leaseText: string = `${Duration.toSeconds(lease)} seconds`

const config = Mandate.layerConfig({
  leaseTtl: lease,
  leaseRenewal: "400 millis",
  cancelGrace: "1 second",
  closeGrace: "1 second"
})

/** Where the ledger of a store is. */
export const ledgerOf = (db: string): string => `${db}.ledger`

/** Layer of all that a command needs. */
export const layer = (options: {
  readonly db: string
  readonly delayMillis: number
}): Layer.Layer<
  Mandate.Mandate | ModelRegistry.ModelRegistry | Ledger.Ledger,
  SqliteError.SqliteError | Ledger.LedgerError,
  Output
> =>
  Layer.merge(
    // The store comes first, so that nothing is made beside a file that is refused.
    Ledger.layer({ file: ledgerOf(options.db), delayMillis: options.delayMillis }).pipe(
      Layer.provideMerge(Layer.provide(MandateSqlite.layer({ filename: options.db }), config))
    ),
    ScriptedModel.layer
  )
