/**
 * The reference job: a parent delegates three tasks in one step to a typed subagent; each child calls one tool once and
 * reports; the parent reads the three reports and answers. Models answer at once, so that what is left is overhead.
 */
export const job = "1 parent, 3 typed children in one step, 8 model calls, 3 tool calls"
export const topics = ["alpha", "beta", "gamma"] as const
export const input = "Cover alpha, beta and gamma."
export const answer = "All three topics are covered."

/** What a child reports on a topic. */
export const reportOn = (topic: string) => ({
  topic,
  facts: [`${topic} fact 1`, `${topic} fact 2`],
  confidence: 0.9
})

/** What was done, counted by the models and tools of either side. `reports` are reports that the parent read whole. */
export interface Counts {
  modelCalls: number
  toolCalls: number
  reports: number
}

export const noCounts = (): Counts => ({ modelCalls: 0, toolCalls: 0, reports: 0 })

/** Counts a tool message of the parent if it holds exactly the report on its topic. */
export const countReport = (counts: Counts, report: unknown): void => {
  const topic = (report as { readonly topic?: string } | undefined)?.topic ?? ""
  if (JSON.stringify(report, sortedKeys) === JSON.stringify(reportOn(topic), sortedKeys)) counts.reports++
}

const sortedKeys = ["topic", "facts", "confidence", "0", "1"]

/** One side of the comparison. */
export interface Side {
  /** Does the job once and gives the parent's answer. */
  readonly once: () => Promise<string>
  readonly counts: Counts
  readonly close: () => Promise<void>
}
