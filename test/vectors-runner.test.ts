import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeReports, exitCodeOf, runVectors } from './support/vectors/run-vectors.ts'
import { hasNewerZoneRules } from './support/vectors/zone-rules.ts'

const recorded = fileURLToPath(new URL('vectors', import.meta.url))
const reports = runVectors(recorded).map(({ file, passed, failures }) => {
  const rows = readFileSync(join(recorded, file), 'utf8').split('\n')
  const [outdated, wrong] = [true, false].map((newer) =>
    failures.filter(({ line }) => hasNewerZoneRules(rows[line - 1] ?? '') === newer),
  )
  return { file, passed, outdated: outdated ?? [], failures: wrong ?? [] }
})

function folderWith(files: Readonly<Record<string, readonly object[]>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  for (const [name, rows] of Object.entries(files)) {
    writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
  return folder
}

const good = { calendar: { type: 'weekly', zone: 'UTC', excluded: [1, 7], base: null }, tests: [[0, true]] }

describe('what Java Quartz computes is what this library computes', () => {
  it.each(
    reports.map((report) => ({
      ...report,
      rows: report.passed + report.failures.length + report.outdated.length,
    })),
  )('in all $rows rows of $file', (report) => {
    expect(report.failures.slice(0, 3)).toEqual([])
    expect(report.passed).toBeGreaterThan(0)
  })

  it('in every file and row that there is', () => {
    expect(
      Object.fromEntries(reports.map(({ file, passed, outdated }) => [file, passed + outdated.length])),
    ).toEqual({
      'calendar-interval.jsonl': 1200,
      'calendars.jsonl': 800,
      'cron-reject.jsonl': 300,
      'cron-trigger.jsonl': 500,
      'cron.jsonl': 4000,
      'daily-time-interval.jsonl': 1142,
      'misfire.jsonl': 1200,
      'simple.jsonl': 800,
    })
  })
})

describe('the runner of vectors', () => {
  it('fails a folder with a wrong row and says what was expected and what came', () => {
    const wrong = { ...good, tests: [[0, false]] }
    const failed = runVectors(folderWith({ 'calendars.jsonl': [good, wrong] }))
    expect(exitCodeOf(failed)).toBe(1)
    expect(describeReports(failed)).toBe(
      [
        'calendars.jsonl: 1 passed, 1 failed',
        '  calendars.jsonl:2',
        '    included: expected [[0,false]], got [[0,true]]',
      ].join('\n'),
    )
  })

  it('fails a row of a kind that it does not know', () => {
    const failed = runVectors(folderWith({ 'moon.jsonl': [{ phase: 'full' }] }))
    expect(exitCodeOf(failed)).toBe(1)
    expect(describeReports(failed)).toContain('unknown kind of row with the fields phase')
  })

  it.each([
    ['without files', {}],
    ['with an empty file', { 'simple.jsonl': [] }],
  ])('fails a folder %s', (_name, files) => {
    expect(exitCodeOf(runVectors(folderWith(files)))).toBe(1)
  })

  it('passes a folder whose rows all hold', () => {
    expect(exitCodeOf(runVectors(folderWith({ 'calendars.jsonl': [good] })))).toBe(0)
  })
})
