/** What a terminal of endless height would show after a text with the few sequences that the live table uses. */
export function screenOf(text: string): { lines: readonly string[]; hasCursor: boolean } {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  let hasCursor = true
  const put = (char: string): void => {
    const line = (lines[row] ?? '').padEnd(column)
    lines[row] = line.slice(0, column) + char + line.slice(column + 1)
    column++
  }
  const sequences: Record<string, (parameter: number) => void> = {
    F: (count) => {
      row = Math.max(0, row - count)
      column = 0
    },
    K: () => {
      lines[row] = (lines[row] ?? '').slice(0, column)
    },
    J: (mode) => {
      lines.length = mode === 2 ? 0 : row + 1
      lines[row] = mode === 2 ? '' : (lines[row] ?? '').slice(0, column)
    },
    H: () => {
      row = 0
      column = 0
    },
    m: () => {},
  }
  for (const [part, parameter, letter = ''] of text.matchAll(/\u001b\[(\??\d*)([A-Za-z])|[^\u001b]/g)) {
    const sequence = sequences[letter]
    if (parameter?.startsWith('?') === true) hasCursor = letter === 'h'
    else if (sequence !== undefined) sequence(Number(parameter))
    else if (part === '\n') {
      row++
      column = 0
      lines[row] ??= ''
    } else put(part)
  }
  return { lines: lines.map((line) => line.trimEnd()), hasCursor }
}
