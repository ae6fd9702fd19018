import { describe, expect, it } from 'vitest'
import type { CompletedExecutionInstruction } from '../../src/jobstore/job-store.ts'
import {
  SimpleScheduleBuilder,
  type SimpleTrigger,
} from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { SimpleMisfireInstruction } from '../../src/triggers/misfire-instruction.ts'
import type { HistoryFact } from '../support/history.ts'
import { HistoryChecker } from '../support/history-checker.ts'

const misfire: SimpleMisfireInstruction = 'rescheduleNextWithExistingCount'

/** Fires each second from 1 s on. */
const trigger: SimpleTrigger = TriggerBuilder.newTrigger()
  .withIdentity('t')
  .forJob('j')
  .startAt(new Date(1000))
  .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever().withMisfireInstruction(misfire))
  .build()
  .computeFirstFireTime(null)
const second = trigger.triggered(null)
const sibling = trigger.getTriggerBuilder().withIdentity('u').build().computeFirstFireTime(null)

type Step = readonly [atMs: number, fact: HistoryFact]

const begin: readonly Step[] = [
  [0, { kind: 'jobStored', jobKey: 'DEFAULT.j', jobType: 'j', nonConcurrent: true }],
  [0, { kind: 'stored', trigger }],
  [0, { kind: 'schedulerStarted' }],
]

function fired(id: string, before: SimpleTrigger, atMs: number): Step {
  const after = before.triggered(null)
  const plannedMs = before.nextFireTimeMs ?? Number.NaN
  const times = { plannedMs, fireTimeMs: atMs, decidedAtMs: atMs, jumpedMeanwhile: false }
  return [atMs, { kind: 'fired', fireInstanceId: id, trigger: after, ...times }]
}
function started(id: string, atMs: number, change: object = {}): Step {
  const run = { attempt: 1, refireCount: 0, plannedMs: 0, ...change }
  return [atMs, { kind: 'started', fireInstanceId: id, ...run }]
}
function completed(id: string, atMs: number, instruction: CompletedExecutionInstruction = 'noop'): Step {
  return [atMs, { kind: 'completed', fireInstanceId: id, trigger: second, instruction, retryTrigger: null }]
}

function violationsOf(...steps: readonly Step[]): readonly string[] {
  const checker = new HistoryChecker({ misfireThresholdMs: 5000, poolSize: 10, latenessMaxMs: 20 })
  for (const [atMs, fact] of [...begin, ...steps]) checker.observe({ ...fact, atMs })
  return checker.violations
}

const firstRun = [
  fired('f1', trigger, 1000),
  started('f1', 1000),
  [1010, { kind: 'ended', fireInstanceId: 'f1' }],
  completed('f1', 1010),
] as const satisfies readonly Step[]

describe('the history checker', () => {
  it('finds nothing wrong with firings on time, a late completion told twice, a policy and a pause', () => {
    const late: Step = [9000, { kind: 'misfired', trigger: second }]
    const moved = second.updateAfterMisfire(null, 9000)
    expect(
      violationsOf(
        ...firstRun,
        completed('f1', 1020),
        late,
        fired('f2', moved, 10_000),
        started('f2', 10_001),
        [10_002, { kind: 'ended', fireInstanceId: 'f2' }],
        completed('f2', 10_002),
        [12_500, { kind: 'disturbed', untilMs: 12_500, what: 'resumed' }],
        fired('f3', moved.triggered(null), 12_501),
      ),
    ).toEqual([])
  })

  it.each<[RegExp, readonly Step[]]>([
    [/1 ms early/, [fired('f1', trigger, 999)]],
    [/not there to fire/, [[500, { kind: 'removed', triggerKey: 'DEFAULT.t' }], fired('f1', trigger, 1000)]],
    [
      /not there to fire/,
      [...firstRun.slice(0, 3), completed('f1', 1010, 'setTriggerComplete'), fired('f2', second, 2000)],
    ],
    [/fired for another instant/, [fired('f1', second, 2000)]],
    [
      /had its outcome/,
      [...firstRun, [1100, { kind: 'stored', trigger }], ...firstRun.slice(0, 1), ...firstRun.slice(0, 1)],
    ],
    [/50 ms late although nothing stood in its way/, [fired('f1', trigger, 1050)]],
    [
      /6000 ms late, past its misfire policy/,
      [[7000, { kind: 'disturbed', untilMs: 7000, what: '' }], fired('f1', trigger, 7000)],
    ],
    [/to a trigger that is not late/, [[1100, { kind: 'misfired', trigger }]]],
    [/another next fire time/, [[8000, { kind: 'misfired', trigger: second }]]],
    [
      /fired twice/,
      [[0, { kind: 'stored', trigger: sibling }], fired('f1', trigger, 1000), fired('f2', sibling, 1000)],
    ],
    [/although the scheduler is standby/, [[500, { kind: 'schedulerStandby' }], fired('f1', trigger, 1000)]],
    [/although the scheduler is halted/, [[500, { kind: 'schedulerHalted' }], fired('f1', trigger, 1000)]],
    [
      /acquired after the halt/,
      [
        [500, { kind: 'schedulerHalted' }],
        [600, { kind: 'acquired', triggerKey: 'DEFAULT.t', fireInstanceId: 'f1' }],
      ],
    ],
    [/without a firing/, [started('f1', 1000)]],
    [/should be refire 1/, [...firstRun.slice(0, 3), started('f1', 1010)]],
    [/of the wrong kind of trigger/, [fired('f1', trigger, 1000), started('f1', 1000, { attempt: 2 })]],
    [/runs twice at once/, [...firstRun.slice(0, 2), started('f1', 1001, { refireCount: 1 })]],
    [
      /a vetoed firing was run/,
      [fired('f1', trigger, 1000), [1000, { kind: 'vetoed', fireInstanceId: 'f1' }], started('f1', 1001)],
    ],
    [
      /reported as lost was run/,
      [fired('f1', trigger, 1000), [1000, { kind: 'lost', fireInstanceId: 'f1' }], started('f1', 1001)],
    ],
    [/that had ended was run/, [...firstRun, started('f1', 1020, { refireCount: 1 })]],
    [/of a job that still runs/, [...firstRun.slice(0, 2), completed('f1', 1005)]],
  ])('finds what is %s', (expected, steps) => {
    expect(violationsOf(...steps)).toContainEqual(expect.stringMatching(expected))
  })

  it('finds a next fire time that the series does not have', () => {
    const wrong = second.withFireState({
      nextFireTimeMs: 2500,
      previousFireTimeMs: 1000,
      timesTriggered: 1,
      misfiredFireTimeMs: null,
    })
    const times = { plannedMs: 1000, fireTimeMs: 1000, decidedAtMs: 1000, jumpedMeanwhile: false }
    const step: Step = [1000, { kind: 'fired', fireInstanceId: 'f1', trigger: wrong, ...times }]
    expect(violationsOf(step)).toContainEqual(expect.stringMatching(/next fire time should be 2000/))
  })
})
