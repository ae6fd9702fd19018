import { afterEach, describe, expect, test } from 'vitest'
import { capturedBytesMax } from '../../src/cli/crontab/captured-output.ts'
import {
  type Kill,
  type ProcessRequest,
  type ProcessResult,
  processRunner,
} from '../../src/cli/crontab/process-runner.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const graceMs = 5000

function request(command: string, parts: Partial<ProcessRequest> = {}): ProcessRequest {
  const environment = { PATH: process.env['PATH'] }
  const { signal } = new AbortController()
  return { shell: '/bin/sh', command, environment, input: null, signal, ...parts }
}

const runner = processRunner(systemClock, graceMs)

describe('a command', () => {
  test('gives its exit code and both outputs', async () => {
    const result = await runner.run(request('echo out; echo err >&2; exit 3'))
    expect(result).toEqual({ exitCode: 3, signalName: null, stdout: 'out\n', stderr: 'err\n' })
  })

  test('has the given environment and no other', async () => {
    const environment = { PATH: process.env['PATH'], GREETING: 'hello' }
    const { stdout } = await runner.run(request('echo "$GREETING$HOME"', { environment }))
    expect(stdout).toBe('hello\n')
  })

  test('reads its input, or nothing when there is none', async () => {
    expect((await runner.run(request('sort', { input: 'b\na\n' }))).stdout).toBe('a\nb\n')
    expect((await runner.run(request('cat'))).stdout).toBe('')
  })

  test('that does not read its input is no error', async () => {
    const { exitCode } = await runner.run(request('exec 0<&-; exit 0', { input: 'x'.repeat(1_000_000) }))
    expect(exitCode).toBe(0)
  })

  test('that kills itself is reported with the signal', async () => {
    const { exitCode, signalName } = await runner.run(request('kill -SEGV $$'))
    expect({ exitCode, signalName }).toEqual({ exitCode: null, signalName: 'SIGSEGV' })
  })

  test('that prints without end to a full pipe goes on, and the beginning is kept', async () => {
    const { exitCode, stdout } = await runner.run(request('yes | head -c 1000000'))
    expect(exitCode).toBe(0)
    expect(stdout).toHaveLength(capturedBytesMax)
  })

  test('in a shell that does not exist rejects', async () => {
    await expect(runner.run(request('true', { shell: '/no/such/shell' }))).rejects.toThrow('ENOENT')
  })
})

describe('an abort', () => {
  /** What a command does when it is ready to be aborted: its parent, this process, gets the signal. */
  const ready = 'kill -USR2 $PPID'

  /** Starts a command and aborts it once it is ready. */
  async function abortWhenReady(
    command: string,
    clock: ManualClock,
    kill?: Kill,
  ): Promise<{ result: Promise<ProcessResult>; hasEnded: () => boolean }> {
    const controller = new AbortController()
    const isReady = new Promise<void>((resolve) => {
      process.once('SIGUSR2', () => {
        resolve()
      })
    })
    let hasEnded = false
    const result = processRunner(clock, graceMs, kill)
      .run(request(command, { signal: controller.signal }))
      .finally(() => {
        hasEnded = true
      })
    await isReady
    controller.abort()
    return { result, hasEnded: () => hasEnded }
  }

  test('ends a command with SIGTERM', async () => {
    const clock = new ManualClock()
    const { result } = await abortWhenReady(`${ready}; exec sleep 1000`, clock)
    expect(await result).toMatchObject({ exitCode: null, signalName: 'SIGTERM' })
    expect(clock.timerCount).toBe(0)
  })

  test('lets a command end in its own way and keeps what it said', async () => {
    const command = `trap 'echo tidied up; exit 7' TERM; ${ready}; while :; do sleep 0.01; done`
    const { result } = await abortWhenReady(command, new ManualClock())
    expect(await result).toMatchObject({ exitCode: 7, stdout: 'tidied up\n' })
  })

  test('ends its children too', async () => {
    // Children that went on would hold the output open, and the result would never come.
    const { result } = await abortWhenReady(`sleep 1000 & sleep 1000 & ${ready}; wait`, new ManualClock())
    expect(await result).toMatchObject({ signalName: 'SIGTERM' })
  })

  test('becomes SIGKILL when the grace is over', async () => {
    const clock = new ManualClock()
    const { hasEnded, result } = await abortWhenReady(`trap '' TERM; ${ready}; sleep 1000`, clock)
    await clock.advance(graceMs - 1)
    expect(hasEnded()).toBe(false)
    await clock.advance(1)
    expect(await result).toMatchObject({ signalName: 'SIGKILL' })
  })

  test('does not wait for ever for a process that left the group and holds the output', async () => {
    const clock = new ManualClock()
    const script = `const { spawn } = require('node:child_process')
      const { pid } = spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' })
      process.stdout.write(String(pid), () => process.exit())`
    const leave = `'${process.execPath}' -e "${script}"`
    const { hasEnded, result } = await abortWhenReady(`${leave}; ${ready}; exec sleep 1000`, clock)
    await clock.advance(2 * graceMs - 1)
    expect(hasEnded()).toBe(false)
    await clock.advance(1)
    const { signalName, stdout } = await result
    process.kill(Number(stdout), 'SIGKILL')
    expect(signalName).toBe('SIGTERM')
  })

  test('that came before the start ends the command at once', async () => {
    const signal = AbortSignal.abort()
    expect(await runner.run(request('sleep 1000', { signal }))).toMatchObject({ signalName: 'SIGTERM' })
  })

  test('of all ends every command with SIGKILL', async () => {
    const several = processRunner(systemClock, graceMs)
    const results = [several.run(request('sleep 1000')), several.run(request('sleep 2000'))]
    several.killAll()
    expect(await Promise.all(results)).toMatchObject([{ signalName: 'SIGKILL' }, { signalName: 'SIGKILL' }])
  })
})

describe('a command that may not be ended', () => {
  const runs: number[] = []

  /** As for a command that has become another user. */
  const refusing: Kill = (pid) => {
    runs.push(-pid)
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  }

  afterEach(() => {
    for (const pid of new Set(runs.splice(0))) process.kill(-pid, 'SIGKILL')
  })

  test('is left running when the grace of both signals is over, and that is said', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const result = processRunner(clock, graceMs, refusing).run(
      request('sleep 1000', { signal: controller.signal }),
    )
    controller.abort()
    await clock.advance(2 * graceMs)
    const { exitCode, leftRunning, signalName } = await result
    expect({ exitCode, signalName }).toEqual({ exitCode: null, signalName: null })
    expect(leftRunning).toMatch(/^process group \d+ cannot be ended \(EPERM\): it has become another user$/)
    expect(clock.timerCount).toBe(0)
  })

  test('may still end by itself', async () => {
    const signal = AbortSignal.abort()
    const result = await processRunner(new ManualClock(), graceMs, refusing).run(
      request('exit 4', { signal }),
    )
    runs.splice(0)
    expect(result).toEqual({ exitCode: 4, signalName: null, stdout: '', stderr: '' })
  })

  test('keeps no other from being ended', async () => {
    let killed = 0
    const refusingFirst: Kill = (pid, signalName) => {
      killed++
      if (killed === 1) refusing(pid, signalName)
      process.kill(pid, signalName)
    }
    const clock = new ManualClock()
    const several = processRunner(clock, graceMs, refusingFirst)
    const [first, second] = [several.run(request('sleep 1000')), several.run(request('sleep 2000'))]
    expect(several.killAll()).toEqual([expect.stringContaining('(EPERM)')])
    expect(await second).toMatchObject({ signalName: 'SIGKILL' })
    await clock.advance(graceMs)
    expect(await first).toMatchObject({ leftRunning: expect.stringContaining('(EPERM)') as string })
  })
})
