// Java's .properties text: one `key=value` a line, everything outside printable ASCII escaped, so that it reads the
// same as Latin-1 and as UTF-8.

const namedEscapes: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\f', '\\f'],
])

const meanings: ReadonlyMap<string, string> = new Map(
  Array.from(namedEscapes, ([character, escape]) => [escape.slice(1), character]),
)

export function writeProperties(entries: Iterable<readonly [key: string, value: string]>): string {
  let text = ''
  for (const [key, value] of entries) text += `${escapeKey(key)}=${escapeValue(value)}\n`
  return text
}

function escapeKey(key: string): string {
  // A brace at the very start would look like JSON.
  return escapeCharacters(key).replace(/ /g, '\\ ').replace(/^\{/, '\\{')
}

function escapeValue(value: string): string {
  return escapeCharacters(value).replace(/^ /, '\\ ')
}

function escapeCharacters(text: string): string {
  return text.replace(/[^ -~]|[\\=:#!]/g, (character) => {
    const named = namedEscapes.get(character)
    if (named !== undefined) return named
    if (character >= ' ' && character <= '~') return `\\${character}`
    return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  })
}

/** Reads what Java's `Properties.load` reads; a later entry of the same key wins. Throws SyntaxError. */
export function readProperties(text: string): Record<string, string> {
  return Object.fromEntries(logicalLines(text).map(readEntry))
}

/** Lines without comments and blank ones; a line that ends in a backslash goes on in the next. */
function logicalLines(text: string): string[] {
  const lines: string[] = []
  let open: string | null = null
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const trimmed = natural.replace(/^[ \t\f]+/, '')
    if (open === null && (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith('!'))) continue
    const line: string = (open ?? '') + trimmed
    const backslashes = /\\*$/.exec(trimmed)?.[0].length ?? 0
    if (backslashes % 2 === 1) {
      open = line.slice(0, -1)
    } else {
      lines.push(line)
      open = null
    }
  }
  if (open !== null) lines.push(open)
  return lines
}

function readEntry(line: string): [key: string, value: string] {
  let end = 0
  while (end < line.length && !/[ \t\f=:]/.test(line.charAt(end))) end += line.charAt(end) === '\\' ? 2 : 1
  const separator = /^[ \t\f]*[=:]?[ \t\f]*/.exec(line.slice(end))?.[0] ?? ''
  return [unescape(line.slice(0, end)), unescape(line.slice(end + separator.length))]
}

function unescape(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(u[0-9a-fA-F]{4}|[^]|$)/g, (_, escape: string) => {
    if (escape.length === 5) return String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    if (escape === 'u') throw new SyntaxError('a \\u without four hexadecimal digits')
    return meanings.get(escape) ?? escape
  })
}
