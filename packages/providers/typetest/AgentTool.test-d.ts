import type { BoundAgent, Json, PromiseRuntime } from "@mandate/core"
import { AiSdkTools } from "@mandate/providers"
import type { InferToolOutput } from "ai"
import { expectTypeOf, test } from "vitest"

type Bound<O> = BoundAgent.BoundAgent<{ readonly topic: string }, O>

test("N09 the output of a subagent as a tool has the type of the report", () => {
  const research = AiSdkTools.toAiSdkTool(
    {} as Bound<{ readonly facts: ReadonlyArray<string>; readonly score?: number }>
  )
  expectTypeOf<InferToolOutput<typeof research>>().toEqualTypeOf<
    { readonly facts: ReadonlyArray<string>; readonly score?: number }
  >()

  const text = AiSdkTools.toAiSdkTool({} as Bound<string>)
  expectTypeOf<InferToolOutput<typeof text>>().toEqualTypeOf<string>()
})

test("N09 an agent that is run by promises gives the same", () => {
  const research = AiSdkTools.toAiSdkTool(
    {} as PromiseRuntime.PromiseBoundAgent<{ readonly topic: string }, { readonly n: number }>
  )
  expectTypeOf<InferToolOutput<typeof research>>().toEqualTypeOf<{ readonly n: number }>()
})

test("N09 what JSON has no values for is what it is in JSON", () => {
  const dated = AiSdkTools.toAiSdkTool({} as Bound<{ readonly at: Date; readonly size: bigint }>)
  expectTypeOf<InferToolOutput<typeof dated>>().toEqualTypeOf<{ readonly at: string; readonly size: string }>()

  const any = AiSdkTools.toAiSdkTool({} as Bound<unknown>)
  expectTypeOf<InferToolOutput<typeof any>>().toEqualTypeOf<Json.Json>()
})
