/** The person at the desk: which interrupts are answered now, in which order, and how. */
import { Answer, type Interrupt } from "@mandate/core"
import type { Case } from "./Case.ts"
import * as Random from "./Random.ts"

/** Answers to some of what is pending, at least to one. An interrupt is always answered in the same way. */
export const decide = (
  plan: Case,
  act: number,
  pending: ReadonlyArray<Interrupt.PendingInterrupt>
): ReadonlyArray<Answer.Answer> => {
  const random = Random.make(plan.seed, `answers ${act}`)
  const shuffled = random.shuffled(pending)
  const isPartial = pending.length > 1 && random.chance(plan.partial)
  return shuffled.slice(0, isPartial ? random.int(1, pending.length - 1) : undefined).map((interrupt) =>
    answer(Random.make(plan.seed, interrupt.id), interrupt)
  )
}

const answer = (random: Random.Random, { id, request }: Interrupt.PendingInterrupt): Answer.Answer => {
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
