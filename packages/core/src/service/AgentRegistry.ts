/**
 * Which agents this runtime can go on with, by id and shape.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { RunError } from "../values/RunError.ts"

/**
 * An agent that was bound to a runtime. `recover` takes a thread that nobody
 * holds and begins to drive its run on; it does not wait for the run to end.
 *
 * @category models
 * @since 0.1.0
 */
export interface RegisteredAgent {
  readonly agentId: string
  readonly shape: string
  readonly recover: (threadId: string) => Effect.Effect<void, RunError>
}

/**
 * The agents of a runtime.
 *
 * **Details**
 *
 * An agent is registered when it is bound. Several shapes of one id stand side
 * by side, so that an old build of an agent can finish old runs; one that is
 * bound again takes the place of the one before. One under the id `*` stands
 * for every id, in its shape.
 *
 * @category models
 * @since 0.1.0
 */
export interface AgentRegistry {
  readonly register: (agent: RegisteredAgent) => void
  readonly find: (agentId: string, shape: string) => RegisteredAgent | undefined

  /** Whether an agent of this id is registered, in any shape. */
  readonly knows: (agentId: string) => boolean
}

/**
 * Creates a registry without agents.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): AgentRegistry => {
  const agents = new Map<string, Map<string, RegisteredAgent>>()
  return {
    register: (agent) => {
      const shapes = agents.get(agent.agentId) ?? new Map<string, RegisteredAgent>()
      agents.set(agent.agentId, shapes.set(agent.shape, agent))
    },
    find: (agentId, shape) => agents.get(agentId)?.get(shape) ?? agents.get("*")?.get(shape),
    knows: (agentId) => agents.has(agentId)
  }
}
