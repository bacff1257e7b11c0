/** A small MCP server on standard input and output, run as a program of its own. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"

const server = new McpServer({ name: "tides", version: "1.0.0" })

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

server.registerTool(
  "high_water",
  {
    description: "Says when the water is high",
    inputSchema: { port: z.string(), days: z.array(z.number()).optional() }
  },
  (input) => text(JSON.stringify(input))
)
server.registerTool(
  "low_water",
  { description: "Always fails" },
  () => ({ ...text("the gauge is dry"), isError: true })
)
server.registerTool("storm", {}, () => ({ ...text("wind ".repeat(20_000)), isError: true }))
server.registerTool("picture", {}, () => ({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }))
server.registerTool("pid", {}, () => text(String(process.pid)))
server.registerTool("exit", {}, () => process.exit(3))
server.registerTool("hang", {}, () => {
  process.stderr.write("hanging\n")
  return new Promise(() => {})
})

await server.connect(new StdioServerTransport())
