import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as Options from "../src/Options.ts"
import * as Cli from "./support/Cli.ts"
import * as Files from "./support/Files.ts"
import * as InProcess from "./support/InProcess.ts"
import * as ModelServer from "./support/ModelServer.ts"

const timeout = 60_000

/** Runs a line of shell. */
const shell = (line: string) =>
  Effect.callback<{ readonly stdout: string; readonly stderr: string }>((resume) => {
    execFile("/bin/sh", ["-c", line], (_, stdout, stderr) => resume(Effect.succeed({ stdout, stderr })))
  })

it.layer(NodeServices.layer)("the command", (it) => {
  describe("ends with", () => {
    it.effect("0 and no broken link", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "a.md": "# A\n[a](#a)" })

        const ended = yield* Cli.run([folder])

        assert.strictEqual(ended.exitCode, 0)
        assert.strictEqual(ended.stdout, "1 link in 1 file: none broken\n")
      }), timeout)

    it.effect("0 and a note for a folder without Markdown", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write({ "a.txt": "" })

        const ended = yield* Cli.run([folder])

        assert.strictEqual(ended.exitCode, 0)
        assert.strictEqual(ended.stdout, "0 links in 0 files: none broken\n")
        assert.strictEqual(ended.stderr, `There are no Markdown files in ${folder}\n`)
      }), timeout)

    it.effect("0 and the usage on stdout", () =>
      Effect.gen(function*() {
        const ended = yield* Cli.run(["--help"])

        assert.deepStrictEqual(ended, { exitCode: 0, stdout: `${Options.usage}\n`, stderr: "" })
      }), timeout)

    it.effect("1 and the broken links, as nothing but JSON on stdout", () =>
      Effect.gen(function*() {
        const { files, json } = Files.generated(8)
        const folder = yield* Files.write(files)

        const ended = yield* Cli.run([folder, "--json"])

        assert.strictEqual(ended.exitCode, 1)
        assert.strictEqual(ended.stdout, `${json}\n`)
        assert.match(ended.stderr, /Summary: Audited 8 of 8 files, with 40 links\. .*\n$/)
      }), timeout)

    const unusable: ReadonlyArray<
      readonly [what: string, args: ReadonlyArray<string>, env: Record<string, string>, message: string]
    > = [
      ["an unknown option", ["--nope"], {}, "Unknown option --nope"],
      ["a folder that is missing", ["/none/such"], {}, "Cannot open the folder \"/none/such\": missing"],
      [
        "a trace that cannot be written",
        [".", "--trace", "/none/t"],
        {},
        "Cannot write the trace to \"/none/t\": its folder does not exist"
      ],
      [
        "a model that is not named as one",
        ["."],
        { MANDATE_MODEL: "gpt-9" },
        "MANDATE_MODEL must name a model as <provider>/<model>"
      ],
      [
        "a key that cannot be sent, before the folder is looked for",
        ["/none/such"],
        { MANDATE_MODEL: "anthropic/m", ANTHROPIC_API_KEY: `${ModelServer.key}\n` },
        "ANTHROPIC_API_KEY holds a character that cannot be sent"
      ]
    ]
    for (const [what, args, environment, message] of unusable) {
      it.effect(`2 and a message for ${what}`, () =>
        Effect.gen(function*() {
          const ended = yield* Cli.run(args, environment)

          assert.strictEqual(ended.exitCode, 2)
          assert.strictEqual(ended.stdout, "")
          assert.strictEqual(ended.stderr.split("\n")[0], `link-audit: ${message}`)
          assert.notInclude(ended.stderr, ModelServer.key)
        }), timeout)
    }

    it.effect("130, and cancels the tree, when it is interrupted", () =>
      Effect.gen(function*() {
        const folder = yield* Files.write(Files.generated(300).files)
        const running = yield* Cli.start([folder, "--json", "--trace", `${folder}/trace.jsonl`])
        yield* running.wrote("[ 10/300]")

        // npm passes a Ctrl-C on that the command has got already.
        running.process.kill("SIGINT")
        running.process.kill("SIGINT")

        const ended = yield* running.ended
        assert.strictEqual(ended.exitCode, 130)
        assert.strictEqual(ended.stdout, "")
        assert.match(ended.stderr, /\nCancelled: \d+ of 300 files audited\n$/)
        const events = yield* InProcess.readTrace(`${folder}/trace.jsonl`)
        const runs = (tag: "RunStarted" | "RunSettled") =>
          events.flatMap((event) => event._tag === tag ? [event.runId] : [])
        const last = events.at(-1)
        assert.strictEqual(last?._tag === "RunSettled" ? last.status : last?._tag, "Cancelled")
        assert.sameMembers(runs("RunSettled"), runs("RunStarted"))
      }), timeout)
  })

  it.effect("takes no notice of a reader that leaves early", () =>
    Effect.gen(function*() {
      // A crash would be the exit code 1, so the folder is one that gives 0.
      const folder = yield* Files.write({ "a.md": "", "b.md": "", "c.md": "" })
      const run = `${Cli.command} "${folder}"`

      const [first, none, log] = yield* Effect.all([
        shell(`{ ${run}; echo "exit $?" >&2; } | head -n 1`),
        shell(`{ ${run}; echo "exit $?" >&2; } | true`),
        shell(`{ ${run} 2>&1; echo "exit $?" >&3; } 3>&2 | head -n 1`)
      ])

      assert.strictEqual(first.stdout, "0 links in 3 files: none broken\n")
      for (const { stderr } of [first, none]) {
        assert.match(stderr, /\nSummary: .*\nexit 0\n$/)
        assert.notInclude(stderr, "EPIPE")
      }
      assert.match(log.stdout, /^Auditing 3 files .*\n$/)
      assert.strictEqual(log.stderr, "exit 0\n")
    }), timeout)

  it.effect("audits one folder twice at once", () =>
    Effect.gen(function*() {
      const { files, json } = Files.generated(30)
      const folder = yield* Files.write(files)

      const both = yield* Effect.all([Cli.run([folder, "--json"]), Cli.run([folder, "--json"])], {
        concurrency: "unbounded"
      })

      for (const ended of both) assert.strictEqual(ended.stdout, `${json}\n`)
    }), timeout)
})
