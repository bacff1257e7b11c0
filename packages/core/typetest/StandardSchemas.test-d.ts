import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Schema } from "effect"
import { expectTypeOf, test } from "vitest"
import { z } from "zod"

const Report = z.object({ city: z.string(), rating: z.number().default(3) })

test("N14 withOutput has the type that a Standard Schema gives", () => {
  const agent = AgentBuilder.make("a").withOutput(Report)
  expectTypeOf(agent).toEqualTypeOf<AgentBuilder.AgentBuilder<{ city: string; rating: number }>>()
})

test("N14 a subagent has the types of its schemas, of one library or of two", () => {
  const both = TypedAgent.make("a", { description: "d", input: z.object({ topic: z.string() }), report: Report })
  expectTypeOf<TypedAgent.Input<typeof both>>().toEqualTypeOf<{ topic: string }>()
  expectTypeOf<TypedAgent.Report<typeof both>>().toEqualTypeOf<{ city: string; rating: number }>()
  expectTypeOf<TypedAgent.Services<typeof both>>().toEqualTypeOf<never>()

  const mixed = TypedAgent.make("a", { description: "d", input: Schema.String, report: Report })
  expectTypeOf<TypedAgent.Input<typeof mixed>>().toEqualTypeOf<string>()
})
