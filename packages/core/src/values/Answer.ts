/**
 * Answers to what runs wait on: plain data, made where a person decided and
 * sent to where the run is resumed.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Json } from "./Json.ts"
import type { Named } from "./Named.ts"
import * as Options from "./Options.ts"
import * as SchemaIssues from "./SchemaIssues.ts"

/**
 * Schema for answers.
 *
 * **Details**
 *
 * `id` is the id under which `pending` lists what is answered.
 *
 * - `Approve`: run the call as it was shown
 * - `Reject`: do not run it; `reason` is its result, and the run goes on
 * - `Edit`: run it with these arguments instead
 * - `Reply`: the answer to a question, as JSON
 * - `Proceed`: go on past a breakpoint
 *
 * @category schemas
 * @since 0.1.0
 */
export const Answer = Schema.TaggedUnion({
  Approve: { id: Schema.String },
  Reject: { id: Schema.String, reason: Schema.String },
  Edit: { id: Schema.String, arguments: Schema.Json },
  Reply: { id: Schema.String, value: Schema.Json },
  Proceed: { id: Schema.String }
})

/**
 * The most bytes of UTF-8 that the JSON of one answer may have: 1 MiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 1024 * 1024

/**
 * An answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer = Named<typeof Answer.Type>

/**
 * Lets a call run as it was shown.
 *
 * @category constructors
 * @since 0.1.0
 */
export const approve = (id: string): Answer => ({ _tag: "Approve", id })

/**
 * Refuses a call. The model reads the reason, and the run goes on.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reject = (id: string, reason: string): Answer => ({ _tag: "Reject", id, reason })

/**
 * Lets a call run with other arguments. They are decoded when the run is
 * resumed; the tool's policy is not asked about them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const edit = (id: string, args: unknown): Answer => ({ _tag: "Edit", id, arguments: args as Json })

/**
 * Answers a question with a value of the schema that was given to
 * `ToolContext.ask`.
 *
 * **Gotchas**
 *
 * A value that the schema cannot encode is a defect: its type should have
 * ruled it out. What is no schema throws `Options.InvalidOptions`. For a value
 * from outside use {@link replyUnknown}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reply = <A, E>(id: string, answer: Schema.Codec<A, E>, value: NoInfer<A>): Answer => ({
  _tag: "Reply",
  id,
  value: Options.orThrow("Answer.reply", Result.map(decodeSchema({ answer }), () => encoded(answer, value)))
})

/**
 * Answers a question with JSON whose type is not known here, such as the body
 * of a request. It is checked against the question's schema when the run is
 * resumed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const replyUnknown = (id: string, value: unknown): Answer => ({ _tag: "Reply", id, value: value as Json })

/**
 * Goes on past a breakpoint.
 *
 * @category constructors
 * @since 0.1.0
 */
export const proceed = (id: string): Answer => ({ _tag: "Proceed", id })

const decodeSchema = Options.make<{ readonly answer: unknown }>("argument", {
  answer: Options.checked("a schema", Schema.isSchema)
}, ["answer"])

const encoded = <A, E>(answer: Schema.Codec<A, E>, value: A): Json =>
  Result.getOrThrowWith(
    Schema.encodeUnknownResult(Schema.toCodecJson(answer))(value),
    (error) => new TypeError(`The answer cannot be encoded: ${SchemaIssues.lines(error).join("; ")}`)
  ) as Json
