/**
 * The parts of a V4 stream as the pieces of a streamed response.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Whole parts come in the order in which they began, as in a response that
 *    is asked for whole: one that ends early waits for those before it.
 * 2. The finish comes last, once, and only when everything that began has
 *    ended.
 * 3. What is held is bounded by {@link maxLength}.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4Content, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { ModelResponse } from "@mandate/core"
import { Json, Message } from "@mandate/core"
import * as Result from "effect/Result"
import * as Checked from "./Checked.ts"
import * as Content from "./Content.ts"
import * as Finish from "./Finish.ts"
import type { Problem } from "./Problem.ts"
import * as StreamedText from "./StreamedText.ts"
import * as StreamFailure from "./StreamFailure.ts"
import * as StreamFinish from "./StreamFinish.ts"

/**
 * A piece of a streamed response.
 *
 * @category models
 * @since 0.1.0
 */
export type Piece = ModelResponse.ModelStreamPart

/**
 * Parts of a stream that make up its response. The others are about the
 * stream.
 *
 * @category models
 * @since 0.1.0
 */
export type ResponsePart = Exclude<
  LanguageModelV4StreamPart,
  { readonly type: "stream-start" | "response-metadata" | "ping" | "raw" | "error" }
>

/**
 * Takes the parts of one stream, one after the other, and gives the pieces
 * they make. `noReason` is called when the client says that the provider gave
 * no reason to finish, which fails unless the calls are whole, `end` when the stream has ended by itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamParts {
  readonly take: (part: ResponsePart) => Result.Result<ReadonlyArray<Piece>, Problem>
  readonly noReason: () => Result.Result<ReadonlyArray<Piece>, Problem>
  readonly end: () => Result.Result<ReadonlyArray<Piece>, Problem>
}

/**
 * The largest response, in characters of its JSON: 64 Mi. Files as base64
 * count too.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxLength = 64 * 1024 * 1024

/**
 * Starts with an empty response.
 *
 * **Details**
 *
 * A stream that ends without a finish, or while a tool call is being written,
 * fails as `network`, with its usage where it is known. A call that was cut at
 * a limit, or by a filter, is left out.
 *
 * A stream that was closed in order, without a reason to finish, ends with
 * `tool-calls` if it has calls and the arguments of all are JSON objects. Text
 * alone could be the beginning of a longer one, and is a failure.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (limit: number = maxLength): StreamParts => {
  // Where each part has its place: absent until it has ended.
  const places: Array<Place> = []
  const blocks = new Map<string, { readonly block: StreamedText.Block; readonly place: Place }>()
  const inputs = new Map<string, { readonly name: string; readonly own: boolean; readonly place: Place }>()
  let finish: StreamFinish.FinishPart | undefined
  let isWithoutReason = false
  const calls: Array<unknown> = []
  let length = 0
  let begun = false

  const count = (characters: number) => {
    begun = true
    length += characters + perPart
    return length > limit ? Result.fail(tooLong) : undefined
  }

  const released = (): Array<Piece> => {
    const end = places.findIndex((place) => !place.isOver)
    return places.splice(0, end < 0 ? places.length : end).flatMap(({ part }) =>
      part === undefined ? [] : [{ type: "part" as const, part }]
    )
  }

  const begin = (): Place => {
    const place: Place = { isOver: false, part: undefined }
    places.push(place)
    return place
  }

  const settle = (place: Place, content: LanguageModelV4Content | undefined): Result.Result<void, Problem> => {
    if (content === undefined) {
      place.isOver = true
      return Result.void
    }
    return Result.map(toPart(content), (part) => {
      place.isOver = true
      place.part = part
    })
  }

  const takeBlock = (part: StreamedText.BlockPart): Result.Result<ReadonlyArray<Piece>, Problem> => {
    const type = part.type.startsWith("text") ? "text" : "reasoning"
    const key = `${type} ${part.id}`
    const known = blocks.get(key)
    if (part.type === `${type}-end` && known === undefined) return nothing
    const isAgain = part.type === `${type}-start` && known !== undefined
    if (isAgain) {
      const ended = settle(known.place, StreamedText.end(known.block, undefined))
      if (Result.isFailure(ended)) return Result.fail(ended.failure)
    }
    const current = known === undefined || isAgain ? { block: StreamedText.make(type), place: begin() } : known
    blocks.set(key, current)
    StreamedText.add(current.block, part)
    if ("delta" in part) {
      return Result.succeed(part.delta === "" ? [] : [{ type: `${type}-delta`, delta: part.delta }])
    }
    if (part.type !== `${type}-end`) return Result.succeed(released())
    blocks.delete(key)
    return Result.map(settle(current.place, StreamedText.end(current.block, part)), released)
  }

  const take = (part: ResponsePart): Result.Result<ReadonlyArray<Piece>, Problem> => {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return count("delta" in part ? part.delta.length : 0) ?? takeBlock(part)
      case "tool-input-start": {
        const { id, providerExecuted, toolName } = part
        if (!inputs.has(id)) inputs.set(id, { name: toolName, own: providerExecuted !== true, place: begin() })
        return count(id.length + toolName.length) ?? nothing
      }
      case "tool-input-delta": {
        const input = inputs.get(part.id)
        const { delta, id } = part
        return count(delta.length) ??
          Result.succeed(
            input === undefined || delta === "" ? [] : [{ type: "tool-input-delta", id, name: input.name, delta }]
          )
      }
      case "tool-input-end":
        return nothing
      case "finish":
        finish = part
        return nothing
      default: {
        if (part.type === "custom" && part.kind === streamMark) return nothing
        const known = part.type === "tool-call" ? inputs.get(part.toolCallId) : undefined
        if (known !== undefined && part.type === "tool-call") inputs.delete(part.toolCallId)
        if (part.type === "tool-call" && part.providerExecuted !== true) calls.push(part.input)
        const place = known?.place ?? begin()
        return Result.flatMap(settle(place, part), () => count(sizeOf(place.part)) ?? Result.succeed(released()))
      }
    }
  }

  const areCallsWhole = () => calls.length > 0 && inputs.size === 0 && calls.every(isObject)

  const end = (): Result.Result<ReadonlyArray<Piece>, Problem> => {
    // A body that is no stream of events has nothing in it, and no reason to finish.
    const hasReason = finish?.finishReason.raw !== undefined || finish?.finishReason.unified === "error"
    if (!begun && !hasReason) return Result.fail({ ...Checked.malformed, usage: Finish.toUsage(finish?.usage) })
    if (finish === undefined && !areCallsWhole()) return Result.fail(StreamFailure.cut)
    const last = StreamFinish.make(finish ?? StreamFinish.none, { isWithoutReason, areCallsWhole })
    if (Result.isFailure(last)) return Result.fail(last.failure)
    const isCutOff = last.success.finishReason === "length" || last.success.finishReason === "content-filter"
    const isWhole = isCutOff || [...inputs.values()].every(({ own }) => !own)
    if (!isWhole) return Result.fail({ ...StreamFailure.cut, usage: last.success.usage })
    for (const { block, place } of blocks.values()) {
      const ended = settle(place, StreamedText.end(block, undefined))
      if (Result.isFailure(ended)) return Result.fail(ended.failure)
    }
    for (const { place } of inputs.values()) place.isOver = true
    return Result.succeed([...released(), last.success])
  }

  return {
    noReason: () => {
      isWithoutReason = true
      return areCallsWhole() ? nothing : Result.fail(begun ? StreamFailure.cut : Checked.malformed)
    },
    take: (part) =>
      Result.flatMap(
        Result.try({
          try: () => isOffType(part) ? Result.fail(Checked.malformed) : take(part),
          catch: () => Checked.malformed
        }),
        (made) => made
      ),
    end
  }
}

// Of what goes on unchecked: the pieces of texts and arguments, and what they belong to.
const isOffType = (part: ResponsePart): boolean => {
  const { delta, id, toolName, type } = part as { readonly [key: string]: unknown }
  if (typeof type !== "string" || !/^(text|reasoning|tool-input)-/.test(type)) return false
  return typeof id !== "string" || (type.endsWith("-delta") && typeof delta !== "string") ||
    (type === "tool-input-start" && typeof toolName !== "string")
}

interface Place {
  isOver: boolean
  part: Message.AssistantPart | undefined
}

// Anthropic's client begins its streams with one; a whole response has none.
const streamMark = "anthropic.message_start"

// What a part costs beside its text, so that empty ones count too.
const perPart = 16

const nothing: Result.Result<ReadonlyArray<Piece>, Problem> = Result.succeed([])

const tooLong: Problem = { reason: "invalid-response", detail: "the response is larger than any that is accepted" }

const checkPart = Checked.make(Message.AssistantPart)

const toPart = (content: LanguageModelV4Content): Result.Result<Message.AssistantPart | undefined, Problem> =>
  Result.flatMap(
    Content.toPart(content),
    (part) => part === undefined ? Result.succeed(part) : checkPart(() => Result.succeed(part))
  )

// A call without arguments may have its arguments still to come.
const isObject = (input: unknown): boolean => {
  const parsed = typeof input === "string" ? Json.parse(input, maxArgumentBytes) : Result.succeed(input)
  return Result.isSuccess(parsed) && typeof parsed.success === "object" && parsed.success !== null &&
    !Array.isArray(parsed.success)
}

const maxArgumentBytes = 8 * 1024 * 1024

const sizeOf = (part: Message.AssistantPart | undefined): number => part === undefined ? 0 : JSON.stringify(part).length
