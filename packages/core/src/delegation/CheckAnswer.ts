/**
 * Whether an answer fits what was asked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromJsonSchemaDocument } from "effect/SchemaRepresentation"
import type { LoopTool } from "../loop/Drive.ts"
import * as ResultBound from "../loop/ResultBound.ts"
import * as ShownArguments from "../loop/ShownArguments.ts"
import type { CheckAnswer } from "../run/ResumeRun.ts"
import type { Answer } from "../values/Answer.ts"
import type { InterruptRequest, PendingInterrupt } from "../values/Interrupt.ts"
import type { Json } from "../values/Json.ts"
import { shown } from "../values/JsonCodec.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import { type BoundSpec, family } from "./BoundSpec.ts"
import * as StoredPosture from "./StoredPosture.ts"

/**
 * Checks answers for the runs of an agent and of every subagent below it:
 * whether the kind of answer fits what was asked, and whether its value
 * decodes. Edited arguments are given back in the form in which they run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (spec: BoundSpec): CheckAnswer => {
  const members = [...family(spec)]
  return (answer, asked) => {
    const fitting = fits[asked.request._tag]
    if (!fitting.includes(answer._tag)) {
      const expected = fitting.map((tag) => makers[tag]).join(" or ")
      return Effect.succeed(
        Result.fail([`Expected ${expected} for ${kinds[asked.request._tag]}, not ${makers[answer._tag]}`])
      )
    }
    if (answer._tag === "Edit") {
      // What a person wrote is stored as what runs: with the defaults of now.
      return byTool(members, asked, (tool) =>
        tool.formArguments === undefined ? undefined : Effect.map(
          ShownArguments.of(tool, answer.arguments),
          Result.mapBoth({ onFailure: ({ issues }) => issues, onSuccess: (args) => ({ ...answer, arguments: args }) })
        ))
    }
    if (answer._tag !== "Reply") return Effect.succeed(Result.succeed(answer))
    return asked.request._tag === "Question"
      ? Effect.succeed(unless(byJsonSchema(asked.request.answerSchema, answer.value), answer))
      : byTool(members, asked, (tool, { agent, limits }) => {
        if (tool.checkResult === undefined) return undefined
        const tooLarge = ResultBound.problems(answer.value, ResultBound.ofAgent(agent, limits, tool))
        return tooLarge.length > 0
          ? Effect.succeed(Result.fail(tooLarge))
          : Effect.map(tool.checkResult(answer.value), (issues) => unless(issues, answer))
      })
  }
}

type Checked = Result.Result<Answer, ReadonlyArray<string>>

const unless = (issues: ReadonlyArray<string>, answer: Answer): Checked =>
  issues.length === 0 ? Result.succeed(answer) : Result.fail(issues)

const fits: { readonly [Tag in InterruptRequest["_tag"]]: ReadonlyArray<Answer["_tag"]> } = {
  Approval: ["Approve", "Reject", "Edit"],
  Question: ["Reply"],
  Breakpoint: ["Proceed"],
  Uncertain: ["Approve", "Reject", "Reply"]
}

const kinds: { readonly [Tag in InterruptRequest["_tag"]]: string } = {
  Approval: "an approval",
  Question: "a question",
  Breakpoint: "a breakpoint",
  Uncertain: "a call that may have run"
}

const makers: { readonly [Tag in Answer["_tag"]]: string } = {
  Approve: "Answer.approve",
  Reject: "Answer.reject",
  Edit: "Answer.edit",
  Reply: "Answer.reply",
  Proceed: "Answer.proceed"
}

const byTool = Effect.fnUntraced(function*(
  members: ReadonlyArray<BoundSpec>,
  asked: PendingInterrupt,
  check: (tool: LoopTool, spec: BoundSpec) => Effect.Effect<Checked> | undefined
): Effect.fn.Return<Checked> {
  const { request, run } = asked
  const spec = (yield* postureOf(members, run.runId)) ?? members.find(({ agent }) => agent.id === run.subagent)
  const tool = spec === undefined ? undefined : toolOf(spec, request.tool)
  const checked = spec === undefined || tool === undefined ? undefined : check(tool, spec)
  return spec === undefined || checked === undefined
    ? Result.fail(["the tool that waits is not known here"])
    : yield* Effect.provideContext(checked, spec.agent.context)
})

const toolOf = ({ agent, catalog }: BoundSpec, name: string): LoopTool | undefined =>
  agent.tools.get(name) ?? catalog?.compile(agent, [name]).tools.get(name)

// A posture may have the name of an agent of the family, so the row says what the run is of.
const postureOf = (members: ReadonlyArray<BoundSpec>, runId: string): Effect.Effect<BoundSpec | undefined> => {
  const member = members.find(({ delegates }) => delegates !== undefined)
  if (member?.delegates === undefined) return Effect.succeed(undefined)
  const { delegates, runtime } = member
  return runtime.store.load(runId).pipe(
    Effect.flatMap((loaded) => loaded === undefined ? Effect.succeed(undefined) : StoredPosture.of(delegates, loaded)),
    Effect.map((stored) => stored?.subagent),
    // What cannot be read here is found, and said, where the run goes on.
    Effect.catch(() => Effect.succeed(undefined))
  )
}

// What a handler asks for is known here only as the JSON Schema that was stored with its question.
const byJsonSchema = (schema: Json, value: Json): ReadonlyArray<string> =>
  Result.match(
    Result.try(() => {
      // The text "NaN" is no number that a person gives.
      const { $defs, ...root } = shown(schema) as { readonly [key: string]: any }
      const document = { dialect: "draft-2020-12" as const, schema: root, definitions: $defs ?? {} }
      // Patterns are those of the handler's own schema, which applies them to the answer as well.
      const read = fromJsonSchemaDocument(document, { patterns: "apply" }) as Schema.Codec<unknown>
      return Schema.decodeUnknownResult(read, { errors: "all" })(value)
    }),
    {
      onFailure: () => ["the question's schema cannot be read"],
      onSuccess: (decoded) => Result.isFailure(decoded) ? SchemaIssues.lines(decoded.failure) : []
    }
  )
