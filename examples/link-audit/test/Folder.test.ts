import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, PlatformError } from "effect"
import * as ConfinedFiles from "../src/ConfinedFiles.ts"
import * as Folder from "../src/Folder.ts"
import { type Files, write } from "./support/Files.ts"

const opened = (files: Files) => Effect.flatMap(write(files), (root) => Folder.open(root))

/** The reasons against targets, "ok" for those that lead somewhere. */
const check = Effect.fnUntraced(
  function*(folder: Folder.Folder["Service"], path: string, targets: ReadonlyArray<string>) {
    const found: Record<string, string> = {}
    for (const target of targets) {
      const verdict = yield* folder.checkTarget(path, target)
      found[target] = verdict.ok ? "ok" : verdict.reason
    }
    return found
  }
)

const all = <A extends string>(reason: A, targets: ReadonlyArray<string>) =>
  Object.fromEntries(targets.map((target) => [target, reason]))

const denied = (method: string) => (path: string) =>
  Effect.fail(PlatformError.systemError({
    _tag: "PermissionDenied",
    module: "FileSystem",
    method,
    pathOrDescriptor: path
  }))

/** The file system of the machine, with some operations replaced. */
const replaced = (change: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem>) =>
  Effect.updateService(FileSystem.FileSystem, (fs) => ({ ...fs, ...change(fs) }))

it.layer(NodeServices.layer)("Folder", (it) => {
  describe("opening", () => {
    it.effect("fails for a folder that is missing or a file", () =>
      Effect.gen(function*() {
        const root = yield* write({ "a.md": "" })

        const missing = yield* Effect.flip(Folder.open(`${root}/none`))
        const file = yield* Effect.flip(Folder.open(`${root}/a.md`))

        assert.strictEqual(missing.reason, "missing")
        assert.strictEqual(file.reason, "not a folder")
        assert.strictEqual(file.message, `Cannot open the folder "${root}/a.md": not a folder`)
      }))

    it.effect("fails for a folder that may not be read", () =>
      Effect.gen(function*() {
        const root = yield* write({})

        const error = yield* Folder.open(root).pipe(
          replaced(() => ({ access: denied("access") })),
          Effect.flip
        )

        assert.deepStrictEqual(error, new ConfinedFiles.FolderError({ folder: root, reason: "unreadable" }))
      }))

    it.effect("fails the listing for a subfolder that may not be read", () =>
      Effect.gen(function*() {
        const root = yield* write({ "a.md": "", "sub/b.md": "" })

        const error = yield* Effect.flatMap(Folder.open(root), ({ files }) => files).pipe(
          replaced((fs) => ({
            readDirectoryEntries: (path) =>
              path.endsWith("sub") ? denied("readDirectoryEntries")(path) : fs.readDirectoryEntries(path)
          })),
          Effect.flip
        )

        assert.strictEqual(error.reason, "unreadable")
      }))

    it.effect("opens the folder that a symbolic link leads to", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* write({ "real/a.md": "[b](b.md)", "real/b.md": "" })
        yield* fs.symlink(`${root}/real`, `${root}/link`)

        const folder = yield* Folder.open(`${root}/link`)

        assert.deepStrictEqual(yield* folder.files, ["a.md", "b.md"])
        assert.deepStrictEqual(yield* check(folder, "a.md", ["b.md"]), all("ok", ["b.md"]))
      }))

    it.effect("serves as a layer", () =>
      Effect.gen(function*() {
        const root = yield* write({ "a.md": "" })

        const files = yield* Effect.flatMap(Folder.Folder, ({ files }) => files).pipe(
          Effect.provide(Folder.layer(root))
        )

        assert.deepStrictEqual(files, ["a.md"])
      }))
  })

  describe("files", () => {
    it.effect("lists Markdown files of all folders, sorted by code units", () =>
      Effect.gen(function*() {
        const folder = yield* opened({
          "b.md": "",
          "a/z.markdown": "",
          "a/b/c.MD": "",
          "a.md": "",
          "B.Markdown": "",
          "ä.md": "",
          "a b.md": "",
          "x.mdx": "",
          "md": "",
          "x.md.txt": "",
          "folder.md/inner.md": "",
          ".hidden.md": ""
        })

        assert.deepStrictEqual(yield* folder.files, [
          ".hidden.md",
          "B.Markdown",
          "a b.md",
          "a.md",
          "a/b/c.MD",
          "a/z.markdown",
          "b.md",
          "folder.md/inner.md",
          "ä.md"
        ])
      }))

    it.effect("skips node_modules, dot folders and symbolic links, and ends on a ring of them", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* write({
          "a.md": "",
          "node_modules/b.md": "",
          "sub/node_modules/c.md": "",
          ".git/d.md": "",
          "sub/.cache/e.md": ""
        })
        yield* fs.symlink(root, `${root}/sub/ring`)
        yield* fs.symlink(`${root}/a.md`, `${root}/link.md`)

        assert.deepStrictEqual(yield* Effect.flatMap(Folder.open(root), ({ files }) => files), ["a.md"])
      }))

    it.effect("lists nothing in an empty folder", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "empty/": "" })

        assert.deepStrictEqual(yield* folder.files, [])
      }))
  })

  describe("reading", () => {
    const reasonOf = (folder: Folder.Folder["Service"], path: string) =>
      Effect.map(Effect.flip(folder.read(path)), ({ reason }) => reason)

    it.effect("reads UTF-8 without its byte order mark", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "a.md": "\ufeffgrüße 🚀", "empty.md": "" })

        assert.strictEqual(yield* folder.read("a.md"), "grüße 🚀")
        assert.strictEqual(yield* folder.read("./x/../a.md"), "grüße 🚀")
        assert.strictEqual(yield* folder.read("empty.md"), "")
      }))

    it.effect("refuses what is not UTF-8", () =>
      Effect.gen(function*() {
        const folder = yield* opened({
          "latin.md": new Uint8Array([0x67, 0x72, 0xfc, 0xdf, 0x65]),
          "utf16.md": new Uint8Array([0xff, 0xfe, 0x61, 0x00])
        })

        assert.strictEqual(yield* reasonOf(folder, "latin.md"), "not UTF-8")
        assert.strictEqual(yield* reasonOf(folder, "utf16.md"), "not UTF-8")
      }))

    it.effect("refuses a file over the bound without reading it", () =>
      Effect.gen(function*() {
        const root = yield* write({
          "at.md": new Uint8Array(ConfinedFiles.maxBytes).fill(0x20),
          "over.md": new Uint8Array(ConfinedFiles.maxBytes + 1).fill(0x20)
        })
        const read: Array<string> = []
        const folder = yield* Folder.open(root).pipe(
          replaced((fs) => ({
            readFile: (path) => {
              read.push(path)
              return fs.readFile(path)
            }
          }))
        )

        assert.strictEqual((yield* folder.read("at.md")).length, ConfinedFiles.maxBytes)
        assert.strictEqual(yield* reasonOf(folder, "over.md"), "too large")
        assert.deepStrictEqual(read, [`${root}/at.md`])
      }))

    it.effect("refuses what is missing, vanished, denied, a folder or no Markdown", () =>
      Effect.gen(function*() {
        const root = yield* write({ "vanished.md": "", "denied.md": "", "folder.md/": "", ".env": "SECRET=1" })
        const folder = yield* Folder.open(root).pipe(
          replaced((fs) => ({
            readFile: (path) => path.endsWith("denied.md") ? denied("readFile")(path) : fs.readFile(`${path}.gone`)
          }))
        )

        assert.strictEqual(yield* reasonOf(folder, "none.md"), "missing")
        assert.strictEqual(yield* reasonOf(folder, "vanished.md/x.md"), "missing")
        assert.strictEqual(yield* reasonOf(folder, "vanished.md"), "missing")
        assert.strictEqual(yield* reasonOf(folder, "denied.md"), "unreadable")
        assert.strictEqual(yield* reasonOf(folder, "folder.md"), "unreadable")
        assert.strictEqual(yield* reasonOf(folder, ".env"), "not Markdown")
        assert.strictEqual(yield* reasonOf(folder, "a\0.md"), "unreadable")
      }))

    it.effect("refuses every path that leaves the folder", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* write({ "in/a.md": "", "in/..b.md": "dots", "secret.md": "", "in-too/c.md": "" })
        yield* fs.symlink(`${root}/secret.md`, `${root}/in/file.md`)
        yield* fs.symlink(root, `${root}/in/up`)
        yield* fs.symlink(`${root}/in/up`, `${root}/in/chain`)
        yield* fs.symlink(`${root}/in/a.md`, `${root}/in/inner.md`)
        const folder = yield* Folder.open(`${root}/in`)
        const outside = [
          "../secret.md",
          "..",
          "/etc/hosts",
          `${root}/secret.md`,
          "x/../../secret.md",
          "../in-too/c.md",
          "file.md",
          "up/secret.md",
          "chain/secret.md"
        ]

        for (const path of outside) {
          assert.strictEqual(yield* reasonOf(folder, path), "outside", path)
          const error = yield* Effect.flip(folder.checkTarget(path, "#x"))
          assert.strictEqual(error.reason, "outside", path)
          assert.strictEqual((yield* Effect.flip(folder.listLinks(path))).reason, "outside", path)
        }
        assert.strictEqual(yield* folder.read("inner.md"), "")
        assert.strictEqual(yield* folder.read("up/in/a.md"), "")
        assert.strictEqual(yield* folder.read("..b.md"), "dots")
      }))

    it.effect("gives up on Markdown that nests too deep for the parser", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "deep.md": `${">".repeat(10_000)}x` })

        const error = yield* Effect.flip(folder.listLinks("deep.md"))

        assert.deepStrictEqual(error, new ConfinedFiles.FileError({ path: "deep.md", reason: "unreadable" }))
      }))
  })

  describe("listLinks", () => {
    it.effect("counts addresses and lists the rest with their lines", () =>
      Effect.gen(function*() {
        const folder = yield* opened({
          "a.md": "[w](https://a.example) <me@b.example>\n[a](b.md#x) ![i](//cdn.example/i.png)\n\n[r]: ../c.md\n"
        })

        assert.deepStrictEqual(yield* folder.listLinks("a.md"), {
          web: 3,
          targets: [{ line: 2, target: "b.md#x" }, { line: 4, target: "../c.md" }]
        })
      }))

    it.effect("fails with the path and the reason", () =>
      Effect.gen(function*() {
        const folder = yield* opened({})

        const error = yield* Effect.flip(folder.listLinks("none.md"))

        assert.deepStrictEqual(error, new ConfinedFiles.FileError({ path: "none.md", reason: "missing" }))
        assert.strictEqual(error.message, "Cannot read \"none.md\": missing")
      }))

    it.effect("reads a file once for all that is asked of it", () =>
      Effect.gen(function*() {
        const root = yield* write({ "a.md": "# A\n[a](#a)", "b.md": "[a](a.md#a)" })
        const read: Array<string> = []
        const folder = yield* Folder.open(root).pipe(
          replaced((fs) => ({
            readFile: (path) => {
              read.push(path.slice(root.length))
              return fs.readFile(path)
            }
          }))
        )

        yield* folder.listLinks("a.md")
        yield* check(folder, "a.md", ["#a", "#b"])
        yield* check(folder, "b.md", ["a.md#a", "./a.md#b"])

        assert.deepStrictEqual(read, ["/a.md"])
      }))
  })

  describe("checkTarget", () => {
    it.effect("finds files and folders from the folder of the file", () =>
      Effect.gen(function*() {
        const folder = yield* opened({
          "docs/guide/a.md": "",
          "docs/guide/b.md": "",
          "docs/c.md": "",
          "docs/images/i.png": "",
          "root.md": "",
          "empty/": ""
        })
        const sound = [
          "b.md",
          "./b.md",
          "../c.md",
          "../../root.md",
          "../images/i.png",
          "..",
          "../",
          ".",
          "./",
          "../images",
          "../images/",
          "../../empty",
          "/root.md",
          "/docs/c.md",
          "/",
          "none/../b.md"
        ]
        const missing = ["c.md", "../b.md", "none/", "/c.md", "b.md/x", "../../docs/guide/none.md"]

        assert.deepStrictEqual(yield* check(folder, "docs/guide/a.md", sound), all("ok", sound))
        assert.deepStrictEqual(yield* check(folder, "docs/guide/a.md", missing), all("missing", missing))
        assert.deepStrictEqual(yield* check(folder, "docs/guide/a.md", ["b.md/"]), all("not a folder", ["b.md/"]))
      }))

    it.effect("decodes percent-encoding and leaves queries out", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "a.md": "# Ünï", "a b.md": "", "what?.md": "", "c#d.md": "", "100%.md": "" })
        const sound = [
          "a%20b.md",
          "a b.md",
          "what%3F.md?raw=true",
          "c%23d.md",
          "100%25.md",
          "a.md?plain=1",
          "?plain=1",
          "#%C3%BCn%C3%AF",
          "a.md?x=%zz#ünï"
        ]

        assert.deepStrictEqual(yield* check(folder, "a.md", sound), all("ok", sound))
        assert.deepStrictEqual(
          yield* check(folder, "a.md", ["%zz.md", "100%.md", "what?.md", "a+b.md", "a%00.md", ""]),
          {
            "%zz.md": "malformed",
            "100%.md": "malformed",
            "what?.md": "missing",
            "a+b.md": "missing",
            "a%00.md": "malformed",
            "": "empty"
          }
        )
      }))

    it.effect("calls a target outside the folder outside, there or not", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* write({ "in/a.md": "", "in/sub/b.md": "", "secret.md": "# Secret", "in-too/c.md": "" })
        yield* fs.symlink(`${root}/secret.md`, `${root}/in/link.md`)
        yield* fs.symlink(root, `${root}/in/up`)
        const folder = yield* Folder.open(`${root}/in`)
        const outside = [
          "../secret.md",
          "../none.md",
          "../",
          "..",
          "sub/../../secret.md",
          "%2e%2e/secret.md",
          "..%2Fsecret.md",
          "/../secret.md",
          "../in-too/c.md",
          "link.md",
          "link.md#secret",
          "up/secret.md",
          "up/",
          "../../../../../../../../etc/hosts"
        ]

        assert.deepStrictEqual(yield* check(folder, "a.md", outside), all("outside", outside))
        assert.deepStrictEqual(yield* check(folder, "a.md", ["../in/sub/b.md", "/etc/hosts", "%2Fetc%2Fhosts"]), {
          "../in/sub/b.md": "ok",
          "/etc/hosts": "missing",
          "%2Fetc%2Fhosts": "missing"
        })
      }))

    it.effect("takes a symbolic link that leads nowhere, or in a ring, as missing", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* write({ "a.md": "" })
        yield* fs.symlink(`${root}/none.md`, `${root}/dead.md`)
        yield* fs.symlink(`${root}/ring.md`, `${root}/ring.md`)
        const folder = yield* Folder.open(root)

        assert.deepStrictEqual(
          yield* check(folder, "a.md", ["dead.md", "ring.md"]),
          all("missing", ["dead.md", "ring.md"])
        )
      }))

    it.effect("checks fragments against the headings and anchors of Markdown", () =>
      Effect.gen(function*() {
        const folder = yield* opened({
          "a.md": "# Install\n# Install\n## `--json` flag\n<a id=\"Custom\"></a>\n# \\_\\_proto\\_\\_\n",
          "b.MARKDOWN": "Setext\n===\n"
        })
        const sound = [
          "#install",
          "#Install",
          "#install-1",
          "#--json-flag",
          "#Custom",
          "#__proto__",
          "#",
          "#top",
          "#TOP",
          "a.md#install",
          "b.MARKDOWN#setext",
          "#install:~:text=x"
        ]
        const broken = ["#install-2", "#custom", "#hasOwnProperty", "#constructor", "b.MARKDOWN#install", "#in stall"]

        assert.deepStrictEqual(yield* check(folder, "a.md", sound), all("ok", sound))
        assert.deepStrictEqual(yield* check(folder, "a.md", broken), all("no such heading", broken))
      }))

    it.effect("checks a fragment of a folder against its README.md", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "a.md": "", "with/Readme.md": "# Here", "without/b.md": "# Here" })

        assert.deepStrictEqual(
          yield* check(folder, "a.md", ["with#here", "with/#here", "with#no", "without/#here", "/#x"]),
          {
            "with#here": "ok",
            "with/#here": "ok",
            "with#no": "no such heading",
            "without/#here": "no such heading",
            "/#x": "no such heading"
          }
        )
      }))

    it.effect("does not check fragments of other files", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "a.md": "", "code.ts": "", "page.html": "" })
        const sound = ["code.ts#L10", "page.html#x"]

        assert.deepStrictEqual(yield* check(folder, "a.md", sound), all("ok", sound))
        assert.deepStrictEqual(yield* check(folder, "a.md", ["none.ts#L1"]), all("missing", ["none.ts#L1"]))
      }))

    it.effect("says why a fragment cannot be checked", () =>
      Effect.gen(function*() {
        const folder = yield* opened({
          "a.md": "",
          "large.md": new Uint8Array(ConfinedFiles.maxBytes + 1),
          "latin.md": new Uint8Array([0xff])
        })

        assert.deepStrictEqual(yield* check(folder, "a.md", ["large.md#x", "latin.md#x", "large.md", "latin.md"]), {
          "large.md#x": "too large",
          "latin.md#x": "not UTF-8",
          "large.md": "ok",
          "latin.md": "ok"
        })
      }))

    it.effect("says unreadable for what the system refuses", () =>
      Effect.gen(function*() {
        const root = yield* write({ "a.md": "", "locked/b.md": "" })
        const folder = yield* Folder.open(root).pipe(
          replaced((fs) => ({
            realPath: (path) => path.includes("locked") ? denied("realPath")(path) : fs.realPath(path)
          }))
        )

        assert.deepStrictEqual(yield* check(folder, "a.md", ["locked/b.md"]), all("unreadable", ["locked/b.md"]))
      }))

    it.effect("passes web and mail addresses", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "a.md": "" })
        const sound = ["https://none.example/%zz", "mailto:a@b.example", "//host/x", "ftp:x"]

        assert.deepStrictEqual(yield* check(folder, "a.md", sound), all("ok", sound))
      }))

    it.effect("fails for a file that is missing", () =>
      Effect.gen(function*() {
        const folder = yield* opened({ "a.md": "" })

        const error = yield* Effect.flip(folder.checkTarget("none.md", "a.md"))

        assert.strictEqual(error.reason, "missing")
      }))

    it.effect("leaves the case of names to the file system", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const root = yield* write({ "a.md": "" })
        const folder = yield* Folder.open(root)
        const expected = (yield* fs.exists(`${root}/A.md`)) ? "ok" : "missing"

        assert.deepStrictEqual(yield* check(folder, "a.md", ["A.md"]), all(expected, ["A.md"]))
      }))
  })
})
