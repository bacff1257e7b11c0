/**
 * An agent with what a run of it starts with.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import * as Ambient from "../definition/Ambient.ts"
import * as ActiveRun from "../loop/ActiveRun.ts"
import type { CompiledAgent, Drive } from "../loop/Drive.ts"
import * as Journal from "../loop/Journal.ts"
import * as Loop from "../loop/Loop.ts"
import type { ShapeTexts } from "../loop/Shape.ts"
import type { TreeMeter } from "../loop/TreeMeter.ts"
import * as Leases from "../service/Leases.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { DriveRequest } from "../service/RunHost.ts"
import type { Budget } from "../values/Budget.ts"
import type { Json } from "../values/Json.ts"
import * as Measure from "../values/Measure.ts"
import type { Message } from "../values/Message.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { RunLimits } from "../values/RunLimits.ts"
import * as OpenUsage from "./OpenUsage.ts"

/**
 * An agent with what a run of it starts with: its tools of the catalog, the
 * context that it declares, its limits, its budget, how deep it may delegate at the top of a tree, and its
 * shape.
 *
 * @category models
 * @since 0.1.0
 */
export interface Runnable {
  readonly agent: CompiledAgent
  readonly catalog: CatalogUse | undefined
  readonly context: ContextUse
  readonly limits: RunLimits
  readonly budget: Budget
  readonly maxDepth: number
  readonly shape: ShapeTexts
}

/**
 * How the runs of an agent get tools of the catalog: the names of those that a
 * run starting now gets, and the agent with the tools of such names.
 *
 * @category models
 * @since 0.1.0
 */
export interface CatalogUse {
  readonly resolve: Effect.Effect<ReadonlyArray<string>>
  readonly compile: (agent: CompiledAgent, names: ReadonlyArray<string>) => CompiledAgent
}

/**
 * How the runs of an agent get their encoded context: from what a caller gives,
 * or from the context of the run that delegates to it. Both fail with what is
 * wrong, for the agent or for one below it, and give `undefined` for an agent
 * that declares none.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContextUse {
  readonly accept: (given: unknown) => Effect.Effect<Json | undefined, ReadonlyArray<string>>
  readonly inherit: (parent: Json | undefined) => Effect.Effect<Json | undefined, ReadonlyArray<string>>
}

/**
 * What a run of an agent that starts now is bound to beyond its definition.
 *
 * @category constructors
 * @since 0.1.0
 */
export const bindingOf = ({ catalog }: Runnable): Effect.Effect<RunBinding | undefined> =>
  catalog === undefined ? noBinding : Effect.map(catalog.resolve, (tools) => ({ tools }))

const noBinding = Effect.succeed(undefined)

/**
 * A run that is about to be driven: the epoch of its lease and the time of day
 * at which that was asked for, what the run recorded, its thread's earlier
 * messages, its active time so far in milliseconds, and the meter of its tree.
 *
 * @category models
 * @since 0.1.0
 */
export interface Driving {
  readonly run: ActiveRun.ActiveRun
  readonly epoch: number
  readonly leasedAt: number
  readonly records: Journal.Records
  readonly earlier: ReadonlyArray<Message>
  readonly activeMillis: number
  readonly meter: TreeMeter | undefined
  readonly isRecovery: boolean
  readonly streaming: boolean
}

/**
 * The request to drive a run by its agent.
 *
 * **Details**
 *
 * The drive sees the services that its agent was bound with. Of the caller's
 * context it sees only the clock, the tracer and its span, the loggers and the
 * randomness.
 *
 * @category constructors
 * @since 0.1.0
 */
export const request = (
  runtime: Mandate["Service"],
  runnable: Runnable,
  { activeMillis, earlier, epoch, isRecovery, leasedAt, meter, records, run, streaming }: Driving
): Effect.Effect<DriveRequest> =>
  Effect.contextWith((ambient: Context.Context<never>) => {
    const { tools } = run.binding ?? {}
    const agent = tools === undefined || runnable.catalog === undefined
      ? runnable.agent
      : runnable.catalog.compile(runnable.agent, tools)
    const clock = Context.get(ambient, Clock.Clock)
    const fence = ActiveRun.fence(run, epoch)
    // The time of day may jump; how long the drive has worked must not.
    const startedAt = clock.monotonicTimeNanosUnsafe()
    const journal = Journal.make(runtime, ActiveRun.origin(run), fence, records)
    let certain = Leases.at(clock, leasedAt)
    const drive: Drive = {
      run,
      agent,
      runtime,
      journal,
      leaseRenewal: () =>
        runtime.leases.isOver(certain, Leases.now(clock))
          ? Effect.flatMap(runtime.leases.renew, (sent) =>
            // An empty write checks the fence.
            Effect.map(journal.append({ records: [], events: [] }), () => {
              certain = sent
            }))
          : undefined,
      usage: OpenUsage.byId(runtime.store, run.runId),
      meter,
      isRecovery,
      streaming,
      now: () => Measure.time(clock.currentTimeMillisUnsafe()),
      activeMillis: () =>
        Measure.duration(activeMillis + Math.round(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1_000_000))
    }
    return Effect.succeed<DriveRequest>({
      fence,
      rootThreadId: run.rootThreadId,
      parentRunId: run.parentRunId,
      activeMillis: drive.activeMillis,
      timeLeftMillis: run.budget.timeoutMillis === undefined ? undefined : run.budget.timeoutMillis - activeMillis,
      context: seen(agent.context, ambient),
      loop: Loop.drive(drive, earlier)
    })
  })

const withoutSpan = Context.omit(Tracer.ParentSpan)

// The runs of a tree see the same surroundings, and so do most runs of an agent.
const seen = (bound: Context.Context<never>, ambient: Context.Context<never>): Context.Context<never> => {
  const known = merged.get(bound) ?? new WeakMap<Context.Context<never>, Context.Context<never>>()
  merged.set(bound, known)
  const context = known.get(ambient) ??
    Context.merge(withoutSpan(bound as Context.Context<Tracer.ParentSpan>), Ambient.pick(ambient))
  known.set(ambient, context)
  return context
}

const merged = new WeakMap<Context.Context<never>, WeakMap<Context.Context<never>, Context.Context<never>>>()
