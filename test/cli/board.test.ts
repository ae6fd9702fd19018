import { describe, expect, test } from 'vitest'
import { drawBoard } from '../../src/cli/crontab/board-table.ts'
import { LineView } from '../../src/cli/crontab/line-view.ts'
import { LiveView } from '../../src/cli/crontab/live-view.ts'
import { drawSummary } from '../../src/cli/crontab/summary.ts'
import { ansiPaint, noPaint } from '../../src/cli/terminal/paint.ts'
import { displayWidth } from '../../src/cli/terminal/text.ts'
import { JobExecutionError } from '../../src/core/errors.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TimeZone } from '../../src/time/zone.ts'
import { FakeBoard } from './board.ts'
import { FakeOutput } from './fake-host.ts'
import { screenOf } from './screen.ts'

const zone = TimeZone.of('UTC')
const start = Date.UTC(2026, 0, 1, 12)
const second = 1000
const style = { columns: 80, rows: 24, zone, paint: noPaint }
const good = { isGood: true, status: 'exit 0', text: 'all is well' }
const bad = { isGood: false, status: 'exit 3', text: 'no such host' }

function sampleBoard(): FakeBoard {
  const fake = new FakeBoard()
    .add('backup', start)
    .add('report', start + 3600 * second)
    .add('once', null)
  fake.execute({
    job: 'backup',
    dueMs: start,
    lateMs: 2,
    tookMs: 1534,
    nextMs: start + 5 * second,
    outcome: bad,
  })
  fake.execute({ job: 'once', dueMs: start, lateMs: 1, tookMs: 12, outcome: good })
  return fake
}

describe('the table of jobs', () => {
  test('has a line per job: next and last fire, lateness, duration, result', () => {
    expect(drawBoard('quartz-ts file', sampleBoard().board, start + second, style)).toEqual([
      'quartz-ts file                                Thu 2026-01-01 12:00:01 +00:00 UTC',
      '3 jobs, 0 running, 2 fires, 1 failed, late p99 2 ms                 Ctrl-C stops',
      '',
      'JOB                 NEXT       LAST        LATE    TOOK  RESULT',
      'backup              12:00:05   12:00:00    2 ms   1.5 s  exit 3  no such host   ',
      'report              13:00:00   -              -       -  -                      ',
      'once                -          12:00:00    1 ms   12 ms  exit 0  all is well    ',
    ])
  })

  test('also counts the fires where there is room', () => {
    const lines = drawBoard('file', sampleBoard().board, start, { ...style, columns: 120 })
    expect(lines[3]).toMatch(/TOOK {3}FIRES {2}RESULT$/)
    expect(lines[4]).toMatch(/1\.5 s {7}1 {2}exit 3 {2}no such host/)
  })

  test.each([4, 9, 20, 21, 33, 40, 43, 52, 59, 60, 61, 79, 80, 99, 100, 120, 250])(
    'is never wider than %d columns',
    (columns) => {
      const fake = sampleBoard().add('日本語'.repeat(100), start)
      fake.execute({ job: '日本語'.repeat(100), dueMs: start, outcome: { ...good, text: 'é'.repeat(500) } })
      const lines = drawBoard('/a/long/path'.repeat(20), fake.board, start, { ...style, columns, rows: 9 })
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(columns)
    },
  )

  test.each([
    [60, 'JOB        NEXT       LAST        LATE    TOOK  RESULT'],
    [58, 'JOB           NEXT       LAST        TOOK  RESULT'],
    [45, 'JOB        NEXT       LAST      RESULT'],
    [40, 'JOB           NEXT       RESULT'],
    [30, 'JOB           RESULT'],
  ])('leaves out columns where there is no room: %d wide', (columns, head) => {
    expect(drawBoard('file', sampleBoard().board, start, { ...style, columns })[3]).toBe(head)
  })

  test('names how many jobs a low window does not show', () => {
    const fake = new FakeBoard()
    for (let job = 1; job <= 20; job++) fake.add(`job ${job}`, start)
    const lines = drawBoard('file', fake.board, start, { ...style, rows: 10 })
    expect(lines).toHaveLength(9)
    expect(lines.at(-1)).toBe('… and 16 more jobs; make the window higher')
  })

  test('shows what a running job reports, and that it runs more than once', () => {
    const fake = sampleBoard()
    const execution = { job: 'report', dueMs: start }
    const result = (): string | undefined => drawBoard('file', fake.board, start, style)[5]?.slice(57).trim()
    fake.begin(execution)
    expect(result()).toBe('running')
    fake.begin(execution)
    expect(result()).toBe('running (2 at once)')
    fake.progress(execution, 'hashing 3 of 9')
    expect(result()).toBe('hashing 3 of 9')
    fake.end({ ...execution, outcome: good })
    fake.end({ ...execution, outcome: good })
    expect(result()).toBe('exit 0  all is well')
  })

  test('shows of jobs without an outcome of their own what they returned or threw', () => {
    const fake = sampleBoard()
    const result = (): string | undefined => drawBoard('file', fake.board, start, style)[5]?.slice(57).trim()
    fake.execute({ job: 'report', dueMs: start, result: { summary: '9 files', files: 9 } })
    expect(result()).toBe('done  9 files')
    fake.execute({ job: 'report', dueMs: start, result: { files: 9 } })
    expect(result()).toBe('done')
    fake.execute({ job: 'report', dueMs: start, error: new JobExecutionError('out of paper\nand ink') })
    expect(result()).toBe('failed  out of paper')
    const error = new JobExecutionError('ran too long', { code: 'ERR_JOB_TIMEOUT' })
    fake.execute({ job: 'report', dueMs: start, error })
    expect(result()).toBe('timeout  ran too long')
  })

  test('colours change neither words nor widths', () => {
    const { board } = sampleBoard()
    const painted = drawBoard('file', board, start, { ...style, paint: ansiPaint })
    const plain = painted.map((line) => line.replace(/\u001b\[\d*m/g, ''))
    expect(plain).toEqual(drawBoard('file', board, start, style))
    expect(painted.join('')).not.toBe(plain.join(''))
  })
})

describe('the live view', () => {
  function liveView(fake: FakeBoard): { clock: ManualClock; output: FakeOutput; view: LiveView } {
    const clock = new ManualClock(start)
    const output = new FakeOutput({ isTerminal: true })
    const view = new LiveView({ title: 'file', output, board: fake.board, clock, zone, paint: noPaint })
    return { clock, output, view }
  }
  const table = (fake: FakeBoard, clock: ManualClock): readonly string[] =>
    drawBoard('file', fake.board, clock.now(), style).map((line) => line.trimEnd())

  test('draws again in the same place, soon after a change and once a second for the time', async () => {
    const fake = sampleBoard()
    const { clock, output, view } = liveView(fake)
    view.start()
    expect(screenOf(output.text)).toEqual({ lines: [...table(fake, clock), ''], hasCursor: false })
    fake.execute({ job: 'report', dueMs: start, outcome: good })
    await clock.advance(100)
    expect(screenOf(output.text).lines).toEqual([...table(fake, clock), ''])
    await clock.advance(1000)
    expect(screenOf(output.text).lines[0]).toContain('12:00:01')
  })

  test('draws many changes at once', async () => {
    const fake = sampleBoard()
    const { clock, output, view } = liveView(fake)
    view.start()
    const before = output.text.length
    for (let i = 0; i < 1000; i++) fake.execute({ job: 'report', dueMs: start, outcome: good })
    expect(output.text).toHaveLength(before)
    await clock.advance(100)
    expect(output.text.length - before).toBeLessThan(2000)
  })

  test('writes notes above the table', () => {
    const fake = sampleBoard()
    const { clock, output, view } = liveView(fake)
    view.start()
    view.note('one')
    view.note('two')
    expect(screenOf(output.text).lines).toEqual(['one', 'two', ...table(fake, clock), ''])
  })

  test('starts on an empty screen when the width changes, since old lines may be wrapped', () => {
    const { output, view } = liveView(sampleBoard())
    view.start()
    output.resizeTo(120)
    expect(screenOf(output.text).lines[0]).toHaveLength(120)
  })

  test('leaves the last state, the cursor, and neither timer nor listener', async () => {
    const fake = sampleBoard()
    const { clock, output, view } = liveView(fake)
    view.start()
    fake.execute({ job: 'report', dueMs: start, outcome: good })
    view.stop()
    expect(screenOf(output.text)).toEqual({ lines: [...table(fake, clock), ''], hasCursor: true })
    expect(clock.timerCount).toBe(0)
    expect(output.resizeListeners).toBe(0)
  })
})

test('the view by lines says when each job is due and then has one line per execution', () => {
  const fake = new FakeBoard().add('backup', start).add('once', null)
  const output = new FakeOutput()
  const clock = new ManualClock(start)
  const view = new LineView({ title: 'file', output, board: fake.board, clock, zone, paint: noPaint })
  view.start()
  fake.execute({ job: 'backup', dueMs: start, lateMs: 2, tookMs: 1534, outcome: bad })
  view.note('a note')
  view.stop()
  fake.execute({ job: 'backup', dueMs: start, outcome: bad })
  expect(output.lines).toEqual([
    'file',
    '',
    'next 12:00:00   backup',
    'next never      once',
    '',
    `12:00:00  ${'backup'.padEnd(32)}  late 2 ms     took 1.5 s    exit 3    no such host`,
    'a note',
    '',
  ])
})

describe('the summary', () => {
  test('counts fires and failures of the jobs that fired, with their lateness, and names the last failures', () => {
    const lines = drawSummary(sampleBoard().board, 20_000, { columns: 80, paint: noPaint })
    expect(lines).toEqual([
      '2 fires in 20 s, 1 failed, 1 job not due yet',
      '',
      '                              LATE',
      'JOB          FIRES  FAILED     p50     p99     max',
      'backup           1       1    2 ms    2 ms    2 ms',
      'once             1       0    1 ms    1 ms    1 ms',
      'all              2       1    1 ms    2 ms    2 ms',
      'failed: backup: exit 3 no such host',
    ])
  })

  test.each([60, 80, 120])('fits into %d columns', (columns) => {
    const fake = new FakeBoard().add('x'.repeat(200), start)
    fake.execute({ job: 'x'.repeat(200), dueMs: start, outcome: { ...bad, text: 'y'.repeat(200) } })
    const lines = drawSummary(fake.board, 20_000, { columns, paint: noPaint })
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  })

  test('of a run without a firing says so', () => {
    const lines = drawSummary(new FakeBoard().add('x', start).board, 1000, { columns: 80, paint: noPaint })
    expect(lines[0]).toBe('0 fires in 1 s, 0 failed, 1 job not due yet')
    expect(lines.at(-1)).toMatch(/^all +0 +0 +- +- +-$/)
  })
})
