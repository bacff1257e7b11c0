/**
 * Tells code from comments and text without parsing, so that a check can search source with regular expressions.
 */

/** The source with comments, regular expressions and the contents of strings blanked: every offset stays the same. */
export const codeOf = (source: string): string => {
  let code = ""
  // The last token that is not blank. It decides whether a `/` divides or starts a regular expression.
  let before = ""
  // Open braces since each `${` that is not closed yet, innermost last.
  const braces: Array<number> = []

  const readTemplate = (from: number) => {
    const text = match(templateText, source, from)
    const end = text.endsWith("${") ? 2 : 1
    code += blank(text.slice(0, -end)) + text.slice(-end)
    before = text.slice(-end)
    if (end === 2) braces.push(0)
  }

  while (code.length < source.length) {
    const token = match(endsOperand.test(before) ? tokens : tokensWithRegExp, source, code.length)
    if (/^\s|^\/[/*]/.test(token)) {
      code += blank(token)
      continue
    }
    before = token
    if (/^["'].*["']$/s.test(token) && token.length > 1) {
      code += token[0] + blank(token.slice(1, -1)) + token[0]
    } else if (token.length > 1 && token.startsWith("/")) {
      code += blank(token)
      before = ")"
    } else if (token === "`") {
      code += token
      readTemplate(code.length)
    } else if (token === "}" && braces.at(-1) === 0) {
      braces.pop()
      code += token
      readTemplate(code.length)
    } else {
      code += token
      if (braces.length > 0 && token === "{") braces.push(braces.pop()! + 1)
      if (braces.length > 0 && token === "}") braces.push(braces.pop()! - 1)
    }
  }
  return code
}

/** Number of the line that holds an offset, from 1. */
export const lineAt = (source: string, offset: number): number => source.slice(0, offset).split("\n").length

const comment = /\/\/.*|\/\*[\s\S]*?\*\//.source
const regExp = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/.source
const rest = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|[\w$]+|\s+|[\s\S]/.source
const tokens = new RegExp(`${comment}|${rest}`, "y")
const tokensWithRegExp = new RegExp(`${comment}|${regExp}|${rest}`, "y")
const templateText = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y

/** What a value can end with, so that a `/` after it divides. A keyword is no value. */
const endsOperand =
  /^(?!(?:return|typeof|case|in|of|delete|void|throw|new|else|do|yield|await|instanceof)$)[\w$]|^["'`)\]]/

const match = (pattern: RegExp, source: string, from: number): string => {
  pattern.lastIndex = from
  return pattern.exec(source)![0]
}

const blank = (text: string): string => text.replace(/[^\n]/g, " ")
