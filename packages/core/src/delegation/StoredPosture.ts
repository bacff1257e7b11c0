/**
 * Posture runs that were started before, compiled from their rows.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Branch } from "../loop/Branch.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { LoadedRun } from "../service/RunRow.ts"
import type { ResolvedBudget } from "../values/Budget.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { BoundSpec, CompilePosture } from "./BoundSpec.ts"

/**
 * A posture's run as its row has it, and its posture compiled.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredPosture {
  readonly subagent: BoundSpec
  readonly binding: RunBinding
  readonly budget: ResolvedBudget
  readonly depth: number
  readonly depthLeft: number
  readonly input: string
  readonly prompt: string
}

/**
 * Reads the run of a posture. Fails when the row is no such run, or cannot be
 * read, or its posture cannot be compiled any more.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = Effect.fnUntraced(function*(
  { compile }: { readonly compile: CompilePosture },
  loaded: LoadedRun
): Effect.fn.Return<StoredPosture, CorruptRow.CorruptRow> {
  const run = yield* Effect.fromResult(OpenRun.place(loaded.row))
  const { binding } = run
  if (binding?.delegate === undefined) {
    return yield* CorruptRow.of(loaded.row, "binding: it holds no posture")
  }
  const subagent = yield* Effect.mapError(
    compile(binding.delegate.posture),
    ({ message }) => CorruptRow.of(loaded.row, message)
  )
  const { budget, depth, depthLeft, input, prompt } = run
  return { subagent, binding, budget, depth, depthLeft, input, prompt }
})

/**
 * The branch of a call whose run cannot be read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failed = (row: CorruptRow.CorruptRow): Branch => ({ _tag: "Fail", failure: CorruptRow.failure(row) })
