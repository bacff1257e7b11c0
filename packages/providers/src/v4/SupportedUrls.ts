/**
 * Which files behind a URL a model can fetch.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Message } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as MediaTypes from "../files/MediaTypes.ts"
import * as Failure from "./Failure.ts"

/**
 * Checks that a model can fetch every file that is behind a URL.
 *
 * **Details**
 *
 * Nothing is downloaded here: a process that fetches whatever URL is in a
 * conversation can be made to fetch what only it can reach. The application
 * sends such a file as base64. A model without such files is not asked.
 *
 * @category running
 * @since 0.1.0
 */
export const check = (
  model: Pick<LanguageModelV4, "supportedUrls">,
  files: ReadonlyArray<Message.FilePart>
): Effect.Effect<void, Failure.Problem> =>
  files.length === 0
    ? Effect.void
    : Effect.flatMap(
      Failure.attempt(() => Promise.resolve(model.supportedUrls)),
      (supported) => refuse(files, supported)
    )

/**
 * Why a model cannot fetch a file, in words that follow "the model". Nothing
 * where it can, where the file is no URL, or where the model does not say.
 *
 * @category getters
 * @since 0.1.0
 */
export const refuses = (
  model: Pick<LanguageModelV4, "supportedUrls">,
  file: Message.FilePart
): Effect.Effect<string | undefined> =>
  file.data.type !== "url"
    ? Effect.succeed(undefined)
    : Effect.match(check(model, [file]), {
      onFailure: ({ reason }) =>
        reason === "unsupported" ? "does not fetch files of this type from this URL; give the file as data" : undefined,
      onSuccess: () => undefined
    })

const refuse = (files: ReadonlyArray<Message.FilePart>, supported: Patterns): Effect.Effect<void, Failure.Problem> => {
  for (const { data, mediaType } of files) {
    if (data.type !== "url") continue
    const url = URL.parse(data.url)
    if (url === null) return Effect.fail({ reason: "invalid-request", detail: "the URL of a file is not a URL" })
    if (!isSupported(supported, mediaType.toLowerCase(), url.href)) {
      return Effect.fail({
        reason: "unsupported",
        detail: "the model does not fetch files of this type from this URL; send the file as base64"
      })
    }
  }
  return Effect.void
}

type Patterns = { readonly [mediaType: string]: ReadonlyArray<RegExp> }

const isSupported = (supported: Patterns, mediaType: string, url: string): boolean =>
  Object.entries(supported).some(([pattern, urls]) =>
    MediaTypes.accepts(pattern.toLowerCase(), mediaType) && urls.some((expression) => matches(expression, url))
  )

// An expression with the flag `g` or `y` remembers where it stopped; the copy begins at the start.
const matches = (expression: RegExp, url: string): boolean => new RegExp(expression).test(url)
