import { expect, test } from 'vitest'
import { type Expectation, judge, type Promised } from './judge.ts'
import { lateBySecond, stalls } from './lateness.ts'
import type { EventLine, LogLine, RunLine } from './run-log.ts'

const base: Promised = { instants: [10_000], recovers: false, skips: false, isCertain: true, failures: 0 }

function expecting(promised: Partial<Promised> = {}): Expectation {
  return {
    triggers: new Map([['g.t', { ...base, ...promised }]]),
    exclusiveJobs: new Set(['jobs.x']),
    groupLimits: new Map([['limited', 1]]),
    misfireThresholdMs: 2000,
  }
}

function run(kind: RunLine['kind'], at: number, fields: Partial<RunLine> = {}): RunLine {
  const where = { node: 'a', pid: 1, trigger: 'g.t', planned: 10_000, job: 'jobs.x', id: 'f1' }
  return { kind, at, firedAt: at, attempt: 1, recovering: false, ...where, ...fields }
}

const lost: EventLine = {
  kind: 'executionLost',
  at: 20_000,
  node: 'b',
  pid: 2,
  trigger: 'g.t',
  planned: 10_000,
  id: 'f1',
  instanceId: 'a',
}
const recovered: EventLine = { kind: 'nodeRecovered', at: 20_000, node: 'b', pid: 2, instanceId: 'a' }
const killed: EventLine = { kind: 'killed', at: 10_500, node: 'a', pid: 1, point: 'midRun' }
const misfired: EventLine = {
  kind: 'triggerMisfired',
  at: 13_000,
  node: 'b',
  pid: 2,
  trigger: 'g.t',
  planned: 10_000,
}

const well: LogLine[] = [run('started', 10_000), run('ended', 10_100)]
const again = { node: 'b', pid: 2, id: 'f2' }

test.each<[string, Partial<Promised>, LogLine[]]>([
  ['ran once', {}, well],
  [
    'ran again because its node died',
    { recovers: true },
    [
      run('started', 10_000),
      killed,
      recovered,
      run('started', 20_100, { ...again, recovering: true }),
      run('ended', 20_200, { ...again, recovering: true }),
    ],
  ],
  ['died with its node and was reported', {}, [run('started', 10_000), killed, lost]],
  ['was skipped by its policy', { skips: true }, [misfired]],
  [
    'was skipped by a node that died before it could say so',
    { skips: true, instants: [10_000, 11_000, 12_000] },
    [killed, run('started', 12_000, { planned: 12_000 }), run('ended', 12_100, { planned: 12_000 })],
  ],
  ['was perhaps never stored', { isCertain: false }, []],
  [
    'failed and was tried again',
    { failures: 1 },
    [
      run('started', 10_000),
      run('failed', 10_100),
      run('started', 10_300, { ...again, attempt: 2 }),
      run('ended', 10_400, { ...again, attempt: 2 }),
    ],
  ],
])('an instant is well when it %s', (_how, promised, lines) => {
  expect(judge(lines, expecting(promised))).toEqual([])
})

test.each<[string, Partial<Promised>, LogLine[], RegExp]>([
  ['that nobody ran', {}, [], /^lost: g.t 10000$/],
  [
    'that nobody ran although its trigger went on in time',
    { skips: true, instants: [10_000, 11_000] },
    [killed, run('started', 11_000, { planned: 11_000 }), run('ended', 11_100, { planned: 11_000 })],
    /^lost: g.t 10000$/,
  ],
  [
    'that nobody ran although no node was in trouble',
    { skips: true, instants: [10_000, 12_500] },
    [run('started', 12_500, { planned: 12_500 }), run('ended', 12_600, { planned: 12_500 })],
    /^lost: g.t 10000$/,
  ],
  ['that never ended', {}, [run('started', 10_000), killed], /^lost: g.t 10000, with started/],
  [
    'that was given up although it recovers',
    { recovers: true },
    [run('started', 10_000), killed, lost],
    /^lost:/,
  ],
  ['that a policy skipped too early', { skips: true }, [{ ...misfired, at: 10_200 }], /^lost:/],
  [
    'that two nodes ran',
    {},
    [...well, run('started', 11_000, again), run('ended', 11_100, again)],
    /^ran twice:/,
  ],
  ['that was not tried again', { failures: 1 }, [run('started', 10_000), run('failed', 10_100)], /^lost:/],
  [
    'that was not planned',
    {},
    [...well, run('started', 15_000, { planned: 15_000 }), run('ended', 15_100, { planned: 15_000 })],
    /^not planned:/,
  ],
])('the judge finds an instant %s', (_how, promised, lines, problem) => {
  expect(judge(lines, expecting(promised))).toEqual([expect.stringMatching(problem)])
})

test('two runs of a job that excludes itself overlap, unless peers had taken the first from its node', () => {
  const both = expecting({ instants: [10_000, 12_000] })
  const later = { ...again, planned: 12_000 }
  const together = [run('started', 10_000), run('started', 12_000, later), run('ended', 12_100, later)]
  const problem = [expect.stringMatching(/^overlap:/)]
  expect(judge([...together, run('ended', 30_000)], both)).toEqual(problem)
  // A recovery afterwards excuses nothing.
  expect(judge([...together, recovered, run('ended', 30_000)], both)).toEqual(problem)
  const [first, ...others] = together
  const voided = [first ?? expect.fail('none'), { ...recovered, at: 11_900 }, ...others, run('ended', 30_000)]
  expect(judge(voided, both)).toEqual([])
})

test('what no process should ever say is a problem', () => {
  const uncaught: EventLine = { kind: 'uncaught', at: 1, node: 'a', pid: 1, error: 'boom' }
  const inError: EventLine = {
    kind: 'triggerInError',
    at: 1,
    node: 'a',
    pid: 1,
    trigger: 'g.t',
    reason: 'bad',
  }
  expect(judge([...well, uncaught, inError], expecting())).toEqual([
    'uncaught in a: boom',
    'in error: g.t: bad',
  ])
})

test('more jobs of a limited group at a time than its limit are a problem', () => {
  const both = expecting({ instants: [10_000, 10_050] })
  const first = { job: 'limited.a' }
  const second = { job: 'limited.b', id: 'f2', planned: 10_050 }
  const begun = [run('started', 10_000, first), run('started', 10_050, second)]
  const together = [...begun, run('ended', 10_100, first), run('ended', 10_150, second)]
  expect(judge(together, both)).toEqual([expect.stringMatching(/^2 of limited at a time: .* f2|f2/)])
  const apart = [run('started', 10_000, first), run('ended', 10_040, first), ...together.slice(1, 2)]
  expect(judge([...apart, run('ended', 10_150, second)], both)).toEqual([])
})

test('a run of an undisturbed job that began late in a disturbance is a stall', () => {
  const lock = { what: 'lock', fromMs: 7000, toMs: 20_000, jobs: new Set(['jobs.work-1']) }
  const late = (job: string): LogLine => run('started', 13_000, { job })
  expect(stalls([late('jobs.work-2')], [lock])).toEqual(['lock: g.t 10000 began 3000 ms late on a'])
  expect(stalls([late('jobs.work-1'), run('started', 10_900, { job: 'jobs.work-2' })], [lock])).toEqual([])
  // An operator who resumes a group waits for its locked rows.
  expect(stalls([late('jobs.work-2')], [lock], [{ fromMs: 9000, toMs: 12_500 }])).toEqual([])
  expect(stalls([late('jobs.work-2')], [lock], [{ fromMs: 9000, toMs: 10_100 }])).toEqual([
    'lock: g.t 10000 began 2900 ms late on a',
  ])
  // What was due before may be late for another reason.
  expect(stalls([late('jobs.work-2')], [{ ...lock, fromMs: 9000 }])).toEqual([])
})

test('a backlog of the fault before a disturbance is no stall, as long as it becomes less', () => {
  const junk = { what: 'junk', fromMs: 7000, toMs: 27_000, jobs: new Set<string>() }
  const began = (planned: number, at: number): LogLine =>
    run('started', at, { planned, job: 'jobs.work-1', id: String(planned) })
  const backlog = [began(2000, 9000), began(4000, 10_000), began(8900, 12_000)]
  expect(stalls(backlog, [junk])).toEqual([])
  expect(stalls([...backlog, began(12_500, 15_100)], [junk])).toEqual([
    'junk: g.t 12500 began 2600 ms late on a',
  ])
  // Without a run that was late at the begin, the same is one.
  expect(stalls(backlog.slice(2), [junk])).toEqual(['junk: g.t 8900 began 3100 ms late on a'])
  // Runs that were late because they were paused are no backlog.
  const paused = [...backlog.slice(0, 2), began(8950, 13_000)]
  expect(stalls(paused, [junk], [{ fromMs: 2000, toMs: 9900 }])).toEqual([
    'junk: g.t 8950 began 3100 ms late on a',
  ])
  // So it is when half of the disturbance was not enough.
  expect(stalls([...backlog, began(10_000, 18_000), began(17_000, 20_000)], [junk])).toEqual([
    'junk: g.t 17000 began 3000 ms late on a',
  ])
})

test('how late runs began is told second by second', () => {
  expect(lateBySecond([run('started', 12_000), run('started', 12_900), run('ended', 12_990)])).toEqual([
    '00:00:12 2 began, 2000 ms late by the median, 2900 ms at most',
  ])
})
