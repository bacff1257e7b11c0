/**
 * Tools as `effect/ai` takes them, without handlers.
 *
 * @since 0.1.0
 */
import type { ModelRequest } from "@mandate/core"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * Makes the toolkit of a request's tools, once for each list: making tools is
 * slow, and an agent offers the same list at every step.
 *
 * **Details**
 *
 * The tools are dynamic ones, with the JSON Schema they have. The toolkit
 * cannot run them; it is for requests that leave calls unresolved.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (tools: ReadonlyArray<ModelRequest.ModelTool>): Toolkit.WithHandler<Tools> => {
  const known = made.get(tools)
  if (known !== undefined) return known
  const toolkit: Toolkit.WithHandler<Tools> = {
    tools: Object.fromEntries(tools.map((tool) => [tool.name, toTool(tool)])),
    handle: () => Effect.die(new Error("A call of a tool was resolved, although resolution is off"))
  }
  made.set(tools, toolkit)
  return toolkit
}

/**
 * Tools by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Tools = Record<string, AiTool>

const made = new WeakMap<ReadonlyArray<ModelRequest.ModelTool>, Toolkit.WithHandler<Tools>>()

type AiTool = Tool.Tool<string, {
  readonly parameters: Schema.Unknown
  readonly success: Schema.Unknown
  readonly failure: Schema.Unknown
  readonly failureMode: "error"
}>

const toTool = ({ description, inputSchema, name, strict }: ModelRequest.ModelTool): AiTool => {
  const tool = Tool.dynamic(name, {
    parameters: inputSchema,
    failure: Schema.Unknown,
    ...(description === undefined ? {} : { description })
  })
  return strict === undefined ? tool : tool.annotate(Tool.Strict, strict)
}
