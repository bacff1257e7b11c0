/** What the wire formats of providers have in common. */

export type Json = { readonly [key: string]: any }

/** One event of a server-sent stream. */
export interface Event {
  readonly event?: string
  readonly data: unknown
}

/** A call in a response: its arguments as the model writes them. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** What the model says in one response. */
export interface Turn {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: ReadonlyArray<Call>
  readonly isCut?: boolean
}

/** A request as every format has it. */
export interface Asked {
  readonly isStream: boolean
  readonly tools: ReadonlyArray<string>
  /** Texts of the messages of the user, joined. */
  readonly prompt: string
  /** Results of tools, as text. */
  readonly results: ReadonlyArray<string>
}

/** A failure as every format has it. */
export interface Refusal {
  readonly type: "rate" | "quota" | "key" | "request" | "server" | "overloaded"
  readonly message: string
}

/** A wire format. */
export interface Format {
  readonly path: RegExp
  readonly read: (body: Json, path: string) => Asked
  readonly whole: (turn: Turn) => unknown
  /** The events of a response. Text comes in two pieces, and so do arguments. */
  readonly events: (turn: Turn) => ReadonlyArray<Event>
  readonly refusal: (refusal: Refusal, status: number) => unknown
  /** An error in the middle of a stream. */
  readonly interruption: (message: string) => Event
}

/** Tokens of every response: 10 in, of them 3 from the cache, and 5 out, of them 2 for reasoning. */
export const tokens = { input: 10, cached: 3, output: 5, reasoning: 2 }

/** A text in two pieces. */
export const halves = (text: string): ReadonlyArray<string> => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "")
}

/** JSON, or the text itself where it is none. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
