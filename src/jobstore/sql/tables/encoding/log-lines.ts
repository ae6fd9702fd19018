import { type ExecutionLogLine, executionLogLevels } from '../../../execution-log.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { readable, textOrNull } from './columns.ts'
import { storable } from './storable-text.ts'

/** Lines as one text, so that a row holds many. */
export function logTextOf(lines: readonly ExecutionLogLine[]): string {
  return storable(
    JSON.stringify(
      lines.map(({ line, timeMs, level, message, fieldsText }) => [line, timeMs, level, message, fieldsText]),
    ),
  )
}

/** The lines of a row; none where they cannot be read. */
export function logLinesOf(row: SqlRow): readonly ExecutionLogLine[] {
  try {
    const lines: unknown = JSON.parse(readable(textOrNull, row, 'log_lines', null) ?? '[]')
    return Array.isArray(lines) ? lines.flatMap(decodeLine) : []
  } catch {
    return []
  }
}

function decodeLine(entry: unknown): ExecutionLogLine[] {
  if (!Array.isArray(entry)) return []
  const [line, timeMs, levelText, message, fields] = entry as unknown[]
  const level = executionLogLevels.find((known) => known === levelText)
  if (typeof line !== 'number' || typeof timeMs !== 'number' || typeof message !== 'string') return []
  if (level === undefined) return []
  return [{ line, timeMs, level, message, fieldsText: typeof fields === 'string' ? fields : null }]
}
