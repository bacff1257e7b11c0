/**
 * Reads the target of a link.
 */
import { Data, Result } from "effect"

/** What a link points at. */
export type Target = Data.TaggedEnum<{
  /** Any address with a scheme, and `//host`. It is counted, not checked. */
  Web: {}

  /**
   * A file or folder. `path` is percent-decoded and has no query; an empty one
   * means the file that holds the link. `fragment` is "" where there is none.
   */
  Local: { readonly path: string; readonly fragment: string }

  /** Percent-encoding that is not UTF-8 text, or a path with a NUL. */
  Malformed: {}

  /** No target at all. */
  Empty: {}
}>

/** Constructors and `$match` of {@link Target}. */
export const Target = Data.taggedEnum<Target>()

/** Reads a target as the Markdown parser gives it, with Markdown's own escapes undone. */
export const parse = (target: string): Target => {
  if (target === "") return Target.Empty()
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) return Target.Web()
  const [, path = "", fragment = ""] = /^([^?#]*)(?:\?[^#]*)?(?:#([^]*))?$/.exec(target) ?? []
  const decoded = Result.try(() => ({
    path: decodeURIComponent(path),
    fragment: decodeURIComponent(withoutDirective(fragment))
  }))
  return Result.isSuccess(decoded) && !decoded.success.path.includes("\0")
    ? Target.Local(decoded.success)
    : Target.Malformed()
}

/** Browsers keep a text directive (`#intro:~:text=word`) from the page. */
const withoutDirective = (fragment: string): string => fragment.split(":~:", 1).join()
