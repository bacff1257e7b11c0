import { Effect } from "effect"
import { fault, type Faults } from "./Fault.ts"

/** Faults of what is read: of orders, numbers and texts. */
export const readFaults: Faults = {
  "numbers events from 0": fault(
    "events: are numbered from 1 without a gap over a whole tree, in the order of what they describe",
    (store) => ({
      events: (root, after) =>
        Effect.map(
          store.events(root, after + 1),
          (events) => events.map((event) => ({ ...event, sequence: event.sequence - 1 }))
        )
    })
  ),
  "gives the events from a number on, that one too": fault(
    "events: are read in order after any number",
    (store) => ({ events: (root, after) => store.events(root, after - 1) })
  ),
  "gives the newest events first": fault(
    "events: are read in order after any number",
    (store) => ({ events: (root, after) => Effect.map(store.events(root, after), (events) => events.toReversed()) })
  ),
  "sorts records by their keys": fault(
    "reading: gives the records of a run in the order they were inserted",
    (store) => ({
      load: (runId) =>
        Effect.map(
          store.load(runId),
          (run) => run && { ...run, records: run.records.toSorted((a, b) => a.key < b.key ? -1 : 1) }
        )
    })
  ),
  "sorts children by their call keys": fault(
    "reading: gives the children of a run in the order they were created, and those of no other run",
    (store) => ({
      children: (runId) =>
        Effect.map(store.children(runId), (rows) => rows.toSorted((a, b) => a.runId < b.runId ? -1 : 1))
    })
  ),
  "sorts runs by their ids as texts": fault(
    "reading: gives the runs of a thread oldest first, and those of no other thread",
    (store) => ({
      thread: (threadId) =>
        Effect.map(store.thread(threadId), (rows) => rows.toSorted((a, b) => a.runId < b.runId ? -1 : 1))
    })
  ),
  "lists threads in the order they were made": fault(
    "listing: gives threads in the order of their ids by code units, page by page",
    (store) => ({
      list: (query) =>
        Effect.map(
          store.list(query),
          (threads) => threads.toSorted((a, b) => a.expiresAt - b.expiresAt || (a.runId.length - b.runId.length))
        )
    })
  ),
  "lists threads that are held as free": fault(
    "listing: gives threads that nobody holds at a time",
    (store) => ({ list: ({ freeAt: _, ...query }) => store.list(query) })
  ),
  "lists threads by the state of any run": fault(
    "listing: gives threads by the state of their last run",
    (store) => ({ list: ({ states: _, ...query }) => store.list(query) })
  ),
  "lets any tenant run on a thread": fault(
    "listing: keeps a thread to its tenant: open refuses another and changes nothing",
    (store) => ({ open: (run, lease, events) => store.open({ ...run, tenant: "" }, lease, events) })
  ),
  "keeps the tenant of no thread that was leased before it had a run": fault(
    "open: keeps the row it is given where the thread was leased before it had a run, its tenant too, as create does",
    (store) => ({
      open: (run, lease, events) =>
        Effect.flatMap(
          store.isHeld(run.threadId, { ...lease, holder: "" }),
          (held) => store.open(held ? { ...run, tenant: "" } : run, lease, events)
        )
    })
  ),
  "cuts texts at NUL": fault(
    "values: keeps a text with NUL characters wherever a text is kept",
    (store) => ({
      append: (fence, batch) =>
        store.append(fence, {
          ...batch,
          records: batch.records.map(({ json, key }) => ({ key, json: json.split("\u0000")[0]! }))
        })
    })
  ),
  "parses JSON and writes it anew": fault(
    "values: keeps JSON with keys such as __proto__ wherever a text is kept",
    (store) => ({
      append: (fence, batch) =>
        store.append(fence, {
          ...batch,
          events: batch.events.map(({ json, runId }) => ({ runId, json: JSON.stringify(JSON.parse(json)) }))
        })
    })
  ),
  "cuts long messages": fault(
    "values: keeps a text of 8 MB in inputs and messages",
    (store) => ({
      settle: (fence, settlement, ...rest) =>
        store.settle(fence, { ...settlement, messages: settlement.messages.slice(0, 4_000_000) }, ...rest)
    })
  ),
  "takes keys of records for the same whatever their case": fault(
    "values: keeps records apart whose keys differ only in case, in a blank, in form, or by what a pattern matches",
    (store) => ({
      append: (fence, batch) =>
        Effect.flatMap(Effect.result(store.load(fence.runId)), (loaded) => {
          const run = loaded._tag === "Success" ? loaded.success : undefined
          const seen = new Set(run?.records.map(({ key }) => key.toLowerCase()))
          const records = batch.records.filter(({ key }) => {
            const isNew = !seen.has(key.toLowerCase())
            seen.add(key.toLowerCase())
            return isNew
          })
          return store.append(fence, { ...batch, records })
        })
    })
  )
}
