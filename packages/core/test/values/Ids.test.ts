import { assert, describe, it } from "@effect/vitest"
import { Ids } from "@mandate/core"
import { Arbitrary, Schema } from "effect"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120 }))
const callKeys = Arbitrary.map(
  Arbitrary.schema(Schema.Tuple([Small, Small])),
  ([step, index]) => Ids.callKey(step, index)
)
const interrupts = Arbitrary.map(
  Arbitrary.all([callKeys, Arbitrary.schema(Ids.InterruptKind), Arbitrary.schema(Small)]),
  ([call, kind, n]) => Ids.interruptId(call, kind, n)
)
const paths = Arbitrary.array(callKeys, { maxLength: 5 })

const throughJson = <A extends string>(schema: Schema.Codec<A, string>, id: A): A => {
  const codec = Schema.fromJsonString(schema)
  return Schema.decodeSync(codec)(Schema.encodeSync(codec)(id))
}

const cases: ReadonlyArray<{
  readonly name: string
  readonly schema: Schema.Codec<string, string>
  readonly good: ReadonlyArray<string>
  readonly bad: ReadonlyArray<string>
}> = [
  {
    name: "agent id",
    schema: Ids.AgentId,
    good: ["a", "Z9_-", "0", "a".repeat(52), "__proto__"],
    bad: ["", "a".repeat(53), "a b", "a.b", "é", "a\n", "\na", "a/b", "a~b", "a#b"]
  },
  {
    name: "application's thread id",
    schema: Ids.ApplicationThreadId,
    good: ["tides-1", "a.b:c_D-9", "x".repeat(128), "__proto__"],
    bad: ["", "x".repeat(129), "a/b", "a#0", "a~b", "a b", "a\n", "ü", "😀"]
  },
  {
    name: "call key",
    schema: Ids.CallKey,
    good: ["0.0", "2.1", "10.117"],
    bad: ["", "0", "0.", ".0", "00.0", "0.01", "-1.0", "0.0.0", "1e3.0", "0.0\n", " 0.0", "٣.0"]
  },
  {
    name: "interrupt id",
    schema: Ids.InterruptId,
    good: ["2.1:approval0", "0.0:question12", "0.0:breakpoint0", "0.0:uncertain0"],
    bad: [
      "2.1",
      "2.1:approval",
      "2.1:approval01",
      "2.1:other0",
      "2.1:child~0.0:approval0",
      "approval0",
      "2.1:approval0\n"
    ]
  },
  {
    name: "composite id",
    schema: Ids.CompositeId,
    good: ["2.1:approval0", "0.0:child~0.0:approval0", "0.0:child~1.2:child~0.0:question3"],
    bad: [
      "",
      "~",
      "0.0:child",
      "0.0:child~",
      "~0.0:approval0",
      "0.0:child~0.0:child",
      "0.0~0.0:approval0",
      "0.0:child~~0.0:approval0"
    ]
  }
]

describe("Ids", () => {
  for (const { bad, good, name, schema } of cases) {
    it(`takes what is an ${name} and nothing else`, () => {
      for (const id of good) assert.isTrue(Schema.is(schema)(id), id)
      for (const id of bad) assert.isFalse(Schema.is(schema)(id), JSON.stringify(id))
    })
  }

  it("makes the ids of runs, calls, children and interrupts from their places", () => {
    const run = Ids.runId("tides-1", 0)
    const call = Ids.callKey(2, 1)
    const child = Ids.childThreadId(run, call)

    assert.strictEqual(run, "tides-1#0")
    assert.strictEqual(call, "2.1")
    assert.strictEqual(child, "tides-1#0/2.1")
    assert.strictEqual(Ids.runId(child, 0), "tides-1#0/2.1#0")
    assert.strictEqual(Ids.interruptId(call, "approval", 0), "2.1:approval0")
    assert.strictEqual(
      Ids.join([Ids.callKey(0, 0)], Ids.interruptId(Ids.callKey(0, 0), "approval", 0)),
      "0.0:child~0.0:approval0"
    )
  })

  it.prop("every call key and interrupt id that is made fits its schema", { interrupts, callKeys }, (made) => {
    assert.isTrue(Schema.is(Ids.CallKey)(made.callKeys))
    assert.isTrue(Schema.is(Ids.InterruptId)(made.interrupts))
  })

  it.prop("splitting a joined path gives the path back", { path: paths, interrupt: interrupts }, (parts) => {
    assert.deepStrictEqual(Ids.split(Ids.join(parts.path, parts.interrupt)), parts)
  })

  it.prop("joining what was split gives the id back", { path: paths, interrupt: interrupts }, (parts) => {
    const id = Ids.join(parts.path, parts.interrupt)
    const { interrupt, path } = Ids.split(id)

    assert.isTrue(Schema.is(Ids.CompositeId)(id))
    assert.strictEqual(Ids.join(path, interrupt), id)
  })

  it.prop(
    "a path one call longer only puts that call in front",
    { first: callKeys, path: paths, interrupt: interrupts },
    ({ first, interrupt, path }) => {
      assert.strictEqual(Ids.join([first, ...path], interrupt), `${first}:child~${Ids.join(path, interrupt)}`)
    }
  )

  it.prop("ids survive a trip through JSON", { call: callKeys, path: paths, interrupt: interrupts }, (parts) => {
    const id = Ids.join(parts.path, parts.interrupt)

    assert.strictEqual(throughJson(Ids.CompositeId, id), id)
    assert.strictEqual(throughJson(Ids.CallKey, parts.call), parts.call)
    assert.strictEqual(throughJson(Ids.InterruptId, parts.interrupt), parts.interrupt)
  })

  it.prop(
    "the thread of a child is known as such, whatever its root is called, and no application can choose it",
    { thread: Ids.ApplicationThreadId, calls: Arbitrary.array(callKeys, { minLength: 1, maxLength: 4 }) },
    ({ calls, thread }) => {
      const child = calls.reduce<string>((parent, call) => Ids.childThreadId(Ids.runId(parent, 0), call), thread)

      assert.isFalse(Ids.isChildThread(thread))
      assert.isTrue(Ids.isChildThread(child))
      assert.isFalse(Schema.is(Ids.ApplicationThreadId)(child))
    }
  )
})
