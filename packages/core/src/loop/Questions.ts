/**
 * The answers that people gave to the questions of one call.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. An answer belongs to the text and the answer schema that were recorded
 *    with its question. It is never given to another question, wherever that
 *    stands in its handler by now.
 * 2. Each answer is taken at most once while a handler runs. Of two questions
 *    that are the same, the first takes the first answer.
 * 3. Numbers of questions are never used again: what is asked anew has a new
 *    one, and an answer that no question takes stays in the journal.
 *
 * @since 0.1.0
 */
import * as Ids from "../values/Ids.ts"
import type { InterruptRequest } from "../values/Interrupt.ts"
import * as Json from "../values/Json.ts"
import * as JsonCodec from "../values/JsonCodec.ts"
import * as ValidatingForm from "../values/ValidatingForm.ts"
import type { Records } from "./Journal.ts"

/**
 * A question as it is recorded.
 *
 * @category models
 * @since 0.1.0
 */
export type Question = Extract<InterruptRequest, { _tag: "Question" }>

/**
 * The questions of a call, for one time that its handler runs.
 *
 * **Details**
 *
 * - `answers`: the answers to a question that were not taken yet, in the order
 *   in which they were asked for. Each one that is looked at is taken
 * - `next`: the id under which a question is asked anew
 * - `taken`: the numbers of the questions whose answers were taken so far
 * - `skip`: takes answers without looking at them
 *
 * @category models
 * @since 0.1.0
 */
export interface Questions {
  readonly answers: (question: Question) => Iterable<{ readonly id: Ids.InterruptId; readonly value: Json.Json }>
  readonly next: () => Ids.InterruptId
  readonly taken: () => ReadonlySet<number>
  readonly skip: (numbers: Iterable<number>) => void
}

/**
 * The questions of a call, none of whose answers is taken yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ answers, requests }: Records, call: Ids.CallKey): Questions => {
  const taken = new Set<number>()
  const idOf = (n: number) => Ids.interruptId(call, "question", n)
  return {
    *answers(question) {
      let identity: string | undefined
      for (let n = 0;; n++) {
        const id = idOf(n)
        const recorded = requests.get(id)?.request
        if (recorded === undefined) return
        // The texts first: most questions differ there.
        if (taken.has(n) || recorded._tag !== "Question" || recorded.question !== question.question) continue
        identity ??= schemaOf(question)
        if (schemaOf(recorded) !== identity) continue
        taken.add(n)
        const answer = answers.get(id)
        if (answer?._tag === "Reply") yield { id, value: answer.value }
      }
    },
    next: () => {
      let n = 0
      while (requests.has(idOf(n))) n++
      taken.add(n)
      return idOf(n)
    },
    taken: () => taken,
    skip: (numbers) => {
      for (const n of numbers) taken.add(n)
    }
  }
}

// Corrected descriptions do not make another question.
const schemaOf = ({ answerSchema }: Question): string =>
  Json.canonical(ValidatingForm.make(JsonCodec.shown(answerSchema)))
