/** A client of an MCP server that exists in the test alone. */
import { Effect } from "effect"
import type { McpClient } from "effect/ai/McpClient"

/** A client whose server has tools of these names; `calls` gets the name that each call came under. */
export const make = (
  names: ReadonlyArray<string>,
  call: (name: string) => Effect.Effect<any, any> = () => Effect.succeed({ content: [{ type: "text", text: "ok" }] })
) => {
  const calls: Array<string> = []
  const client = {
    listTools: () => Effect.succeed(names.map((name) => ({ name, inputSchema: { type: "object" } }))),
    callTool: ({ tool }: { readonly tool: { readonly name: string } }) =>
      Effect.suspend(() => {
        calls.push(tool.name)
        return call(tool.name)
      })
  } as unknown as McpClient
  return { calls, client }
}
