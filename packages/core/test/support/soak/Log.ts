/**
 * All that happened in one case, in one order: what models were asked, what
 * tools ran, what the store wrote, and what the person at the desk did.
 */
import { type Answer, type Interrupt, RunEvent, type RunRow, type RunStore } from "@mandate/core"
import { Effect, Schema } from "effect"
import type { Asked } from "./Model.ts"
import type { Registered } from "./Process.ts"
import type * as SoakTools from "./SoakTools.ts"

export type Entry =
  | { readonly _tag: "Asked" } & Asked
  | { readonly _tag: "Entered"; readonly tool: string; readonly key: string; readonly args: unknown }
  | { readonly _tag: "Effected"; readonly key: string; readonly name: string }
  | { readonly _tag: "Wrote" } & Write
  | { readonly _tag: "Registered" } & Registered
  | { readonly _tag: "Died"; readonly act: number }
  | {
    readonly _tag: "Saw"
    readonly status: string
    readonly pending: ReadonlyArray<Interrupt.PendingInterrupt>
    readonly rows: ReadonlyArray<RunRow.RunRow>
  }
  | { readonly _tag: "Answered"; readonly answers: ReadonlyArray<Answer.Answer>; readonly isPartial: boolean }
  | { readonly _tag: "Cancelling"; readonly runId: string }
  | { readonly _tag: "Cancelled"; readonly runId: string }
  | { readonly _tag: "Returned"; readonly verb: string; readonly result: string }

/** One write of the store: which operation, the events in it, and what it did to which runs. */
export interface Write {
  readonly operation: string
  readonly events: ReadonlyArray<RunEvent.DurableEvent>

  /** The run that wrote or, for operations of a tree, its top. */
  readonly runId: string
  readonly inserted: RunRow.NewRun | undefined
  readonly records: ReadonlyArray<RunRow.Record & { readonly runId: string }>
  readonly settled: ReadonlyArray<RunRow.Settlement & { readonly runId: string }>

  /** Usage of failed attempts that a run at rest keeps. */
  readonly spent: string | undefined
}

export class Log implements SoakTools.Watch {
  readonly entries: Array<Entry> = []
  writes = 0

  /** Whether the run of a thread without a parent is being driven, or was when its process died. */
  isRunning = false

  /** Called after each write, with their number. */
  onWrite: (writes: number) => void = () => {}
  readonly #entered = new Map<string, number>()

  readonly add = (entry: Entry): void => {
    this.entries.push(entry)
    if (entry._tag !== "Wrote") return
    if (entry.settled.some(({ runId }) => !runId.includes("/"))) this.isRunning = false
    else if (!entry.runId.includes("/")) this.isRunning = moves[entry.operation] ?? this.isRunning
  }

  readonly entered = (tool: string, key: string, args: unknown): number => {
    this.add({ _tag: "Entered", tool, key, args })
    const before = this.#entered.get(key) ?? 0
    this.#entered.set(key, before + 1)
    return before
  }

  readonly effected = (key: string, name: string): void => this.add({ _tag: "Effected", key, name })

  /** Notes what postures and tools there are, when they are others than before. */
  readonly registered = (registered: Registered): void => {
    const last = this.entries.findLast(({ _tag }) => _tag === "Registered")
    const entry = { _tag: "Registered" as const, ...registered }
    if (JSON.stringify(last) !== JSON.stringify(entry)) this.add(entry)
  }

  /** A store that notes what it writes. */
  readonly watching = (store: RunStore.RunStore["Service"]): RunStore.RunStore["Service"] =>
    new Proxy(store, {
      get: (target, name) => {
        const operation = Reflect.get(target, name)
        const read = readers[String(name)]
        if (typeof operation !== "function" || read === undefined) {
          return typeof operation === "function" ? operation.bind(target) : operation
        }
        return (...args: ReadonlyArray<never>) =>
          // A write that is made is noted, also when nobody waits for it any more.
          Effect.uninterruptible(
            Effect.map(Effect.suspend(() => operation.apply(target, args) as Effect.Effect<never>), (value) => {
              const write = read(args, value)
              if (write !== undefined) {
                this.add({ _tag: "Wrote", ...nothing, operation: String(name), ...write })
                this.writes++
                this.onWrite(this.writes)
              }
              return value
            })
          )
      }
    })
}

const moves: { readonly [operation: string]: boolean } = {
  open: true,
  answer: true,
  reopen: true,
  suspend: false,
  fail: false
}

const nothing = { events: [], inserted: undefined, records: [], settled: [], spent: undefined }

type Store = RunStore.RunStore["Service"]
type Args<Name extends keyof Store> = Parameters<Store[Name]>
type Value<Name extends keyof Store> = Effect.Success<ReturnType<Store[Name]>>
type Reader<Name extends keyof Store> = (
  args: Args<Name>,
  value: Value<Name>
) => (Partial<Write> & { readonly runId: string }) | undefined

const reader = <Name extends keyof Store>(_name: Name, read: Reader<Name>) =>
  read as unknown as (args: ReadonlyArray<never>, value: never) => ReturnType<Reader<Name>>

const decode = Schema.decodeUnknownSync(RunEvent.RunEvent)

const numbered = (events: RunRow.Events, first: number): ReadonlyArray<RunEvent.DurableEvent> =>
  events.map(({ json }, index) => decode({ ...JSON.parse(json), sequence: first + index }) as RunEvent.DurableEvent)

const readers: { readonly [name: string]: ReturnType<typeof reader> } = {
  open: reader("open", ([run, , events], opened) =>
    opened._tag !== "Started" ? undefined : {
      runId: opened.runId,
      inserted: run,
      events: numbered(events(opened.runId), opened.sequence)
    }),
  create: reader("create", ([, run, , events], { created, run: { row }, sequence }) => ({
    runId: row.runId,
    ...(created ? { inserted: run, events: numbered(events, sequence) } : {})
  })),
  append: reader("append", ([{ runId }, { close, events, records }], sequence) => ({
    runId,
    events: numbered(events, sequence),
    records: records.map((record) => ({ ...record, runId })),
    settled: (close ?? []).map(({ runId, settlement }) => ({ ...settlement, runId }))
  })),
  suspend: reader(
    "suspend",
    ([{ runId }, { usage }, events], sequence) =>
      sequence === undefined ? undefined : { runId, spent: usage, events: numbered(events, sequence) }
  ),
  fail: reader("fail", ([{ runId }, { usage }, events], sequence) => ({
    runId,
    spent: usage,
    events: numbered(events, sequence)
  })),
  settle: reader("settle", ([{ runId }, settlement, events], sequence) => ({
    runId,
    events: numbered(events, sequence),
    settled: [{ ...settlement, runId }]
  })),
  reopen: reader("reopen", ([{ runId }, events], sequence) => ({ runId, events: numbered(events, sequence) })),
  close: reader("close", ([runs, events], sequence) => ({
    runId: runs[0]?.fence.runId ?? "",
    events: numbered(events, sequence),
    settled: runs.map(({ fence, settlement }) => ({ ...settlement, runId: fence.runId }))
  })),
  answer: reader("answer", ([, , runs, events], { sequence }) => ({
    runId: runs[0]?.runId ?? "",
    events: numbered(events, sequence),
    records: runs.flatMap(({ records, runId }) => records.map((record) => ({ ...record, runId })))
  })),
  forget: reader("forget", ([threadId]) => ({ runId: threadId }))
}
