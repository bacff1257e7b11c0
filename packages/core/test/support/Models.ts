/** Scripted models that refuse what strict providers refuse, so that every test holds requests to all their rules. */
import type { ModelRegistry } from "@mandate/core"
import { type Script, ScriptedModel, StrictProvider } from "@mandate/testing"
import type { Layer } from "effect"

type Models = Layer.Layer<
  ScriptedModel.ScriptedModel | ModelRegistry.ModelRegistry | StrictProvider.StrictProvider
>

/** A scripted model behind a strict provider. */
export const layer = (scripts: Script.Scripts): Models => StrictProvider.layer(ScriptedModel.layer(scripts))

/** The same, with a model that is there already. */
export const layerOf = (model: ScriptedModel.ScriptedModel["Service"]): Models =>
  StrictProvider.layer(ScriptedModel.layerOf(model))
