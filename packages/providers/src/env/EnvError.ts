/**
 * Why the environment gives no model.
 *
 * @since 0.1.0
 */
import { ErrorClass } from "@mandate/core"
import * as Schema from "effect/Schema"
import type { PackageNotLoaded } from "./ClientPackage.ts"

/**
 * No model is named: the variable is absent or empty.
 *
 * @category errors
 * @since 0.1.0
 */
export class ModelNotSet extends ErrorClass.TaggedError<ModelNotSet>("~mandate/AiSdkEnv/ModelNotSet")("ModelNotSet", {
  variable: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `${this.variable} is not set; it names a model as <provider>/<model>, ` +
      `where <provider> is one of ${this.known.join(", ")}`
  }
}

/**
 * The variable names a provider that is not known here. A name that does not
 * look like one is left out.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownProvider
  extends ErrorClass.TaggedError<UnknownProvider>("~mandate/AiSdkEnv/UnknownProvider")("UnknownProvider", {
    variable: Schema.String,
    provider: Schema.UndefinedOr(Schema.String),
    known: Schema.Array(Schema.String)
  })
{
  override get message(): string {
    const named = this.provider === undefined ? "" : ` "${this.provider}"`
    return `${this.variable} names an unknown provider${named}; known providers: ${this.known.join(", ")}`
  }
}

/**
 * A variable that the provider needs is absent or empty.
 *
 * @category errors
 * @since 0.1.0
 */
export class MissingVariable
  extends ErrorClass.TaggedError<MissingVariable>("~mandate/AiSdkEnv/MissingVariable")("MissingVariable", {
    variable: Schema.String,
    provider: Schema.String
  })
{
  override get message(): string {
    return `The provider ${this.provider} needs ${this.variable}, which is not set`
  }
}

/**
 * A variable cannot be used. What it holds is not said.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidVariable
  extends ErrorClass.TaggedError<InvalidVariable>("~mandate/AiSdkEnv/InvalidVariable")("InvalidVariable", {
    variable: Schema.String,
    problem: Schema.String
  })
{
  override get message(): string {
    return `${this.variable} ${this.problem}`
  }
}

/**
 * Why the environment gives no model.
 *
 * @category errors
 * @since 0.1.0
 */
export type EnvError = ModelNotSet | UnknownProvider | MissingVariable | InvalidVariable | PackageNotLoaded
