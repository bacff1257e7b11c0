import { type Agent, type BoundAgent, type PromiseRuntime, type TaskRequest } from "@mandate/core"
import { describe, it } from "vitest"

declare const agent: Agent.Agent<string>
declare const promised: PromiseRuntime.PromiseAgent<string>
declare const scribe: BoundAgent.BoundAgent<TaskRequest.TaskRequest, string>
declare const typed: BoundAgent.BoundAgent<{ readonly topic: string }, string>

const image = { mediaType: "image/png", data: new Uint8Array([0]) }
const link = { mediaType: "image/png", name: "a.png", url: new URL("https://files.test/a.png") }

describe("files of an input", () => {
  it("are given to an agent beside a text", () => {
    agent.run({ text: "Look", files: [image, link] })
    promised.stream({ text: "Look", files: [] })
    // @ts-expect-error Property 'files' is missing
    agent.run({ text: "Look" })
    // @ts-expect-error Property 'data' or 'url' is missing
    agent.run({ text: "Look", files: [{ mediaType: "image/png" }] })
    // @ts-expect-error data and url together
    agent.run({ text: "Look", files: [{ ...image, url: "https://files.test" }] })
    // @ts-expect-error a number is no content
    agent.run({ text: "Look", files: [{ mediaType: "image/png", data: 7 }] })
  })

  it("are given to a text subagent beside its description, and to no typed one", () => {
    scribe.run({ description: "Look", files: [image] })
    scribe.run({ description: "Look" })
    // @ts-expect-error 'files' does not exist
    typed.run({ topic: "tides", files: [image] })
  })
})
