/** A line of text with a caret under one of its characters, both indented; tabs keep the caret in place. */
export function pointAt(text: string, position: number, indent: string = '  '): string {
  const before = text.slice(0, position).replace(/[^\t]/gu, ' ')
  return `${indent}${text}\n${indent}${before}^`
}
