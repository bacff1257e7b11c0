import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import * as Cli from "./support/Cli.ts"
import * as Files from "./support/Files.ts"
import * as OpenAiServer from "./support/OpenAiServer.ts"

const timeout = 60_000

const about = (path: string) => ({ agent, body }: OpenAiServer.Request) =>
  agent === "auditor" && JSON.stringify(body["messages"][1]).includes(path)

it.layer(NodeServices.layer)("with a model behind an OpenAI-compatible server", (it) => {
  describe("the command", () => {
    it.effect("gives what it gives with the scripted model", () =>
      Effect.gen(function*() {
        const { files, json } = Files.generated(12)
        const folder = yield* Files.write(files)
        const server = yield* OpenAiServer.start(() => "answer")

        const ended = yield* Cli.run([folder, "--json"], server.environment)

        assert.strictEqual(ended.stdout, `${json}\n`)
        assert.strictEqual(ended.exitCode, 1)
        assert.include(ended.stderr, "with openai-compatible/maker/model-1")
        assert.include(ended.stderr, "Summary: Audited 12 of 12 files")
        for (const { body, headers } of server.requests) {
          assert.strictEqual(body["model"], "maker/model-1")
          assert.strictEqual(headers["authorization"], `Bearer ${OpenAiServer.key}`)
        }
        const parent = server.requests.filter(({ agent }) => agent === "link-audit").map(({ body }) =>
          JSON.stringify(body)
        )
        assert.lengthOf(parent, 2)
        for (const request of parent) assert.notInclude(request, Files.marker)
      }), timeout)

    it.effect("shows the rest when the server fails for one file, and never the key", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "bad.md": "[x](gone)", "good.md": "[x](gone)" })
        const server = yield* OpenAiServer.start((request) => about("bad.md")(request) ? 500 : "answer")

        const ended = yield* Cli.run([folder], server.environment)

        assert.strictEqual(
          ended.stdout,
          [
            "good.md:1  gone  missing",
            "Not audited: bad.md: The subagent's model failed: overloaded",
            "",
            "1 link in 1 file: 1 broken, 1 file not audited",
            ""
          ].join("\n")
        )
        assert.strictEqual(ended.exitCode, 3)
        // Two retries.
        assert.lengthOf(server.requests.filter(about("bad.md")), 3)
        assert.lengthOf(ended.stderr.match(/a model call failed \(overloaded\)/g) ?? [], 3)
        for (const secret of [OpenAiServer.key, OpenAiServer.bodyMarker]) {
          assert.notInclude(ended.stdout + ended.stderr, secret)
        }
      }), timeout)

    it.effect("says in one line why no model could be asked, without a stack trace", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "a.md": "[x](gone)" })
        const server = yield* OpenAiServer.start(() => 401)

        const ended = yield* Cli.run([folder, "--json"], server.environment)

        assert.strictEqual(ended.stdout, "{\"files\":0,\"links\":0,\"broken\":[]}\n")
        assert.strictEqual(ended.exitCode, 3)
        assert.include(ended.stderr, "openai-compatible.chat/maker/model-1 failed, authentication")
        assert.include(ended.stderr, "Not audited: a.md: it was not delegated\n")
        assert.notMatch(ended.stderr, /^\s+at /m)
      }), timeout)

    it.effect("closes its connections and shows what was done when it is cancelled", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "a.md": "[x](gone)", "b.md": "", "c.md": "" })
        const server = yield* OpenAiServer.start((request) =>
          request.agent === "link-audit" || about("a.md")(request) ? "answer" : "hang"
        )
        const running = yield* Cli.start([folder, "--concurrency", "3"], server.environment)
        const hanging: Array<OpenAiServer.Request> = []
        while (hanging.length < 2) {
          const request = yield* server.nextRequest
          if (about("b.md")(request) || about("c.md")(request)) hanging.push(request)
        }
        yield* running.logged("a.md: 1 link, 1 broken")

        running.process.kill("SIGINT")

        yield* Effect.forEach(hanging, ({ closed }) => Deferred.await(closed))
        const ended = yield* running.ended
        assert.strictEqual(ended.exitCode, 130)
        assert.strictEqual(ended.stdout, "a.md:1  gone  missing\n\n1 link in 1 file: 1 broken\n")
        assert.match(ended.stderr, /Cancelled: 1 of 3 files audited\n$/)
      }), timeout)
  })
})
