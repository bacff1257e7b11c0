import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Mandate } from "@mandate/core"
import { Deferred, Effect, Fiber, Layer } from "effect"
import * as Agents from "../src/Agents.ts"
import * as Folder from "../src/Folder.ts"
import * as Models from "../src/Models.ts"
import * as ScriptedModel from "../src/ScriptedModel.ts"
import * as Cli from "./support/Cli.ts"
import * as Files from "./support/Files.ts"
import * as InProcess from "./support/InProcess.ts"
import * as ModelServer from "./support/ModelServer.ts"

const timeout = 60_000

/** Whether a request is one that no server of these tests answers. */
const hangs = (request: ModelServer.Request) =>
  ModelServer.isAbout("b.md")(request) || ModelServer.isAbout("c.md")(request)

const hanging = { "a.md": "[x](gone)", "b.md": "", "c.md": "" }

const startHanging = ModelServer.start((request) => hangs(request) ? { _tag: "hang" } : ModelServer.answer(request))

/** Waits for the first requests that are left hanging. */
const twoHanging = Effect.fnUntraced(function*(server: ModelServer.ModelServer) {
  const requests: Array<ModelServer.Request> = []
  while (requests.length < 2) {
    const request = yield* server.nextRequest
    if (hangs(request)) requests.push(request)
  }
  return requests
})

it.layer(NodeServices.layer, { excludeTestServices: true })("the command", (it) => {
  for (const model of ModelServer.models) {
    const [name] = model
    describe(`with ${name}`, () => {
      it.effect("gives what it gives with the scripted model", () =>
        Effect.gen(function*() {
          const { files, json } = Files.generated(12)
          const folder = yield* Files.write(files)
          const server = yield* ModelServer.start(ModelServer.answer)
          const scripted = yield* InProcess.audit({ folder, json: true })

          const ended = yield* Cli.run([folder, "--json"], ModelServer.environment(model, server))

          assert.strictEqual(ended.stdout, `${json}\n`)
          assert.strictEqual(scripted.stdout, json)
          assert.strictEqual(ended.exitCode, scripted.exitCode)
          assert.match(ended.stderr, new RegExp(`^Auditing 12 files .*, with ${name}\n`))
          assert.match(scripted.stderr.at(-1) ?? "", /^Summary: Audited 12 of 12 files/)
          assert.strictEqual(ended.stderr.trimEnd().split("\n").at(-1), scripted.stderr.at(-1))
          for (const { body, headers, isStream, path } of server.requests) {
            assert.isTrue(isStream)
            assert.include(JSON.stringify([path, body["model"]]), name.slice(name.indexOf("/") + 1))
            assert.include(JSON.stringify(headers), ModelServer.key)
          }
          const parent = server.requests.filter(ModelServer.isParent).map(({ body }) => JSON.stringify(body))
          assert.lengthOf(parent, 2)
          for (const request of parent) assert.notInclude(request, Files.marker)
        }), timeout)

      it.effect("gives the same summary in whole responses", () =>
        Effect.gen(function*() {
          const folder = yield* Folder.open(yield* Files.write(Files.generated(12).files))
          const files = yield* folder.files
          const server = yield* ModelServer.start(ModelServer.answer)
          const audit = Effect.gen(function*() {
            const agent = yield* Agents.linkAudit(files.length, 4).build()
            return yield* agent.run(Agents.request(files, 4), { threadId: "audit" })
          }).pipe(Effect.provide([Mandate.layerMemory, Layer.succeed(Folder.Folder, folder)]))

          const whole = yield* Effect.provide(
            audit,
            Models.fromEnvironment(ModelServer.environment(model, server)).layer
          )
          const scripted = yield* Effect.provide(audit, ScriptedModel.layer)

          assert.strictEqual(whole.status._tag, "Completed")
          assert.deepStrictEqual(whole.status, scripted.status)
          assert.isFalse(server.requests.some(({ isStream }) => isStream))
        }), timeout)

      it.effect("shows the rest when the server fails for one file, and never the key", () =>
        Effect.gen(function*() {
          const folder = yield* Files.write({ "bad.md": "[x](gone)", "good.md": "[x](gone)" })
          const isBad = ModelServer.isAbout("bad.md")
          const server = yield* ModelServer.start((request) =>
            isBad(request) ? ModelServer.refuse(500) : ModelServer.answer(request)
          )

          const ran = yield* InProcess.run([folder], ModelServer.environment(model, server))

          assert.strictEqual(
            ran.stdout,
            [
              "good.md:1  gone  missing",
              "Not audited: bad.md: The subagent's model failed: overloaded",
              "",
              "1 link in 1 file: 1 broken, 1 file not audited"
            ].join("\n")
          )
          assert.strictEqual(ran.exitCode, 3)
          // Two retries.
          assert.lengthOf(server.requests.filter(isBad), 3)
          assert.lengthOf(ran.stderr.filter((line) => line.includes("a model call failed (overloaded)")), 3)
          for (const secret of [ModelServer.key, ModelServer.bodyMarker, server.url]) {
            assert.notInclude([ran.stdout, ...ran.stderr].join("\n"), secret)
          }
        }), timeout)

      it.effect("closes its connections and shows what was done when it is cancelled", () =>
        Effect.gen(function*() {
          const folder = yield* Files.write(hanging)
          const server = yield* startHanging
          const running = yield* InProcess.start(
            [folder, "--concurrency", "3"],
            ModelServer.environment(model, server)
          )
          const left = yield* twoHanging(server)
          yield* running.logged("a.md: 1 link, 1 broken")
          assert.isFalse(left.some(({ closed }) => Deferred.isDoneUnsafe(closed)))

          yield* Fiber.interrupt(running.fiber)

          yield* Effect.timeout(Effect.forEach(left, ({ closed }) => Deferred.await(closed)), "5 seconds")
          assert.isTrue(server.requests.filter(({ closed }) => Deferred.isDoneUnsafe(closed)).every(hangs))
          assert.strictEqual(running.stdout(), "a.md:1  gone  missing\n\n1 link in 1 file: 1 broken")
          assert.strictEqual(running.stderr.at(-1), "Cancelled: 1 of 3 files audited")
        }), timeout)
    })
  }

  describe("as a process of its own", () => {
    const model = ModelServer.models.at(-1)!

    it.effect("says in one line why no model could be asked, without a stack trace", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "a.md": "[x](gone)" })
        const server = yield* ModelServer.start(() => ModelServer.refuse(401))

        const ended = yield* Cli.run([folder, "--json"], ModelServer.environment(model, server))

        assert.strictEqual(ended.stdout, "{\"files\":0,\"links\":0,\"broken\":[]}\n")
        assert.strictEqual(ended.exitCode, 3)
        assert.include(ended.stderr, "openai-compatible.chat/maker/model-1 failed, authentication")
        assert.include(ended.stderr, "Not audited: a.md: it was not delegated\n")
        assert.notMatch(ended.stderr, /^\s+at /m)
        for (const secret of [ModelServer.key, ModelServer.bodyMarker]) assert.notInclude(ended.stderr, secret)
      }), timeout)

    it.effect("ends with 130 when a signal cancels what hangs", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(hanging)
        const server = yield* startHanging
        const running = yield* Cli.start([folder, "--concurrency", "3"], ModelServer.environment(model, server))
        const left = yield* twoHanging(server)
        yield* running.wrote("a.md: 1 link, 1 broken")

        running.process.kill("SIGINT")

        yield* Effect.forEach(left, ({ closed }) => Deferred.await(closed))
        const ended = yield* running.ended
        assert.strictEqual(ended.exitCode, 130)
        assert.strictEqual(ended.stdout, "a.md:1  gone  missing\n\n1 link in 1 file: 1 broken\n")
        assert.match(ended.stderr, /Cancelled: 1 of 3 files audited\n$/)
      }), timeout)
  })
})
