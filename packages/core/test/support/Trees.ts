/**
 * Runtimes for tests of trees of runs, and ways to look at what they did.
 */
import {
  Mandate,
  MemoryRunStore,
  type Message,
  type ModelRegistry,
  type ModelRequest,
  RunEvent,
  type RunRow,
  RunStore
} from "@mandate/core"
import { FixedIds, type Script, type ScriptedModel, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Models from "./Models.ts"

/** A runtime over a store, with a scripted model that rejects what a strict provider would. */
export const runtime = (
  scripts: Script.Scripts,
  store: RunStore.RunStore["Service"] = MemoryRunStore.make()
) => Layer.provideMerge(runtimeOf(Models.layer(scripts), store), FixedIds.layer)

/** A runtime over a store, with a model that is there already. Closing it waits for nothing. */
export const runtimeOf = <E>(
  model: Layer.Layer<ScriptedModel.ScriptedModel | ModelRegistry.ModelRegistry, E>,
  store: RunStore.RunStore["Service"]
) =>
  Layer.provideMerge(Mandate.layer, Layer.succeed(RunStore.RunStore, store)).pipe(
    Layer.provide(TestRuntime.layerConfig),
    Layer.provideMerge(StrictProvider.layer(model)),
    // Two of them at once are two processes.
    Layer.fresh
  )

/** Fails if a request broke a rule of strict providers. */
export const noViolations = Effect.gen(function*() {
  const strict = yield* StrictProvider.StrictProvider
  const violations = yield* strict.violations
  if (violations.length > 0) return yield* Effect.die(violations)
})

/** All durable events of a tree, in order. */
export const durableEvents = Effect.fnUntraced(function*(rootThreadId: string) {
  const store = yield* RunStore.RunStore
  const stored = yield* store.events(rootThreadId, 0)
  return stored.map(({ json, sequence }) => decodeEvent({ ...JSON.parse(json), sequence }))
})

const decodeEvent = Schema.decodeUnknownSync(RunEvent.RunEvent)

/** The events with a tag. */
export const tagged = <Tag extends RunEvent.RunEvent["_tag"]>(
  events: ReadonlyArray<RunEvent.RunEvent>,
  tag: Tag
): ReadonlyArray<Extract<RunEvent.RunEvent, { readonly _tag: Tag }>> =>
  events.filter((event): event is Extract<RunEvent.RunEvent, { readonly _tag: Tag }> => event._tag === tag)

/** The tool results that a request ends with. */
export const lastResults = (request: ModelRequest.ModelRequest): ReadonlyArray<Message.ToolResultPart> => {
  const last = request.messages.at(-1)
  return last?.role === "tool" ? last.content : []
}

/** What a request's tool results say, as JSON. */
export const outputs = (request: ModelRequest.ModelRequest): ReadonlyArray<unknown> =>
  lastResults(request).map(({ output }) => output.value)

/** The reasons of the failed calls among a request's tool results; `undefined` for a call that succeeded. */
export const reasons = (request: ModelRequest.ModelRequest): ReadonlyArray<string | undefined> =>
  lastResults(request).map(({ isError, output }) => isError ? errorOf(output.value).error.reason : undefined)

const errorOf = Schema.decodeUnknownSync(
  Schema.Struct({ error: Schema.Struct({ reason: Schema.String, message: Schema.String }) })
)

/** The text of the first user message: what a run was asked. */
export const asked = (request: ModelRequest.ModelRequest): string => {
  const first = request.messages.find((message) => message.role === "user")
  return first === undefined ? "" : first.content.map((part) => part.type === "text" ? part.text : "").join("")
}

/** All runs of a thread and below it as they are stored, rows with their records. */
export const stored: (threadId: string) => Effect.Effect<
  ReadonlyArray<Pick<RunRow.LoadedRun, "row" | "records">>,
  RunStore.StoreError,
  RunStore.RunStore
> = Effect.fnUntraced(function*(threadId) {
  const store = yield* RunStore.RunStore
  const below: (row: RunRow.RunRow) => Effect.Effect<ReadonlyArray<string>, RunStore.StoreError> = (row) =>
    Effect.map(
      Effect.flatMap(store.children(row.runId), (children) => Effect.forEach(children, below)),
      (ids) => [row.runId, ...ids.flat()]
    )
  const ids = yield* Effect.flatMap(store.thread(threadId), (rows) => Effect.forEach(rows, below))
  return yield* Effect.forEach(
    ids.flat(),
    (runId) => Effect.map(store.load(runId), (loaded) => ({ row: loaded!.row, records: loaded!.records }))
  )
})

/** How each run of a thread and below it ended; its state for one that is open. */
export const ends = (threadId: string) =>
  Effect.map(
    stored(threadId),
    (runs) =>
      Object.fromEntries(
        runs.map(({ row }) => [row.runId, row.state === "Settled" ? tagOf(row.outcome)._tag : row.state])
      )
  )

const tagOf = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ _tag: Schema.String })))

/** What the runtimes of this module give. */
export type Services = Layer.Success<ReturnType<typeof runtimeOf>>

/** A store whose operations do something else around what they do. */
export const around = (
  store: RunStore.RunStore["Service"],
  change: (name: string, done: Effect.Effect<unknown>) => Effect.Effect<unknown, RunStore.StoreError>
): RunStore.RunStore["Service"] =>
  new Proxy(store, {
    get: (target, name) => {
      const operation = Reflect.get(target, name)
      if (typeof operation !== "function") return operation
      return (...args: ReadonlyArray<unknown>) =>
        change(String(name), Effect.suspend(() => operation.apply(target, args) as Effect.Effect<unknown>))
    }
  })
