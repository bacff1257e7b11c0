import { MemoryRunStore } from "@mandate/core"
import { runStoreContract } from "./runStoreContract.ts"

runStoreContract("MemoryRunStore", () => MemoryRunStore.layer)
