import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../fixtures/workers/process.mjs', import.meta.url))

/** Rejects when the process does not end by itself. */
async function outputOf(use: string): Promise<string[]> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, use], { timeout: 60_000 })
  expect(stderr).toBe('')
  return stdout.trim().split('\n')
}

const printed = ['from the worker', 'and once more']

describe('a process with a pool of worker threads ends by itself', () => {
  it('after the shutdown, with the output of its threads whole', async () => {
    expect(await outputOf('shutdown')).toEqual([...printed, 'result {"echoed":true}', 'shut down'])
  })

  it('with idle threads, also without a shutdown', async () => {
    expect(await outputOf('forget')).toEqual([...printed, 'result {"echoed":true}', 'forgotten'])
  })

  it('but not before a thread that is still starting has done its work', async () => {
    expect(await outputOf('cold')).toEqual([...printed, 'result {"echoed":true}', 'forgotten'])
  })

  it('when an execution that outlived the shutdown ends', async () => {
    expect(await outputOf('leave')).toEqual([
      ...printed,
      'result {"echoed":true}',
      'running 1',
      ...printed,
      'result {"late":true}',
    ])
  })
})
