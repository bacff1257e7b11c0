/**
 * A process that runs many tasks on one thread and looks at what of its children is left in memory:
 * `node --expose-gc RetentionProgram.ts <memory|SQLite> <childRetention>`.
 *
 * Every child leaves weak references: to the messages that its model was sent, to what its tool gave back and to its row
 * as it was stored when it settled. At the end it prints as JSON how many children there were, and of which any of this
 * is left.
 */
import {
  AgentBuilder,
  Mandate,
  MemoryRunStore,
  ModelRegistry,
  type ModelResponse,
  RunStore,
  TypedAgent
} from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { writeSync } from "node:fs"
import { setImmediate } from "node:timers/promises"

const [kind, retention] = process.argv.slice(2) as [string, string]
const turns = 20
const tasksPerTurn = 5

const refs: Array<{ readonly runId: string; readonly ref: WeakRef<object> }> = []
const watch = (runId: string, value: object) => void refs.push({ runId, ref: new WeakRef(value) })

const Page = Schema.Struct({ lines: Schema.Array(Schema.String) })
const Read = Tool.make("read", { parameters: Schema.Struct({ run: Schema.String }), success: Page })
const reader = TypedAgent.text("reader", { description: "Reads" }).withTools(Toolkit.make(Read), {
  read: ({ run }) =>
    Effect.sync(() => {
      const page = { lines: Array.from({ length: 200 }, (_, line) => `line ${line} of ${run}`) }
      watch(run, page)
      return page
    })
})
const top = AgentBuilder.make("top").withSubagents([reader], { childRetention: Number(retention) })

type Store = RunStore.RunStore["Service"]

// A settled row may be pruned right after, so that nobody else sees it.
const watching = (inner: Store): Store =>
  new Proxy(inner, {
    get: (target, name) => {
      const settle: Store["settle"] = (fence, settlement, events, keep) =>
        Effect.tap(target.settle(fence, settlement, events, keep), () =>
          Effect.map(target.load(fence.runId), (run) => {
            if (run !== undefined && run.row.parentRunId !== null) watch(fence.runId, run.row)
          }))
      const operation: unknown = name === "settle" ? settle : Reflect.get(target, name)
      return typeof operation === "function" ? operation.bind(target) : operation
    }
  })

const store = Layer.effect(
  RunStore.RunStore,
  Effect.map(
    kind === "memory" ? Effect.sync(MemoryRunStore.make) : SqliteRunStore.make({ filename: ":memory:" }),
    watching
  )
)

const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }
const call = (name: string, args: unknown, index = 0) => ({
  type: "tool-call" as const,
  id: `${index}`,
  name,
  arguments: JSON.stringify(args)
})
const answer = (step: number, parts: ModelResponse.ModelResponse["parts"]): ModelResponse.ModelResponse =>
  step === 0
    ? { parts, finishReason: "tool-calls", usage }
    : { parts: [{ type: "text", text: "done" }], finishReason: "stop", usage }

const models = ModelRegistry.layer({
  default: {
    provider: "test",
    modelId: "reader",
    generate: (request, { agentId, runId, step }) =>
      Effect.sync(() => {
        if (agentId === "top") {
          const task = { subagent: "reader", description: "Read" }
          return answer(step, Array.from({ length: tasksPerTurn }, (_, index) => call("task", task, index)))
        }
        watch(runId, request.messages)
        return answer(step, [call("read", { run: runId })])
      })
  }
})

const program = Effect.gen(function*() {
  const agent = yield* top.build()
  for (let turn = 0; turn < turns; turn++) yield* agent.run("Go", { threadId: "t" })
  yield* Effect.promise(collect)
  const left = refs.filter(({ ref }) => ref.deref() !== undefined)
  const ids = (some: typeof refs) => [...new Set(some.map(({ runId }) => runId))]
  yield* Effect.sync(() => writeSync(1, JSON.stringify({ children: ids(refs).length, left: ids(left) })))
}).pipe(Effect.provide([Mandate.layer.pipe(Layer.provide(store)), models]))

// Whoever waits for a value in a promise or a microtask may have it until the loop has turned.
const collect = async () => {
  for (let times = 0; times < 4; times++) {
    await setImmediate()
    ;(globalThis as { readonly gc?: () => void }).gc?.()
  }
}

await Effect.runPromise(program)
