/** The person at the desk: which interrupts are answered now, in which order, and how. */
import { Answer, type Interrupt } from "@mandate/core"
import type { Case } from "./Case.ts"
import * as PosturePlan from "./PosturePlan.ts"
import * as Random from "./Random.ts"

/** Answers to some of what is pending, at least to one. An interrupt is always answered in the same way. */
export const decide = (
  plan: Case,
  act: number,
  pending: ReadonlyArray<Interrupt.PendingInterrupt>
): ReadonlyArray<Answer.Answer> => {
  const random = Random.make(plan.seed, `answers ${act}`)
  const shuffled = random.shuffled(pending)
  const gone = plan.postures === undefined ? new Set<string>() : PosturePlan.before(plan.postures, act).gone
  const isPartial = pending.length > 1 && random.chance(plan.partial)
  return shuffled.slice(0, isPartial ? random.int(1, pending.length - 1) : undefined).map((interrupt) =>
    answer(Random.make(plan.seed, interrupt.id), interrupt, gone)
  )
}

// Nobody can give a tool that is gone other arguments, nor a result in its place.
const answer = (
  random: Random.Random,
  interrupt: Interrupt.PendingInterrupt,
  gone: ReadonlySet<string>
): Answer.Answer => {
  const { id, request } = interrupt
  const isByTool = request._tag === "Approval" || request._tag === "Uncertain"
  return isByTool && gone.has(request.tool) ? Answer.approve(id) : fitting(random, interrupt)
}

const fitting = (random: Random.Random, { id, request }: Interrupt.PendingInterrupt): Answer.Answer => {
  switch (request._tag) {
    case "Approval":
      return random.weighted<() => Answer.Answer>([
        [5, () => Answer.approve(id)],
        [2, () => Answer.edit(id, { amount: 100 + random.int(1, 9), millis: 1 })],
        [2, () => Answer.reject(id, "no")]
      ])()
    case "Question":
      return Answer.replyUnknown(id, random.pick(["yes", "no"]))
    case "Breakpoint":
      return Answer.proceed(id)
    case "Uncertain":
      return random.weighted<() => Answer.Answer>([
        [4, () => Answer.approve(id)],
        [2, () => Answer.replyUnknown(id, "it ran")],
        [2, () => Answer.reject(id, "unknown")]
      ])()
  }
}
