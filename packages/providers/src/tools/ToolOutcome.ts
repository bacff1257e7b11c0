/**
 * Results of tools that say themselves what a model is shown of them.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/**
 * A result: its value, which is stored where nothing else is shown, and the
 * parts that a model is shown in its place.
 *
 * @category models
 * @since 0.1.0
 */
export class ToolOutcome<A> {
  readonly value: A
  readonly parts: ReadonlyArray<Prompt.ToolModelOutputPart> | undefined

  constructor(value: A, parts?: ReadonlyArray<Prompt.ToolModelOutputPart>) {
    this.value = value
    this.parts = parts
  }
}

const isOutcome = (value: unknown): value is ToolOutcome<unknown> => value instanceof ToolOutcome

/**
 * Schema of a result whose value is any JSON.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Outcome: Schema.Codec<ToolOutcome<unknown>, unknown> = Schema.Unknown.pipe(Schema.decodeTo(
  Schema.declare<ToolOutcome<unknown>>(isOutcome),
  SchemaTransformation.transform({ decode: (value) => new ToolOutcome(value), encode: ({ value }) => value })
))

/**
 * Schema of a result whose value is text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextOutcome: Schema.Codec<ToolOutcome<string>, string> = Schema.String.pipe(Schema.decodeTo(
  Schema.declare<ToolOutcome<string>>(isOutcome as (value: unknown) => value is ToolOutcome<string>),
  SchemaTransformation.transform({ decode: (value) => new ToolOutcome(value), encode: ({ value }) => value })
))

/**
 * The parts of a result; none for one that is shown as it is.
 *
 * @category getters
 * @since 0.1.0
 */
export const toModelOutput = ({ parts }: ToolOutcome<unknown>): ReadonlyArray<Prompt.ToolModelOutputPart> => parts ?? []

/**
 * A text part, unless there is nothing to read in it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string): ReadonlyArray<Prompt.TextPart> =>
  text.trim() === "" ? [] : [Prompt.textPart({ text: text.toWellFormed() })]

/**
 * A file as a part, or a note that it was left out.
 *
 * @category constructors
 * @since 0.1.0
 */
export const file = (
  mediaType: unknown,
  data: string | Uint8Array | URL,
  fileName?: string
): Prompt.ToolModelOutputPart =>
  typeof mediaType === "string" && isMediaType.test(mediaType)
    ? Prompt.filePart({ mediaType, data, ...(fileName === undefined ? {} : { fileName }) })
    : leftOut("a file without a media type")

/**
 * A note for the model that something of a result was left out.
 *
 * @category constructors
 * @since 0.1.0
 */
export const leftOut = (what: string): Prompt.TextPart => Prompt.textPart({ text: `[${what} was left out]` })

const isMediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9*][a-z0-9!#$&^_.+*-]{0,62}(;[^\r\n]{0,100})?$/i
