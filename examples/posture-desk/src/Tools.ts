/**
 * The tools of the catalog. Postures name them.
 */
import { ToolCatalog } from "@mandate/core"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

/** The notes that there are, by name. */
const notes: ReadonlyMap<string, string> = new Map([
  ["tides", "High water comes twice a day, about fifty minutes later each day."],
  ["moon", "The moon pulls at the near side of the sea more than at the far side."]
])

/** There is no note of this name. */
const NoNote = Schema.Struct({ known: Schema.Array(Schema.String) })

const Notes = Toolkit.make(
  Tool.make("list_notes", { description: "Lists the names of all notes.", success: Schema.Array(Schema.String) }),
  Tool.make("read_note", {
    description: "Reads a note.",
    parameters: Schema.Struct({ name: Schema.String }),
    success: Schema.String,
    failure: NoNote
  })
)

/** Names of all tools, for the check of files that allow them. */
export const names: ReadonlyArray<string> = Object.keys(Notes.tools)

/** Layer of a catalog with these tools. */
export const layer = ToolCatalog.layerTools(Notes, {
  list_notes: () => Effect.succeed([...notes.keys()]),
  read_note: ({ name }) => {
    const note = notes.get(name)
    return note === undefined ? Effect.fail({ known: [...notes.keys()] }) : Effect.succeed(note)
  }
}).pipe(Layer.provideMerge(ToolCatalog.layer))
