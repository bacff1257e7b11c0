/**
 * What the postures run on: the files of a folder, a catalog of tools, and the
 * scripted model.
 */
import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { DelegateRuntime, Mandate } from "@mandate/core"
import { PostureFiles } from "@mandate/core/postures"
import { Layer } from "effect"
import * as Problems from "./Problems.ts"
import * as ScriptedModel from "./ScriptedModel.ts"
import * as Tools from "./Tools.ts"

/** How deep postures may delegate. */
export const maxDepth = 3

/** Layer of all that the walk needs. The registry follows the folder as long as it lives. */
export const layer = (folder: string, delayMillis: number) =>
  DelegateRuntime.layer({ maxDepth }).pipe(
    Layer.provideMerge(Layer.mergeAll(
      Mandate.layerMemory,
      PostureFiles.layer({ directory: folder, tools: Tools.names }).pipe(
        Layer.provide([NodeFileSystem.layer, NodePath.layer])
      ),
      Tools.layer,
      ScriptedModel.layer(delayMillis)
    )),
    Layer.provideMerge(Problems.layer)
  )
