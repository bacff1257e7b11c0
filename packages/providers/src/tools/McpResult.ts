/**
 * Results of MCP tools as a model is shown them.
 *
 * @since 0.1.0
 */
import type * as McpSchema from "effect/ai/McpSchema"
import type * as Prompt from "effect/ai/Prompt"
import * as ToolOutcome from "./ToolOutcome.ts"

/**
 * What of a result is read. Servers may give more.
 *
 * @category models
 * @since 0.1.0
 */
export type Result = Pick<McpSchema.CallToolResult, "content" | "structuredContent">

/**
 * Makes what a model is shown of a result.
 *
 * **Details**
 *
 * Text is shown as text, an image, audio or the bytes of a resource as a file,
 * and a link to a resource as its name and URI. Structured content is shown as
 * JSON where there is no text. A part of another kind is left out with a note,
 * and a result with nothing in it is a note too: the call succeeded, so there is
 * always something to read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (result: Result): ToolOutcome.ToolOutcome<string> => {
  const parts = partsOf(result)
  const words = parts.length === 0 ? "The call succeeded. It gave no output." : textOf(parts)
  return parts.every(({ type }) => type === "text")
    ? new ToolOutcome.ToolOutcome(words)
    : new ToolOutcome.ToolOutcome(words, parts)
}

/**
 * The words of a tool that says it failed, with a note for each part that is
 * none.
 *
 * @category getters
 * @since 0.1.0
 */
export const words = (result: Result): string => textOf(partsOf(result)) || "The tool failed without saying why"

const partsOf = ({ content, structuredContent }: Result): ReadonlyArray<Prompt.ToolModelOutputPart> => {
  const blocks = Array.isArray(content) ? content as ReadonlyArray<McpSchema.ContentBlock> : []
  const parts = blocks.flatMap((block) => partOf(block))
  const structured = structuredContent === undefined || parts.some(({ type }) => type === "text")
    ? []
    : ToolOutcome.text(JSON.stringify(structuredContent) ?? "")
  return [...structured, ...parts]
}

const partOf = (block: McpSchema.ContentBlock): ReadonlyArray<Prompt.ToolModelOutputPart> => {
  switch (block.type) {
    case "text":
      return ToolOutcome.text(block.text)
    case "image":
    case "audio":
      return [ToolOutcome.file(block.mimeType, block.data)]
    case "resource": {
      const { resource } = block
      if ("text" in resource) return ToolOutcome.text(resource.text)
      return [ToolOutcome.file(resource.mimeType ?? "application/octet-stream", resource.blob)]
    }
    case "resource_link":
      return ToolOutcome.text(`Resource ${block.name}: ${block.uri}`)
    default:
      return [ToolOutcome.leftOut("content of another type")]
  }
}

const textOf = (parts: ReadonlyArray<Prompt.ToolModelOutputPart>): string =>
  parts.map((part) => part.type === "text" ? part.text : `[a file of the type ${part.mediaType}]`).join("\n")
