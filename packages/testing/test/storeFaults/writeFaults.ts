import type { RunRow } from "@mandate/core"
import { Effect } from "effect"
import { current, fault, type Faults } from "./Fault.ts"

/** Faults of writes: of what starts, journals, answers and ends runs. */
export const writeFaults: Faults = {
  "overwrites a record that is inserted again": fault(
    "records: keeps the first of two records with one key in two batches, and the rest of the second batch",
    (store) => {
      const newest = new Map<string, string>()
      return {
        append: (fence, batch) =>
          Effect.tap(
            store.append(fence, batch),
            () => Effect.sync(() => batch.records.forEach(({ json, key }) => newest.set(`${fence.runId} ${key}`, json)))
          ),
        load: (runId) =>
          Effect.map(store.load(runId), (run) =>
            run && {
              ...run,
              records: run.records.map(({ json, key }) => ({ key, json: newest.get(`${runId} ${key}`) ?? json }))
            })
      }
    }
  ),
  "appends without looking at the fence": fault(
    "fences: refuses append and changes nothing once another instance took the lease by force",
    (store) => ({
      append: (fence, batch) => Effect.flatMap(current(store, fence), (now) => store.append(now, batch))
    })
  ),
  "settles without looking at the fence": fault(
    "fences: refuses settle and changes nothing once the run was seized",
    (store) => ({
      settle: (fence, ...rest) => Effect.flatMap(current(store, fence), (now) => store.settle(now, ...rest))
    })
  ),
  "creates children without looking at the fence": fault(
    "fences: refuses create and changes nothing once its own instance took the lease again",
    (store) => ({
      create: (fence, ...rest) => Effect.flatMap(current(store, fence), (now) => store.create(now, ...rest))
    })
  ),
  "says that a write was refused and keeps its records": fault(
    "fences: refuses append and changes nothing once another instance took the lease, which had run out",
    (store) => ({
      append: (fence, batch) =>
        Effect.tapError(
          store.append(fence, batch),
          () =>
            Effect.flatMap(current(store, fence), (now) =>
              Effect.ignore(store.append(now, { records: batch.records, events: [] })))
        )
    })
  ),
  "prunes nothing when a run is closed": fault(
    "close: prunes the children of the first of its runs",
    (store) => ({
      close: (runs, events) => store.close(runs.map((run) => ({ ...run, keepChildren: 1_000 })), events)
    })
  ),
  "prunes below no closed run but the first": fault(
    "close: prunes the children of every run that is closed, by that run's own bound",
    (store) => ({
      close: ([first, ...rest], events) =>
        first === undefined
          ? store.close([], events)
          : store.close([first, ...rest.map((run) => ({ ...run, keepChildren: 1_000 }))], events)
    })
  ),
  "closes half a tree when the rest is lost": fault(
    "close: changes none of its runs if one of them is taken over",
    (store) => ({
      close: (runs, events) =>
        Effect.map(
          Effect.forEach(runs, (run, index) => store.close([run], index === 0 ? events : [])),
          (numbers) => numbers[0] ?? 0
        )
    })
  ),
  "keeps the lease of a run that is suspended": fault(
    "states: suspends a run with its usage and time, keeps its records, and gives its lease back",
    (store) => ({
      suspend: (fence, to, events) =>
        Effect.tap(
          store.suspend(fence, to, events),
          () => Effect.flatMap(store.lease(fence.threadId, { holder: "one", now: 0, ttl: 15_000 }), () => Effect.void)
        )
    })
  ),
  "says that it has suspended a run whose children it should hear of first": fault(
    "states: suspends no run that has not heard of the end of a child, nor one above a suspended run that has not",
    (store) => ({
      suspend: (fence, to, events) => Effect.map(store.suspend(fence, to, events), (sequence) => sequence ?? 0)
    })
  ),
  "suspends no run that has others before it": fault(
    "states: suspends a run beside children of the runs before it, and beside those that are open",
    (store) => ({
      suspend: (fence, to, events) =>
        Effect.flatMap(
          store.thread(fence.threadId),
          (runs) => runs.length > 1 ? Effect.undefined : store.suspend(fence, to, events)
        )
    })
  ),
  "answers runs one after the other": fault(
    "answer: refuses all and changes nothing when one of its runs is Running",
    (store) => ({
      answer: (threadId, lease, runs, events) =>
        Effect.map(
          Effect.forEach(runs, (run, index) => store.answer(threadId, lease, [run], index === 0 ? events : [])),
          (answers) => answers.at(-1)!
        )
    })
  ),
  "takes an answer a second time": fault(
    "answer: refuses all and changes nothing when one of its runs has one of the answers",
    (store) => ({
      answer: (threadId, lease, runs, events) =>
        Effect.flatMap(
          Effect.forEach(runs, ({ records, runId }) =>
            Effect.map(store.load(runId), (run) => ({
              runId,
              records: records.filter(({ key }) => !run?.records.some((record) => record.key === key))
            }))),
          (fresh) => store.answer(threadId, lease, fresh, events)
        )
    })
  ),
  "settles a run and appends its events afterwards, by another operation": fault(
    "states: settles a run in one go: outcome, usage, messages and time are there, its records and its lease are not",
    (store) => ({
      settle: (fence, settlement, events, keep) =>
        Effect.flatMap(
          store.settle(fence, settlement, [], keep),
          () => store.append(fence, { records: [], events }).pipe(Effect.catchTag("Fenced", () => Effect.succeed(0)))
        )
    })
  ),
  "counts epochs anew when a thread was deleted": fault(
    "fences: keeps the writer of a deleted thread out when a thread of that name starts anew",
    (store) => {
      const anew = new Map<string, number>()
      const shifted = (threadId: string, epoch: number) => epoch - (anew.get(threadId) ?? 0)
      const unshifted = (fence: RunRow.Fence) => ({ ...fence, epoch: fence.epoch + (anew.get(fence.threadId) ?? 0) })
      return {
        open: (run, lease, events) =>
          Effect.map(
            store.open(run, lease, events),
            (opened) => opened._tag !== "Started" ? opened : { ...opened, epoch: shifted(run.threadId, opened.epoch) }
          ),
        append: (fence, batch) => store.append(unshifted(fence), batch),
        forget: (threadId) =>
          Effect.andThen(store.forget(threadId), Effect.sync(() => anew.set(threadId, (anew.get(threadId) ?? 0) + 1)))
      }
    }
  ),
  "inserts a child that is there already": fault(
    "create: inserts it once, gives the run that is there with its records, and appends no events",
    (store) => ({
      create: (parent, run, lease, events) =>
        Effect.andThen(store.forget(run.threadId), store.create(parent, run, lease, events))
    })
  ),
  "starts a second run while one is open, when many ask at once": fault(
    "open: starts one run when many ask for a thread at once, and gives it to one of them",
    (store) => ({
      open: (run, lease, events) =>
        Effect.flatMap(store.thread(run.threadId), (rows) =>
          Effect.andThen(
            Effect.yieldNow,
            rows.every(({ state }) => state === "Settled")
              ? Effect.andThen(Effect.orDie(store.forget(run.threadId)), store.open(run, lease, events))
              : store.open(run, lease, events)
          ))
    })
  ),
  "keeps why a run failed when it goes on": fault(
    "states: reopens a failed run: Running, with no reason, its records, usage and time",
    (store) => {
      const reasons = new Map<string, string>()
      return {
        fail: (fence, to, events) =>
          Effect.tap(store.fail(fence, to, events), () => Effect.sync(() => reasons.set(fence.runId, to.outcome))),
        load: (runId) =>
          Effect.map(
            store.load(runId),
            (run) => run && { ...run, row: { ...run.row, outcome: run.row.outcome ?? reasons.get(runId) ?? null } }
          )
      }
    }
  ),
  "appends record by record": fault(
    "many at once: gives what is read while others write as it was at one moment",
    (store) => ({
      append: (fence, { records, ...batch }) =>
        Effect.andThen(
          Effect.forEach(records.slice(0, -1), (record) =>
            Effect.tap(store.append(fence, { records: [record], events: [] }), () => Effect.yieldNow)),
          store.append(fence, { ...batch, records: records.slice(-1) })
        )
    })
  ),
  "looks at the fences of some and not of others": fault(
    "many at once: refuses what is to be refused among many operations at once, and does the rest",
    (store) => ({
      append: (fence, batch) =>
        fence.threadId.startsWith("t2")
          ? Effect.flatMap(current(store, fence), (now) => store.append(now, batch))
          : store.append(fence, batch)
    })
  ),
  "loses the events of a child that is created while another is": fault(
    "many at once: brings many trees, driven at once, to the same end as one that is driven alone",
    (store) => {
      let creating = 0
      return {
        create: (parent, run, lease, events) =>
          Effect.suspend(() => {
            creating++
            const lost = creating > 1
            return Effect.yieldNow.pipe(
              Effect.andThen(store.create(parent, run, lease, lost ? [] : events)),
              Effect.ensuring(Effect.sync(() => creating--))
            )
          })
      }
    }
  )
}
