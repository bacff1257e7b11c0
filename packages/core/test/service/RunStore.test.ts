import { describe, it } from "@effect/vitest"
import { MemoryRunStore } from "@mandate/core"
import { RunStoreContract } from "@mandate/testing"
import { Effect } from "effect"

const memory: RunStoreContract.Subject = { make: Effect.succeed(MemoryRunStore.layer) }

describe("MemoryRunStore", () => {
  for (const { check, name } of RunStoreContract.properties(memory)) it.effect(name, () => check)
})
