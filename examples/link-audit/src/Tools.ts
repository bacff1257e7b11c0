/**
 * The tools of the agent that audits one file. Whatever path a model gives
 * them, they reach nothing outside the audited folder.
 */
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type { FileError } from "./ConfinedFiles.ts"
import * as Folder from "./Folder.ts"
import { Reason } from "./Reason.ts"

/** Schema for why a tool could not do its work: what its model reads as the error. */
export const ToolError = Schema.Struct({ error: Reason })

/**
 * Schema for what `list_links` gives: how many links the file has, and those
 * to check. The total is there so that no model has to count.
 */
export const LinksFound = Schema.Struct({ links: Schema.Natural, targets: Folder.LinkList.fields.targets })

const path = Schema.String.annotate({ description: "Path of the file, exactly as in the task" })

export const ListLinks = Tool.make("list_links", {
  description: "Lists the links of a Markdown file: how many there are, and the targets to check, each with its line. "
    + "Web and mail addresses are counted and need no check.",
  parameters: Schema.Struct({ path }),
  success: LinksFound,
  failure: ToolError
})

export const CheckTarget = Tool.make("check_target", {
  description: "Checks whether a target in a Markdown file leads somewhere, and says why if it does not.",
  parameters: Schema.Struct({
    path,
    target: Schema.String.annotate({ description: "The target, exactly as list_links gives it" })
  }),
  success: Folder.Verdict,
  failure: ToolError
})

/** Both tools. */
export const toolkit = Toolkit.make(ListLinks, CheckTarget)

/** What the tools do, in the folder that is open. */
export const handlers = Effect.map(Folder.Folder, (folder) => ({
  list_links: ({ path }: { readonly path: string }) =>
    folder.listLinks(path).pipe(
      Effect.map(({ targets, web }) => ({ links: web + targets.length, targets })),
      Effect.mapError(errorOf)
    ),
  check_target: ({ path, target }: { readonly path: string; readonly target: string }) =>
    Effect.mapError(folder.checkTarget(path, target), errorOf)
}))

const errorOf = ({ reason }: FileError): typeof ToolError.Type => ({ error: reason })
