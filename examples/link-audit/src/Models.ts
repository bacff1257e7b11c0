/**
 * Chooses the model of an audit from the environment.
 */
import { ModelRegistry } from "@mandate/core"
import { AiSdk } from "@mandate/providers"
import { ConfigProvider, Layer } from "effect"
import { UsageError } from "./Options.ts"
import * as ScriptedModel from "./ScriptedModel.ts"

/** The model of an audit, with a name for people. */
export interface Models {
  readonly name: string
  /** Fails when the model cannot be made, before anything is asked. */
  readonly layer: Layer.Layer<ModelRegistry.ModelRegistry, UsageError>
}

/** Environment variables, as Node gives them. */
export type Environment = Readonly<Record<string, string | undefined>>

const variable = "MANDATE_MODEL"

/** The model that `MANDATE_MODEL` names, or the scripted one without it. No error holds a key. */
export const fromEnvironment = (environment: Environment): Models => ({
  name: environment[variable] || "the scripted model",
  layer: AiSdk.fromEnv({ variable }).pipe(
    Layer.catchTag("ModelNotSet", () => ScriptedModel.layer),
    Layer.catch(({ message }) => Layer.effect(ModelRegistry.ModelRegistry, new UsageError({ problem: message }))),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
  )
})
