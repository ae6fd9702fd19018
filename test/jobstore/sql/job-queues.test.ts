import { expect, test } from 'vitest'
import { JobKey } from '../../../src/core/key.ts'
import { JobQueues } from '../../../src/jobstore/sql/programs/scheduling/job-queues.ts'

interface Run {
  readonly calls: readonly string[]
  readonly isFirst: boolean
  /** Ends the run with so many of its calls. */
  readonly end: (ended: number) => void
}

function queues() {
  const runs: Run[] = []
  let onRun = (): void => {}
  const ended: string[] = []
  const jobs = new JobQueues<string>(
    (queued, { isFirst }) =>
      new Promise((resolve) => {
        runs.push({ calls: queued.map(({ call }) => call), isFirst, end: resolve })
        onRun()
      }),
  )
  const run = (job: string, ...calls: readonly string[]): void => {
    for (const call of calls) void jobs.run(new JobKey(job), call, 0).then(() => ended.push(call))
  }
  const nextRun = async (): Promise<Run> => {
    if (runs.length === 0) {
      await new Promise<void>((resolve) => {
        onRun = resolve
      })
    }
    return runs.shift() as Run
  }
  return { jobs, run, nextRun, ended }
}

test('calls that begin to wait together run together, and those behind them when these have ended', async () => {
  const { jobs, run, nextRun, ended } = queues()
  run('a', '1', '2')
  const first = await nextRun()
  expect(first).toMatchObject({ calls: ['1', '2'], isFirst: true })
  run('a', '3')
  run('a', '4')
  first.end(2)
  const second = await nextRun()
  expect(second).toMatchObject({ calls: ['3', '4'], isFirst: false })
  expect(ended).toEqual(['1', '2'])
  expect(jobs.has(new JobKey('a'))).toBe(true)
  second.end(2)
  await expect.poll(() => jobs.has(new JobKey('a'))).toBe(false)
  expect(ended).toEqual(['1', '2', '3', '4'])
})

test('calls of a run that have not ended wait on, before those that came later', async () => {
  const { run, nextRun, ended } = queues()
  run('a', '1', '2')
  const first = await nextRun()
  run('a', '3')
  first.end(1)
  const second = await nextRun()
  expect(second.calls).toEqual(['2', '3'])
  expect(ended).toEqual(['1'])
})

test('each job has a queue of its own', async () => {
  const { run, nextRun } = queues()
  run('a', '1')
  run('b', '2')
  expect([(await nextRun()).calls, (await nextRun()).calls]).toEqual([['1'], ['2']])
})
