import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkRow, type Difference } from './check-row.ts'

/** A row that failed: where it disagrees, or why it could not be judged. */
export interface RowFailure {
  readonly line: number
  readonly differences: readonly Difference[]
  readonly error: string | null
}

export interface FileReport {
  readonly file: string
  readonly passed: number
  readonly failures: readonly RowFailure[]
}

/** Checks every row of every `.jsonl` file of a folder. */
export function runVectors(folder: string): readonly FileReport[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((file) => runFile(folder, file))
}

function runFile(folder: string, file: string): FileReport {
  const failures: RowFailure[] = []
  let passed = 0
  for (const [index, text] of readFileSync(join(folder, file), 'utf8').split('\n').entries()) {
    if (text.trim() === '') continue
    const failure = runRow(index + 1, text)
    if (failure === null) passed++
    else failures.push(failure)
  }
  return { file, passed, failures }
}

function runRow(line: number, text: string): RowFailure | null {
  try {
    const differences = checkRow(JSON.parse(text))
    return differences.length === 0 ? null : { line, differences, error: null }
  } catch (error) {
    return { line, differences: [], error: String(error) }
  }
}

/** What a person reads: rows passed and failed of each file, and the first failures of each. */
export function describeReports(reports: readonly FileReport[], shownPerFile = 3): string {
  const lines = reports.flatMap(({ file, passed, failures }) => [
    `${file}: ${passed} passed, ${failures.length} failed`,
    ...failures.slice(0, shownPerFile).flatMap((failure) => describeFailure(file, failure)),
    ...(failures.length > shownPerFile ? [`  ... and ${failures.length - shownPerFile} more`] : []),
  ])
  return lines.join('\n')
}

function describeFailure(file: string, { line, differences, error }: RowFailure): string[] {
  const reasons = differences.map(
    ({ what, expected, got }) => `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`,
  )
  return [
    `  ${file}:${line}`,
    ...[...reasons, ...(error === null ? [] : [error])].map((text) => `    ${text}`),
  ]
}

/** 0 when there were rows and each passed; an empty folder or file is a failure, not a success. */
export function exitCodeOf(reports: readonly FileReport[]): number {
  const isGood = ({ passed, failures }: FileReport): boolean => passed > 0 && failures.length === 0
  return reports.length > 0 && reports.every(isGood) ? 0 : 1
}
