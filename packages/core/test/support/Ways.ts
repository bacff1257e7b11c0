/** The two ways in which models are asked: for a whole response, and in pieces. */
import type { Runs } from "@mandate/core"
import { Effect, Stream } from "effect"

/** Runs an agent in one of the two ways and gives what the run gave back. */
export type Way = <I, A, O>(
  agent: Runs.Runs<I, A, O>,
  input: I,
  threadId?: string
) => ReturnType<Runs.Runs<I, A, O>["run"]>

const generating: Way = (agent, input, threadId) => agent.run(input, threadId === undefined ? {} : { threadId })

const streaming: Way = (agent, input, threadId) =>
  agent.stream(input, threadId === undefined ? {} : { threadId }).pipe(
    Stream.runCollect,
    Effect.flatMap((elements) => {
      const last = elements[elements.length - 1]
      return last?._tag === "RunFinished" ? Effect.succeed(last.result) : Effect.die("the stream ended with no result")
    })
  )

/** Both ways, each with a name for the titles of tests. */
export const ways: ReadonlyArray<readonly [name: string, way: Way]> = [
  ["a whole response", generating],
  ["a streamed response", streaming]
]
