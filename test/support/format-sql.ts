/** What a line begins with, and how far it stands in from its SELECT, INSERT, UPDATE or DELETE. */
const lineStarts: readonly (readonly [RegExp, number])[] = [
  [/^(SELECT|INSERT INTO|UPDATE|DELETE FROM|UNION ALL|FROM|WHERE|GROUP BY|ORDER BY|LIMIT|VALUES|SET)\b/, 0],
  [/^(ON CONFLICT|RETURNING|FOR NO KEY UPDATE|FOR UPDATE)\b/, 0],
  [/^(LEFT JOIN|CROSS JOIN|JOIN)\b/, 2],
  [/^(AND|OR)\b/, 2],
]

const width = 110

/** Breaks a statement into lines at its clauses; what is in parentheses stays in a line while it fits. */
export function formatSql(text: string): string {
  return lines(text.trim().replaceAll('( ', '('), '').join('\n')
}

function lines(text: string, indent: string): string[] {
  if (indent.length + text.length <= width && !/^SELECT\b.* (WHERE|LEFT JOIN)\b/.test(text))
    return [indent + text]
  return clausesOf(text).flatMap(({ clause, depth }) => clauseLines(clause, indent + ' '.repeat(depth)))
}

/** One clause: subqueries that are too long for the line get lines of their own, and lists are wrapped. */
function clauseLines(clause: string, indent: string): string[] {
  if (indent.length + clause.length <= width) return [indent + clause]
  const group = longestGroup(clause)
  if (group === null) return wrap(clause, indent)
  const [from, to] = group
  return [
    ...clauseHead(clause.slice(0, from + 1), indent),
    ...lines(clause.slice(from + 1, to).trim(), `${indent}  `),
    ...clauseLines(clause.slice(to), indent),
  ]
}

function clauseHead(head: string, indent: string): string[] {
  return indent.length + head.length <= width ? [indent + head] : wrap(head, indent)
}

/** The first group in parentheses that holds a query or conditions and would not fit into the line. */
function longestGroup(clause: string): readonly [number, number] | null {
  let best: readonly [number, number] | null = null
  for (const [from, to] of groupsOf(clause)) {
    const inside = clause.slice(from + 1, to).trim()
    const isBlock = /^SELECT\b/.test(inside) || / (AND|OR) /.test(inside)
    if (isBlock && (best === null || to - from > best[1] - best[0])) best = [from, to]
  }
  return best
}

/** Where the outermost parentheses open and close. */
function groupsOf(text: string): (readonly [number, number])[] {
  const groups: (readonly [number, number])[] = []
  let opened = 0
  walkText(text, (character, position, depth) => {
    if (character === '(' && depth === 0) opened = position
    if (character === ')' && depth === 1) groups.push([opened, position])
  })
  return groups
}

/** Cuts a text before the words that begin a line, but not within parentheses, CASE or BETWEEN. */
function clausesOf(text: string): { readonly clause: string; readonly depth: number }[] {
  const cuts: { at: number; depth: number }[] = [{ at: 0, depth: 0 }]
  let cases = 0
  let isBetween = false
  let isInJoin = false
  walkText(text, (_character, position, depth) => {
    if (depth > 0 || (position > 0 && text[position - 1] !== ' ')) return
    const rest = text.slice(position)
    if (/^CASE\b/.test(rest)) cases++
    if (/^END\b/.test(rest)) cases--
    if (/^BETWEEN\b/.test(rest)) isBetween = true
    if (cases > 0 || position === 0) return
    if (/^AND\b/.test(rest) && isBetween) {
      isBetween = false
      return
    }
    // Not the later words of LEFT JOIN, DELETE FROM, DO UPDATE SET and FOR NO KEY UPDATE.
    if (/\b(LEFT|CROSS|DELETE|DO|KEY|FOR|DO UPDATE) $/.test(text.slice(0, position))) return
    const start = lineStarts.find(([words]) => words.test(rest))
    if (start === undefined) return
    if (!/^(AND|OR)\b/.test(rest)) isInJoin = /JOIN\b/.test(rest.slice(0, 10))
    cuts.push({ at: position, depth: start[1] + (isInJoin && /^(AND|OR)\b/.test(rest) ? 2 : 0) })
  })
  return cuts.map(({ at, depth }, index) => ({ clause: text.slice(at, cuts[index + 1]?.at).trim(), depth }))
}

/** Breaks a line behind commas, or between words where a part has none. */
function wrap(text: string, indent: string): string[] {
  const found: string[] = []
  let line = indent
  const parts = text.split(/(?<=,) /)
  const add = (part: string): void => {
    if (line.trim() !== '' && line.length + 1 + part.length > width) {
      found.push(line)
      line = `${indent}  `
    }
    line += line.trim() === '' ? part : ` ${part}`
  }
  for (const part of parts) {
    if (indent.length + 2 + part.length <= width) add(part)
    else part.split(' ').forEach(add)
  }
  return [...found, line]
}

/** Calls `visit` for each character that is not in a quoted literal, with the number of parentheses around it. */
function walkText(text: string, visit: (character: string, position: number, depth: number) => void): void {
  let depth = 0
  let isQuoted = false
  for (const [position, character] of Array.from(text).entries()) {
    if (character === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    visit(character, position, depth)
    if (character === '(') depth++
    if (character === ')') depth--
  }
}

/** A comment of as many lines as the text needs. */
export function commentOf(text: string): string {
  const found: string[] = []
  let line = '--  '
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > 110) {
      found.push(line)
      line = '--     '
    }
    line += ` ${word}`
  }
  return [...found, line].map((each) => `${each}\n`).join('')
}
