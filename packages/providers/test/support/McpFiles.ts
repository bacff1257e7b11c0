/** An MCP server on standard input and output whose names and results are not those of tools for models. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"

const server = new McpServer({ name: "files", version: "1.0.0" })

server.registerTool(
  "fs.read",
  { description: "Reads a file", inputSchema: { path: z.string() } },
  ({ path }) => ({
    content: [
      { type: "text", text: `read ${path}` },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      { type: "resource_link", uri: "file:///a.txt", name: "a.txt" }
    ]
  })
)
server.registerTool("task_list", {}, () => ({ content: [{ type: "text", text: "listed" }] }))

await server.connect(new StdioServerTransport())
