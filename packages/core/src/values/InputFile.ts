/**
 * Files of an input: images, documents, sound.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. What a caller gives is copied and checked before anything is stored, and
 *    its size is known before it is read.
 * 2. No URL is fetched here. A URL that is passed on is `https`, and has no
 *    user name and no password.
 * 3. What is said of a file that is refused quotes none of its content, and no
 *    URL.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { FilePart } from "./ContentPart.ts"
import type { FileLimits } from "./FileLimits.ts"
import * as Options from "./Options.ts"

/**
 * A file of an input: its content, or where the model's provider finds it.
 *
 * **Details**
 *
 * - `mediaType`: IANA media type without parameters, such as `image/png` or
 *   `application/pdf`
 * - `name`: file name that the model may be told, up to 255 characters.
 *   Default: none
 * - `data`: the content, as bytes or as base64 (RFC 4648, padded, without
 *   line breaks)
 * - `url`: an `https:` URL of up to 8,192 characters, which the provider
 *   fetches, not this process; or a base64 `data:` URL of the same media type
 *
 * @category models
 * @since 0.1.0
 */
export type InputFile =
  | {
    readonly mediaType: string
    readonly name?: string | undefined
    readonly data: Uint8Array | string
    readonly url?: undefined
  }
  | {
    readonly mediaType: string
    readonly name?: string | undefined
    readonly url: string | URL
    readonly data?: undefined
  }

/**
 * Decodes the files of an input, which may be anything. Fails with one
 * sentence for each file that is not valid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decodeAll = (
  files: unknown,
  limits: Required<FileLimits>
): Result.Result<ReadonlyArray<FilePart>, ReadonlyArray<string>> => {
  if (!Array.isArray(files)) return Result.fail(["they are not an array of files"])
  if (files.length > limits.maxFiles) {
    return Result.fail([`there are ${files.length} files; at most ${limits.maxFiles} are allowed`])
  }
  const parts: Array<FilePart> = []
  const issues: Array<string> = []
  let left = limits.maxTotalBytes
  for (let index = 0; index < files.length; index++) {
    const decoded = decode(files[index], limits.maxFileBytes)
    if (Result.isFailure(decoded)) {
      issues.push(`file ${index + 1}: ${decoded.failure}`)
      continue
    }
    left -= bytesOf(decoded.success)
    if (left < 0) {
      issues.push(`the files up to file ${index + 1} have more than the ${limits.maxTotalBytes} bytes allowed in all`)
      break
    }
    parts.push(decoded.success)
  }
  return issues.length === 0 ? Result.succeed(parts) : Result.fail(issues)
}

type Decoded = Result.Result<FilePart, string>

const decode = (given: unknown, maxBytes: number): Decoded => {
  const fields = decodeFields(given)
  if (Result.isFailure(fields)) return Result.fail(fields.failure.join("; "))
  const { data, mediaType, name, url } = fields.success
  if ((data === undefined) === (url === undefined)) return Result.fail("it must have either data or url")
  const type = mediaType.toLowerCase()
  const content = data === undefined ? fromUrl(url, type, maxBytes) : fromData(data, maxBytes)
  return Result.map(content, (data) => ({
    type: "file",
    mediaType: type,
    ...(name === undefined ? {} : { filename: name }),
    data
  }))
}

interface Fields {
  readonly mediaType: string
  readonly name?: string
  readonly data?: unknown
  readonly url?: unknown
}

type Content = Result.Result<FilePart["data"], string>

const fromData = (data: unknown, maxBytes: number): Content => {
  if (typeof data === "string") return fromBase64(data, maxBytes)
  if (!(data instanceof Uint8Array)) return Result.fail("its data must be a Uint8Array or base64")
  if (data.byteLength === 0) return Result.fail(empty)
  if (data.byteLength > maxBytes) return Result.fail(tooLarge(data.byteLength, maxBytes))
  const { buffer, byteLength, byteOffset } = data
  return Result.succeed({ type: "base64", base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64") })
}

const fromBase64 = (base64: string, maxBytes: number): Content => {
  if (base64 === "") return Result.fail(empty)
  const bytes = base64Bytes(base64)
  if (bytes > maxBytes) return Result.fail(tooLarge(bytes, maxBytes))
  return base64.length % 4 === 0 && base64Pattern.test(base64)
    ? Result.succeed({ type: "base64", base64 })
    : Result.fail("its data is not base64 (RFC 4648, padded, without line breaks)")
}

const fromUrl = (given: unknown, mediaType: string, maxBytes: number): Content => {
  const text = given instanceof URL ? given.href : given
  if (typeof text !== "string") return Result.fail("its url must be a string or a URL")
  if (text.slice(0, 5).toLowerCase() === "data:") return fromDataUrl(text, mediaType, maxBytes)
  const url = text.length > maxUrlLength ? null : URL.parse(text)
  if (url === null) return Result.fail(`its url must be a URL of at most ${maxUrlLength} characters`)
  if (url.protocol !== "https:") {
    return Result.fail(`its url has the scheme ${JSON.stringify(url.protocol)}; allowed are https: and data:`)
  }
  return url.username === "" && url.password === ""
    ? Result.succeed({ type: "url", url: url.href })
    : Result.fail("its url must have no user name and no password")
}

const fromDataUrl = (url: string, mediaType: string, maxBytes: number): Content => {
  const comma = url.indexOf(",")
  const head = comma < 0 || comma > maxTypeLength + 20 ? undefined : url.slice(5, comma).toLowerCase()
  return head === `${mediaType};base64`
    ? fromBase64(url.slice(comma + 1), maxBytes)
    : Result.fail("its data: URL must be base64, and of the file's mediaType")
}

const bytesOf = ({ data }: FilePart): number => data.type === "base64" ? base64Bytes(data.base64) : 0

const base64Bytes = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.floor(base64.length * 3 / 4) - padding
}

const tooLarge = (bytes: number, maxBytes: number): string => `it has ${bytes} bytes; at most ${maxBytes} are allowed`

const empty = "it is empty"
const maxNameLength = 255
const maxUrlLength = 8192
const maxTypeLength = 127
const mediaTypePattern = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/i
const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/
const controlCharacter = /\p{Cc}/u

const decodeFields = Options.make<Fields>("field", {
  mediaType: Options.checked<string>(
    "a media type without parameters, such as image/png",
    (value) => typeof value === "string" && value.length <= maxTypeLength && mediaTypePattern.test(value)
  ),
  name: Options.checked<string>(
    `1 to ${maxNameLength} characters, without control characters`,
    (value) =>
      typeof value === "string" && value.length > 0 && value.length <= maxNameLength && value.isWellFormed() &&
      !controlCharacter.test(value)
  ),
  data: Options.any,
  url: Options.any
}, ["mediaType"])
