import { expect, test } from 'vitest'
import { type FireLine, judge } from './fire-history.ts'

const expectation = {
  planned: new Map([
    ['g.a', [1000, 2000]],
    ['g.b', [1000]],
  ]),
  exclusiveJobs: new Set(['j.a']),
}

function line(kind: FireLine['kind'], trigger: string, planned: number, node = 'one'): FireLine {
  const id = `${trigger}@${planned}`
  const job = trigger.replace('g', 'j')
  return { at: planned, kind, node, trigger, job, planned, id, recovering: null, note: null }
}

const run = (trigger: string, planned: number, node?: string): FireLine[] => [
  line('started', trigger, planned, node),
  line('ended', trigger, planned, node),
]

const all = [...run('g.a', 1000), ...run('g.b', 1000, 'two'), ...run('g.a', 2000, 'two')]

test('a history in which every planned instant ran once, on some node, is right', () => {
  expect(judge(all, expectation)).toEqual([])
})

test.each([
  ['an instant that nobody ran', all.slice(2), ['lost: g.a 1000']],
  [
    'an instant that two nodes ran',
    [...all, ...run('g.b', 1000, 'three')],
    ['fired 2 times: g.b 1000 on two at 1000 (g.b@1000); g.b 1000 on three at 1000 (g.b@1000)'],
  ],
  [
    'a firing that nobody planned',
    [...all, ...run('g.b', 1500)],
    ['not planned: g.b 1500 on one at 1500 (g.b@1500)'],
  ],
  ['a run without an end', all.slice(0, -1), ['never ended: g.a 2000 on two at 2000 (g.a@2000)']],
  [
    'an end without a start',
    all.slice(1),
    ['lost: g.a 1000', 'ended without a start: g.a 1000 on one at 1000 (g.a@1000)'],
  ],
  [
    'two runs at a time of a job that forbids it',
    [
      line('started', 'g.a', 1000),
      ...run('g.b', 1000),
      ...run('g.a', 2000, 'two'),
      line('ended', 'g.a', 1000),
    ],
    ['overlap: g.a 2000 on two at 2000 (g.a@2000) while g.a 1000 on one at 1000 (g.a@1000) ran'],
  ],
])('the judge finds %s', (_name, lines, problems) => {
  expect(judge(lines, expectation)).toEqual(problems)
})
