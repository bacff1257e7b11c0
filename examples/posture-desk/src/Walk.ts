/**
 * The walk-through, act by act. What it says of an act is checked before it is
 * said.
 */
import { Effect, Queue } from "effect"
import * as Call from "./Call.ts"
import * as Folder from "./Folder.ts"
import { Problems } from "./Problems.ts"
import * as Registry from "./Registry.ts"
import { maxDepth } from "./Runtime.ts"
import type { Show } from "./Show.ts"

/** Walks through the postures in a folder. Fails with the first claim that does not hold. */
export const walk = Effect.fnUntraced(function*(folder: string, show: Show) {
  yield* edit(folder, show)
  yield* budgets(show)
  yield* recursion(show)
  yield* broken(folder, show)
})

const reading = { posture: "reader", task: "What does the note say?", context: { note: "tides", lines: [1, 2] } }

/** The same call, the keys of its context in another order. */
const turned = { ...reading, context: { lines: [1, 2], note: "tides" } }

const edit = Effect.fnUntraced(function*(folder: string, show: Show) {
  yield* show.say("A posture is a file. One is run by its name, with a task and a context.")
  const first = yield* Call.run("first", reading, show)
  yield* show.hold(
    "It succeeded, with two questions to the model and one tool call in between.",
    first.value.status === "success" && first.asked === 2 && first.value.toolCallsUsed === 1,
    first
  )

  yield* show.say("The same call again, the keys of its context in another order.")
  const hit = yield* Call.run("hit", turned, show)
  yield* show.hold(
    "Its result was in the cache: no model was asked, and it cost nothing.",
    hit.value.status === "cache_hit" && hit.asked === 0 && hit.value.tokensUsed === 0 && hit.value.toolCallsUsed === 0,
    hit
  )
  yield* show.hold("It is the result of the first call.", Call.textOf(hit.value) === Call.textOf(first.value), hit)
  yield* show.hold(
    "The call has a sub-session of its own all the same.",
    hit.value.subSessionId !== first.value.subSessionId,
    hit
  )

  const change = yield* Registry.nextChange
  yield* Folder.edit(folder, "reader.md", "in one sentence", "in one word")
  yield* show.say("An operator edits the file: \"in one sentence\" becomes \"in one word\". The program goes on.")
  const changed = yield* change
  yield* show.tell("edit", { _tag: "Change", ...changed })
  yield* show.hold(
    "The registry has the posture in another version.",
    changed.what === "Changed" && changed.posture === "reader" && changed.version !== first.value.postureVersion,
    changed
  )

  yield* show.say("The same call, a third time.")
  const miss = yield* Call.run("miss", reading, show)
  yield* show.hold(
    "It ran: what the cache has is of another version.",
    miss.value.status === "success" && miss.asked === 2 && miss.value.postureVersion === changed.version,
    miss
  )
  yield* show.hold("It did what the file says now.", Call.textOf(miss.value) === "High", miss)
})

const question = { posture: "researcher", task: "Why are there tides?" }

const budgets = Effect.fnUntraced(function*(show: Show) {
  yield* show.say("A posture with 100 tokens to spend. Each answer of this model costs 60.")
  const partial = yield* Call.run("partial", question, show)
  yield* show.hold(
    "The second answer went over the limit. It was the last, and what it had said is the result.",
    partial.value.status === "partial" && partial.asked === 2 &&
      Call.textOf(partial.value)?.startsWith("So far") === true,
    partial
  )

  yield* show.say("The very same call again.")
  const same = yield* Call.run("same", question, show)
  yield* show.hold(
    "A part is in the cache too, for those who have as much to spend. It says that it is one.",
    same.value.status === "cache_hit" && same.asked === 0 && "error" in same.value,
    same
  )

  yield* show.say("The same call with more to spend.")
  const more = yield* Call.run("retry", { ...question, overrides: { maxTokens: 400 } }, show)
  yield* show.hold(
    "It ran, and came to its end: a part of a result is not served to a call that can pay for more.",
    more.value.status === "success" && more.asked === 3,
    more
  )

  yield* show.say("The same call with more than the ceiling of the posture.")
  const refused = yield* Call.refused("ceiling", { ...question, overrides: { maxTokens: 5000 } }, show)
  yield* show.hold(
    "It was refused before anything was started.",
    refused.value?._tag === "DelegateError" && refused.value.reason._tag === "InvalidRequest" && refused.asked === 0
      && refused.events.length === 0,
    refused
  )
})

const recursion = Effect.fnUntraced(function*(show: Show) {
  yield* show.say(`A posture that delegates to itself. The runtime allows ${maxDepth} levels.`)
  const nested = yield* Call.run("recursion", { posture: "chief", task: "Hand it on" }, show)
  yield* show.hold(
    `${maxDepth} sub-sessions were started, and each was completed once.`,
    Call.count(nested, "DelegateStart") === maxDepth && Call.count(nested, "DelegateComplete") === maxDepth,
    nested
  )
  const refusals = nested.events.filter((event) => event._tag === "DelegateRefused")
  yield* show.hold(
    "The next one was refused, RecursionLimit, and its model read why.",
    refusals.length === 1 && refusals[0]?.reason === "RecursionLimit" && refusals[0].depth === maxDepth
      && Call.textOf(nested.value)?.includes("RecursionLimit") === true,
    nested
  )

  yield* show.say("A program that stands as deep itself gets the refusal as an error.")
  const refused = yield* Call.refused("depth", { posture: "chief", task: "Hand it on", parentDepth: maxDepth }, show)
  yield* show.hold(
    "There was no sub-session.",
    refused.value?._tag === "DelegateError" && refused.value.reason._tag === "RecursionLimit" && refused.asked === 0
      && Call.count(refused, "DelegateStart") === 0,
    refused
  )
})

const broken = Effect.fnUntraced(function*(folder: string, show: Show) {
  const before = yield* Registry.versions
  yield* Folder.write(folder, "broken.md", brokenFile)
  yield* show.say("Somebody drops a file into the folder that is wrong.")
  const problem = yield* Registry.within("The file is logged.", Queue.take(yield* Problems))
  yield* show.tell("problem", { _tag: "Problem", ...problem })
  yield* show.hold(
    "The log says in which line of which file, and what is expected there.",
    problem.file === "broken.md" && problem.line === 4 && problem.field === "budget.maxTokens",
    problem
  )
  const after = yield* Registry.versions
  yield* show.hold("The registry is as it was.", before.join() === after.join(), after)
  const again = yield* Call.run("again", reading, show)
  yield* show.hold("The others go on, and so does the cache.", again.value.status === "cache_hit", again)
})

const brokenFile = `---
name: broken
description: Spends as much as it likes
budget: { maxTokens: plenty }
---

You spend.
`
