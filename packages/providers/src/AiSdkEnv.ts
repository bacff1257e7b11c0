/**
 * The model that the environment names: the client by itself, the providers
 * that can be named, and the errors of `AiSdk.fromEnv`.
 *
 * @since 0.1.0
 */
export {
  type EnvError,
  InvalidVariable,
  make,
  MissingVariable,
  ModelNotSet,
  type Options,
  PackageNotLoaded,
  providers,
  UnknownProvider
} from "./env/FromEnv.ts"
