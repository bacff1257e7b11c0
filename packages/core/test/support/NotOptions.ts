/** What code without types may give in the place of an options object. */

class Config {
  readonly tenant = "ada"
}

const revoked = Proxy.revocable({}, {})
revoked.revoke()

const thrower = () => {
  throw new Error("secret-of-the-getter")
}

/** Values that are not plain objects, with the words for them in an error. */
export const notPlain: ReadonlyArray<readonly [given: string, value: unknown]> = [
  ["null", null],
  ["100", 100],
  ["0", 0],
  ["NaN", Number.NaN],
  ["true", true],
  ["false", false],
  ["a bigint", 5n],
  ["an empty string", ""],
  ["a string", "secret-string"],
  ["a symbol", Symbol("secret")],
  ["an array", []],
  ["an array", ["A"]],
  ["a function", () => ({})],
  ["a Map", new Map([["tenant", "A"]])],
  ["a Set", new Set(["A"])],
  ["a Date", new Date(0)],
  ["a Promise", Promise.resolve({ tenant: "A" })],
  ["a RegExp", /secret/],
  ["an Error", new Error("secret")],
  ["an Uint8Array", new Uint8Array(2)],
  ["a WeakMap", new WeakMap()],
  ["an URL", new URL("http://secret.example")],
  ["an instance of Config", new Config()],
  ["an instance of Object", Object.create({ tenant: "ada" })]
]

/** Objects with a key that no options object has, or that cannot be read; what an error says of each. */
export const badKeys: ReadonlyArray<readonly [says: RegExp, value: unknown]> = [
  [/there is no \w+ "tenent"/, { tenent: "A" }],
  [/there is no \w+ ""/, { "": 1 }],
  [/there is no \w+ "__proto__"/, JSON.parse("{\"__proto__\":{\"tenant\":\"A\"}}")],
  [/there is no \w+ "constructor"/, { constructor: 1 }],
  [/there is no \w+ "toString"/, { toString: () => "A" }],
  [/there is no \w+ that is a symbol/, { [Symbol("tenant")]: "A" }],
  [/there is no \w+ "hidden"/, Object.defineProperty({}, "hidden", { value: 1 })],
  [/there is no \w+ "other"/, Object.assign(Object.create(null), { other: 1 })],
  [
    /there is no \w+ "other"/,
    Object.defineProperty({}, "other", { get: thrower, enumerable: true })
  ],
  [/cannot be read/, new Proxy({}, { ownKeys: thrower })],
  [/cannot be read/, revoked.proxy]
]

/** Everything that no options object is. */
export const notOptions: ReadonlyArray<readonly [says: RegExp, value: unknown]> = [
  ...notPlain.map(([given, value]) => [new RegExp(`must be a plain object, not ${given}`), value] as const),
  ...badKeys
]

/** Whether a text holds what a caller gave and no error may show. */
export const leaks = (text: string): boolean => /secret/.test(text)
