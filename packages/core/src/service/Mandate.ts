/**
 * The runtime, as one requirement.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { AgentRegistry } from "./AgentRegistry.ts"
import type { Leases } from "./Leases.ts"
import type { RunEvents } from "./RunEvents.ts"
import type { RunHost } from "./RunHost.ts"
import type { LeaseRequest } from "./RunRow.ts"
import type { RunStore } from "./RunStore.ts"

/**
 * Service that bundles what agents run on: the store, the host, the agents
 * that are bound, the events and the ids. `bind` and `build` take it from the
 * context; running takes nothing.
 *
 * @category services
 * @since 0.1.0
 */
export class Mandate extends Context.Service<Mandate, {
  readonly store: RunStore["Service"]
  readonly host: RunHost
  readonly agents: AgentRegistry
  readonly events: RunEvents

  /** A lease request of this instance, at this time. */
  readonly lease: Effect.Effect<LeaseRequest>

  /** The leases of this instance, by its own clock. */
  readonly leases: Leases

  /** An id for a thread that nobody named. */
  readonly newThreadId: Effect.Effect<string>
}>()("~mandate/Mandate") {}
