import { defineConfig } from "vitest/config"

const project = (name: string, root: string) => ({
  root,
  resolve: { conditions: ["mandate-source"] },
  ssr: { resolve: { conditions: ["mandate-source"] } },
  test: {
    name,
    include: ["test/**/*.test.ts"],
    typecheck: { enabled: true, include: ["typetest/**/*.test-d.ts"], tsconfig: `${import.meta.dirname}/tsconfig.json` }
  }
})

/**
 * Vitest reads this file only through `--config vitest.workspace.ts`; every script passes it.
 * Packages see each other's sources through the private export condition `mandate-source`.
 */
export default defineConfig({
  test: {
    projects: [
      project("core", "packages/core"),
      project("providers", "packages/providers"),
      project("testing", "packages/testing"),
      project("link-audit", "examples/link-audit"),
      project("approval-desk", "examples/approval-desk"),
      project("posture-desk", "examples/posture-desk"),
      { root: "scripts", test: { name: "scripts", include: ["test/**/*.test.ts"] } }
    ]
  }
})
