/**
 * Rows, records and events that the rules of a store are checked with.
 *
 * @since 0.1.0
 */
import { Ids, type RunRow } from "@mandate/core"

/**
 * How long a lease lasts, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const ttl = 15_000

/**
 * How many children are kept where a rule is about something else.
 *
 * @category constants
 * @since 0.1.0
 */
export const keepAll = 1_000

/**
 * A lease that a process asks for at a time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const by = (holder: string, now = 0): RunRow.LeaseRequest => ({ holder, now, ttl })

/**
 * A row of a root's run, and whatever differs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const newRun = (threadId: string, more: Partial<RunRow.NewRun> = {}): RunRow.NewRun => ({
  format: 1,
  tenant: "",
  threadId,
  rootThreadId: threadId,
  parentRunId: null,
  callKey: null,
  toolCallId: null,
  agentId: "agent",
  agentPath: "[\"agent\"]",
  shape: "shape",
  depth: 0,
  depthLeft: 1,
  limits: "{\"maxSteps\":32}",
  binding: "",
  budget: "{}",
  input: "\"Go\"",
  prompt: "Go",
  ephemeral: false,
  startedAt: 5,
  ...more
})

/**
 * A row of the run of a child.
 *
 * @category constructors
 * @since 0.1.0
 */
export const childOf = (
  parent: RunRow.Fence,
  callKey: string,
  more: Partial<RunRow.NewRun> = {}
): RunRow.NewRun =>
  newRun(`${parent.runId}/${callKey}`, {
    rootThreadId: parent.threadId.split("#")[0]!,
    parentRunId: parent.runId,
    callKey,
    toolCallId: `call-${callKey}`,
    agentId: "child",
    agentPath: "[\"agent\",\"child\"]",
    depth: 1,
    depthLeft: 0,
    ...more
  })

/**
 * The row that a new run is kept as.
 *
 * @category constructors
 * @since 0.1.0
 */
export const running = (run: RunRow.NewRun, number = 0): RunRow.RunRow => ({
  ...run,
  runId: Ids.runId(run.threadId, number),
  stoppedAt: null,
  state: "Running",
  outcome: null,
  usage: null,
  messages: null,
  activeMillis: 0
})

/**
 * An end of a run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const settlement = (outcome = "{\"_tag\":\"Completed\"}"): RunRow.Settlement => ({
  outcome,
  usage: "{\"own\":1}",
  messages: "[\"message\"]",
  activeMillis: 7,
  stoppedAt: 90
})

/**
 * A run that is settled by another.
 *
 * @category constructors
 * @since 0.1.0
 */
export const closing = <A extends object>(
  run: A,
  keepChildren: number,
  ended = settlement()
): A & RunRow.ClosedRun => ({ ...run, settlement: ended, keepChildren })

/**
 * An event of a run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const event = (runId: string, name: string): RunRow.Events[number] => ({ runId, json: JSON.stringify({ name }) })

/**
 * A record whose JSON is its key, or something else.
 *
 * @category constructors
 * @since 0.1.0
 */
export const record = (key: string, json = JSON.stringify(key)): RunRow.Record => ({ key, json })

/**
 * Numbers and names of events.
 *
 * @category getters
 * @since 0.1.0
 */
export const named = (events: ReadonlyArray<{ readonly sequence: number; readonly json: string }>) =>
  events.map(({ json, sequence }) => [sequence, (JSON.parse(json) as { readonly name: string }).name])

/**
 * Keys of the records of a run that is there.
 *
 * @category getters
 * @since 0.1.0
 */
export const keys = (run: RunRow.LoadedRun | undefined) => run?.records.map(({ key }) => key)

/**
 * Whole numbers from 0, so many.
 *
 * @category getters
 * @since 0.1.0
 */
export const upTo = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index)
