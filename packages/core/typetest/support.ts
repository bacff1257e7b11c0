import { Context, Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

/** A service that the handler {@link search} needs. */
export class Index extends Context.Service<Index, {
  readonly find: (query: string) => Effect.Effect<ReadonlyArray<string>>
}>()("typetest/Index") {}

/** A service that nothing here provides. */
export class Audit extends Context.Service<Audit, { readonly note: (text: string) => Effect.Effect<void> }>()(
  "typetest/Audit"
) {}

/** A service that schemas may need. */
export class Locale extends Context.Service<Locale, { readonly zone: string }>()("typetest/Locale") {}

export const Search = Tool.make("search", {
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.Array(Schema.String)
})

export const SearchTools = Toolkit.make(Search)

export const search = ({ query }: { readonly query: string }) => Effect.flatMap(Index, (index) => index.find(query))
