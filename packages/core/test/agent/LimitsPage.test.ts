import { assert, describe, it } from "@effect/vitest"
import { Answer, CachedResult, DelegateResult, DelegationConfig, ModelResponse } from "@mandate/core"
import { readFileSync } from "node:fs"
import { maxModelJsonBytes } from "../../src/loop/Verdicts.ts"
import { maxFileBytes } from "../../src/postures/PostureFolder.ts"
import * as Yaml from "../../src/postures/Yaml.ts"
import { liveCapacity } from "../../src/service/RunEvents.ts"
import * as FileLimits from "../../src/values/FileLimits.ts"
import * as JsonWalk from "../../src/values/JsonWalk.ts"
import * as RetryAfter from "../../src/values/RetryAfter.ts"
import { maxContextBytes } from "../../src/values/RunConfig.ts"
import * as RunInput from "../../src/values/RunInput.ts"
import { defaultMaxSteps } from "../../src/values/RunLimits.ts"
import * as ToolLimits from "../../src/values/ToolLimits.ts"

const page = readFileSync(new URL("../../../../docs/guide/limits.md", import.meta.url), "utf8")

/** The default of a row, with its thin spaces gone: the numbers in it. */
const numbersOf = (row: string): ReadonlyArray<number> => {
  const line = page.split("\n").find((line) => line.startsWith(`| ${row} |`))
  if (line === undefined) throw new Error(`there is no row "${row}"`)
  return [...(line.split("|")[2] ?? "").matchAll(/\d+(?: \d{3})*/g)].map(([text]) => Number(text.replaceAll(" ", "")))
}

const { childRetention, maxConcurrentChildren, maxDepth, maxReportBytes, maxTasksPerTurn } = DelegationConfig.defaults

const rows: ReadonlyArray<readonly [row: string, numbers: ReadonlyArray<number>]> = [
  ["`maxConcurrentChildren`", [maxConcurrentChildren]],
  ["`maxTasksPerTurn`", [maxTasksPerTurn]],
  ["`maxDepth`", [maxDepth]],
  ["`maxReportBytes`", [maxReportBytes, DelegationConfig.MinReportBytes]],
  ["`childRetention`", [childRetention]],
  ["`maxSteps`", [defaultMaxSteps]],
  ["`maxRetryAfter`", [RetryAfter.defaultMax]],
  ["`maxToolResultBytes`", [ToolLimits.defaults.maxToolResultBytes]],
  ["`maxCallsPerResponse`", [ToolLimits.defaults.maxCallsPerResponse]],
  ["`maxConcurrentTools`", [ToolLimits.defaults.maxConcurrentTools]],
  ["parts of one response", [ModelResponse.maxParts]],
  ["text of one response", [ModelResponse.maxBytes]],
  ["arguments or answer that are parsed", [maxModelJsonBytes, JsonWalk.maxDepth]],
  ["whole numbers in what a model writes", [Number.MAX_SAFE_INTEGER]],
  ["live events of a slow reader", [liveCapacity]],
  ["input of a run", [RunInput.maxBytes]],
  ["`context` of a run", [maxContextBytes]],
  ["`maxFiles`", [FileLimits.defaults.maxFiles, 1_000]],
  ["`maxFileBytes`", [FileLimits.defaults.maxFileBytes, 256 * 1024 * 1024]],
  ["`maxTotalBytes`", [FileLimits.defaults.maxTotalBytes, 256 * 1024 * 1024]],
  ["answer of a person", [Answer.maxBytes]],
  ["input and context of a posture", [DelegateResult.maxInputBytes]],
  ["posture file", [maxFileBytes]],
  ["YAML of a posture", [Yaml.maxValues, Yaml.maxDepth]],
  ["one cached result", [CachedResult.maxResultBytes]],
  ["sums of usage", [Number.MAX_SAFE_INTEGER]]
]

describe("the page of every bound and default", () => {
  it.each(rows)("has the numbers of the code for %s", (row, numbers) => {
    assert.deepStrictEqual(numbersOf(row), numbers)
  })
})
