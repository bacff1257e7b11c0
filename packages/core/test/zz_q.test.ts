import { it } from "@effect/vitest"
import { Schema } from "effect"
import * as Tool from "effect/ai/Tool"
it("q", () => {
  console.log(
    JSON.stringify(Tool.getJsonSchemaFromSchema(Schema.Struct({}))),
    JSON.stringify(Tool.getJsonSchemaFromSchema(Tool.make("x", { success: Schema.String }).parametersSchema)),
    JSON.stringify(
      Tool.getJsonSchemaFromSchema(
        Tool.make("x", { success: Schema.String, parameters: Schema.Struct({}) }).parametersSchema
      )
    )
  )
})
