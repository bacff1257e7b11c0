/**
 * Parts of a definition that methods take as lists and options, decoded: what
 * is not what a method takes is noted, and refused when the definition is
 * bound.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { DelegationConfig } from "../values/DelegationConfig.ts"
import * as Options from "../values/Options.ts"
import * as AgentSpec from "./AgentSpec.ts"
import type { Breakpoint } from "./Breakpoint.ts"

/**
 * The options that a subagent is made with: its description, and the schemas of
 * a typed one. What is not such options is noted, and refused when the
 * definition is bound.
 *
 * @category constructors
 * @since 0.1.0
 */
export const described = (
  options: { readonly description: string; readonly input?: unknown; readonly report?: unknown },
  role: "typed" | "text"
): Pick<AgentSpec.AgentSpec, "description" | "refused"> & Partial<Pick<AgentSpec.AgentSpec, "input" | "report">> =>
  Result.match(role === "text" ? decodeText(options) : decodeTyped(options), {
    onSuccess: (given) => ({ ...given, refused: [] }),
    onFailure: (issues) => ({ description: "", refused: issues.map((issue) => `the options: ${issue}`) })
  })

const decodeText = Options.make<{ readonly description: string }>("option", { description: Options.any }, [
  "description"
])
const decodeTyped = Options.make<
  Pick<AgentSpec.AgentSpec, "description" | "input"> & { readonly report: AgentSpec.AnyCodec }
>("option", {
  description: Options.any,
  input: Options.any,
  report: Options.any
}, ["description", "input", "report"])

/**
 * Replaces the names of the catalog's tools.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withCatalogTools = (self: AgentSpec.AgentSpec, names: ReadonlyArray<string>): AgentSpec.AgentSpec =>
  Result.match(decodeNames({ names }), {
    onSuccess: ({ names }) => AgentSpec.update(self, { catalogTools: Object.freeze([...names]) }),
    onFailure: (issues) => refuse(self, "the tools of the catalog", issues)
  })

const decodeNames = Options.make<{ readonly names: ReadonlyArray<string> }>("key", { names: Options.texts }, ["names"])

/**
 * Replaces which postures the agent may delegate to.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withPostures = (
  self: AgentSpec.AgentSpec,
  options: AgentSpec.PostureOptions | undefined
): AgentSpec.AgentSpec =>
  Result.match(decodePostures(options), {
    onSuccess: ({ names }) =>
      AgentSpec.update(self, {
        postures: Object.freeze(names === undefined ? {} : { names: Object.freeze([...names]) })
      }),
    onFailure: (issues) => refuse(self, "the options of postures", issues)
  })

const decodePostures = Options.make<AgentSpec.PostureOptions>("option", { names: Options.texts })

/**
 * Replaces what a run stops before.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withBreakpoints = (
  self: AgentSpec.AgentSpec,
  breakpoints: ReadonlyArray<Breakpoint>
): AgentSpec.AgentSpec =>
  Result.match(decodeBreakpoints({ breakpoints }), {
    onSuccess: ({ breakpoints }) => AgentSpec.update(self, { breakpoints: [...breakpoints] }),
    onFailure: (issues) => refuse(self, "the breakpoints", issues)
  })

const decodeBreakpoints = Options.make<{ readonly breakpoints: ReadonlyArray<Breakpoint> }>("key", {
  breakpoints: Options.list(
    Options.checked("the name of a tool, or a function", (at) => typeof at === "string" || typeof at === "function")
  )
}, ["breakpoints"])

/**
 * Notes what was given to a method and is not what it takes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const refuse = (self: AgentSpec.AgentSpec, what: string, issues: ReadonlyArray<string>): AgentSpec.AgentSpec =>
  AgentSpec.update(self, { refused: [...self.refused, ...issues.map((issue) => `${what}: ${issue}`)] })

/**
 * Adds subagents after those that are there, and merges bounds by field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addSubagents = (
  self: AgentSpec.AgentSpec,
  subagents: ReadonlyArray<{ readonly spec: AgentSpec.AgentSpec }>,
  config: DelegationConfig | undefined
): AgentSpec.AgentSpec =>
  Result.match(decodeSubagents({ subagents }), {
    onSuccess: ({ subagents }) =>
      AgentSpec.update(self, {
        subagents: [...self.subagents, ...subagents.map(({ spec }) => spec)],
        delegation: Options.merge(self.delegation, config)
      }),
    onFailure: (issues) => refuse(self, "the subagents", issues)
  })

const decodeSubagents = Options.make<{ readonly subagents: ReadonlyArray<{ readonly spec: AgentSpec.AgentSpec }> }>(
  "key",
  {
    subagents: Options.list(
      Options.checked(
        "a TypedAgent",
        (agent) =>
          Predicate.hasProperty(agent, "spec") && Predicate.hasProperty(agent.spec, "subagents") &&
          Predicate.hasProperty(agent.spec, "role") && agent.spec.role !== "agent"
      )
    )
  },
  ["subagents"]
)
