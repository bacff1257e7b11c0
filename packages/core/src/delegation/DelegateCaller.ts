/**
 * Who calls a posture from code.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ToolContext } from "../definition/ToolContext.ts"
import { DelegateError } from "../values/DelegateError.ts"
import type { DelegateRequest } from "../values/DelegateResult.ts"
import * as ValueKind from "../values/ValueKind.ts"
import type { Caller } from "./DelegateService.ts"

/**
 * Who makes a call from code. A handler that calls a posture stands as deep as
 * the run it works for, whatever depth the call names.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = ({ parentDepth = 0, tenant }: DelegateRequest): Effect.Effect<Caller, DelegateError> =>
  Effect.contextWith((context: Context.Context<never>): Effect.Effect<Caller, DelegateError> => {
    const call = Context.getOption(context, ToolContext)
    if (call._tag === "Some") {
      const { depth, depthLeft, tenant } = call.value
      return Effect.succeed({ depth, depthLeft, tenant })
    }
    return Number.isSafeInteger(parentDepth) && parentDepth >= 0
      ? Effect.succeed({ depth: parentDepth, depthLeft: undefined, tenant })
      : Effect.fail(
        new DelegateError({
          reason: {
            _tag: "InvalidRequest",
            field: "parentDepth",
            issues: [`it must be a whole number from 0 on, not ${ValueKind.of(parentDepth)}`]
          }
        })
      )
  })
