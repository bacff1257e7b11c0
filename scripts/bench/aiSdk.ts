/** The reference job wired by hand on the AI SDK's `ToolLoopAgent`. */
import { Output, tool, ToolLoopAgent } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { z } from "zod"
import { answer, countReport, input, noCounts, reportOn, type Side, topics } from "./job.ts"

type Options = Parameters<MockLanguageModelV4["doGenerate"]>[0]
type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>

export const make = (): Side => {
  const counts = noCounts()
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 }
  }
  const reply = (content: Result["content"], unified: "stop" | "tool-calls"): Result => ({
    content,
    finishReason: { unified, raw: unified },
    usage,
    warnings: []
  })
  const call = (toolCallId: string, toolName: string, args: unknown) => ({
    type: "tool-call" as const,
    toolCallId,
    toolName,
    input: JSON.stringify(args)
  })
  // The mock keeps every call it has seen; emptied, so that neither side pays for that.
  const model = (respond: (options: Options) => Result): MockLanguageModelV4 => {
    const mock: MockLanguageModelV4 = new MockLanguageModelV4({
      doGenerate: async (options) => {
        counts.modelCalls++
        mock.doGenerateCalls.length = 0
        return respond(options)
      }
    })
    return mock
  }

  const researcher = new ToolLoopAgent({
    model: model(({ prompt }) => {
      const user = prompt.flatMap((message) => message.role === "user" ? message.content : [])
      const topic = user[0]?.type === "text" ? JSON.parse(user[0].text).topic : ""
      return prompt.at(-1)?.role === "tool"
        ? reply([{ type: "text", text: JSON.stringify(reportOn(topic)) }], "stop")
        : reply([call(`c-${topic}`, "lookup", { topic })], "tool-calls")
    }),
    instructions: "Research one topic.",
    output: Output.object({
      schema: z.object({ topic: z.string(), facts: z.array(z.string()), confidence: z.number().min(0).max(1) })
    }),
    tools: {
      lookup: tool({
        description: "Looks a topic up",
        inputSchema: z.object({ topic: z.string() }),
        execute: ({ topic }) => {
          counts.toolCalls++
          return `${topic}: two facts`
        }
      })
    }
  })
  const parent = new ToolLoopAgent({
    model: model(({ prompt }) => {
      const last = prompt.at(-1)
      if (last?.role !== "tool") {
        return reply(topics.map((topic, index) => call(`p${index}`, "research", { topic })), "tool-calls")
      }
      for (const part of last.content) {
        if (part.type === "tool-result" && part.output.type === "json") countReport(counts, part.output.value)
      }
      return reply([{ type: "text", text: answer }], "stop")
    }),
    instructions: "Delegate.",
    tools: {
      research: tool({
        description: "Researches a topic",
        inputSchema: z.object({ topic: z.string() }),
        execute: async (task, { abortSignal }) =>
          (await researcher.generate({
            prompt: JSON.stringify(task),
            ...(abortSignal === undefined ? {} : { abortSignal })
          })).output
      })
    }
  })
  return {
    counts,
    once: async () => (await parent.generate({ prompt: input })).text,
    close: async () => {}
  }
}
