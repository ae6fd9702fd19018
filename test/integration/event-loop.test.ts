import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { cleanEnd, runProcess } from '../support/process-run.ts'

const script = fileURLToPath(new URL('../fixtures/event-loop/process.mjs', import.meta.url))

describe('a process whose tasks take longer than the time between them', () => {
  it.each([
    ['@Scheduled methods at a fixed rate', 'fixedRate'],
    ['two executors', 'twoExecutors'],
    ['a hundred executors', 'manyExecutors'],
    ['a job that refires itself', 'refire'],
    ['a timer', 'timer'],
    ['a queue of asynchronous tasks', 'queue'],
  ])('goes on to serve its timers and signals beside %s', async (_name, life) => {
    const end = await runProcess(script, [life], (line, child) => {
      if (line === 'timers fire') child.kill('SIGTERM')
    })
    expect(end).toEqual({ ...cleanEnd, lines: ['timers fire', 'terminated'] })
  })
})
