import { assert } from "@effect/vitest"
import { type RunRow, RunStore } from "@mandate/core"
import { Effect } from "effect"

export const ttl = 15_000

export const by = (holder: string, now = 0): RunRow.LeaseRequest => ({ holder, now, ttl })

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

export const settlement = (outcome = "{\"_tag\":\"Completed\"}"): RunRow.Settlement => ({
  outcome,
  usage: "{\"own\":1}",
  messages: "[\"message\"]",
  activeMillis: 7,
  stoppedAt: 90
})

export const event = (runId: string, name: string) => ({ runId, json: JSON.stringify({ name }) })

export const named = (events: ReadonlyArray<{ readonly sequence: number; readonly json: string }>) =>
  events.map(({ json, sequence }) => [sequence, (JSON.parse(json) as { readonly name: string }).name])

export const record = (key: string, json = `"${key}"`): RunRow.Record => ({ key, json })

export const keys = (run: RunRow.LoadedRun | undefined) => run?.records.map(({ key }) => key)

// Starts the next run of a thread, and gives its fence.
export const open = Effect.fnUntraced(
  function*(threadId: string, more: Partial<RunRow.NewRun> = {}, lease = by("one")) {
    const store = yield* RunStore.RunStore
    const opened = yield* store.open(newRun(threadId, more), lease, (runId) => [event(runId, `${runId} started`)])
    if (opened._tag !== "Started") return assert.fail(`${threadId} has an open run`)
    return { threadId, runId: opened.runId, epoch: opened.epoch }
  }
)

export const childOf = (parent: RunRow.Fence, callKey: string): RunRow.NewRun =>
  newRun(`${parent.runId}/${callKey}`, {
    rootThreadId: parent.threadId.split("#")[0]!,
    parentRunId: parent.runId,
    callKey,
    toolCallId: `call-${callKey}`,
    depth: 1
  })

export const create = Effect.fnUntraced(function*(parent: RunRow.Fence, callKey: string, lease = by("one")) {
  const store = yield* RunStore.RunStore
  const run = childOf(parent, callKey)
  const runId = `${run.threadId}#0`
  const { created, run: loaded } = yield* store.create(parent, run, lease, [event(runId, `${runId} started`)])
  assert.isTrue(created)
  return { threadId: run.threadId, runId, epoch: loaded.epoch }
})

export const append = Effect.fnUntraced(function*(fence: RunRow.Fence, ...names: ReadonlyArray<string>) {
  const store = yield* RunStore.RunStore
  return yield* store.append(fence, { records: names.map((name) => record(name)), events: [] })
})

// A child that is settled and whose result its parent has recorded.
export const finished = Effect.fnUntraced(function*(parent: RunRow.Fence, callKey: string) {
  const store = yield* RunStore.RunStore
  const child = yield* create(parent, callKey)
  yield* store.settle(child, settlement(), [event(child.runId, `${child.runId} settled`)], 16)
  yield* append(parent, `t/${callKey}`)
  return child
})

export const childKeys = Effect.fnUntraced(function*(runId: string) {
  const store = yield* RunStore.RunStore
  return (yield* store.children(runId)).map(({ callKey }) => callKey)
})

// All that a tree is made of, to see that nothing of it changed.
export const everything = Effect.fnUntraced(function*(threadId: string, ...runIds: ReadonlyArray<string>) {
  const store = yield* RunStore.RunStore
  return {
    thread: yield* store.thread(threadId),
    runs: yield* Effect.forEach(runIds, (runId) => store.load(runId)),
    children: yield* Effect.forEach(runIds, (runId) => store.children(runId)),
    events: yield* store.events(threadId, 0)
  }
})

/** Registers a test of a store's contract. */
export type Check = (title: string, test: () => Effect.Effect<unknown, unknown, RunStore.RunStore>) => void
