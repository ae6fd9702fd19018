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

  describe('with fires after 2125, when Java gives up some searches', () => {
    const dayMs = 86_400_000
    const startMs = Date.UTC(2125, 11, 30)
    const days = (count: number): number[] => Array.from({ length: count }, (_, day) => startMs + day * dayMs)
    const daily = {
      type: 'simple',
      start: startMs,
      end: null,
      repeatCount: 3,
      repeatInterval: dayMs,
      calendar: null,
      first: startMs,
      fires: days(4),
      more: false,
      after: [],
    }
    const open = { ...good.calendar, excluded: [] }
    const cron = { ...daily, type: 'cron', expr: '0 0 0 * * ?', zone: 'UTC', fires: days(2) }

    it('holds a trigger without a calendar to all of them', () => {
      expect(runVectors(folderWith({ 'simple.jsonl': [daily] }))[0]?.failures).toEqual([])
      const [report] = runVectors(folderWith({ 'simple.jsonl': [{ ...daily, fires: days(2) }] }))
      expect(report?.failures.map(({ differences }) => differences.map(({ what }) => what))).toEqual([
        ['more'],
      ])
    })

    it.each([
      ['that has a calendar', { ...daily, calendar: open, fires: days(2) }],
      ['of cron', cron],
    ])('counts those of a trigger %s as none', (_kind, row) => {
      expect(runVectors(folderWith({ 'simple.jsonl': [row] }))[0]?.failures).toEqual([])
    })
  })

  describe('with a trigger that misfired past its end', () => {
    const [endMs, nowMs] = [Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 3)]
    const state = { prevFireTime: null, startTime: Date.UTC(2026, 0, 1), endTime: endMs, timesTriggered: 0 }
    const rowOf = (definition: object, counted: object) => ({
      zone: 'UTC',
      start: state.startTime,
      end: endMs,
      calendar: null,
      misfireInstruction: 1,
      op: 'updateAfterMisfire',
      ...definition,
      before: { ...state, ...counted, nextFireTime: state.startTime },
      now: nowMs,
      after: { ...state, ...counted, nextFireTime: nowMs },
      mayFireAgain: true,
    })
    const window = { interval: 1, unit: 'HOUR', startTimeOfDay: [0, 0, 0], endTimeOfDay: [23, 59, 59] }

    it.each([
      ['a one-shot', rowOf({ type: 'simple', repeatInterval: 0 }, { repeatCount: 0 })],
      ['a daily-time-interval', rowOf({ type: 'dailyTimeInterval', ...window }, { repeatCount: -1 })],
    ])('expects %s trigger to be finished where Java fires it', (_family, row) => {
      expect(runVectors(folderWith({ 'misfire.jsonl': [row] }))[0]?.failures).toEqual([])
    })

    it('expects a cron trigger to fire as in Java', () => {
      const row = rowOf({ type: 'cron', expr: '0 0 0 * * ?' }, {})
      const finished = { ...row, after: { ...row.after, nextFireTime: null }, mayFireAgain: false }
      const failuresOf = (each: object) =>
        runVectors(folderWith({ 'misfire.jsonl': [each] }))[0]?.failures.length
      expect([row, finished].map(failuresOf)).toEqual([0, 1])
    })
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
