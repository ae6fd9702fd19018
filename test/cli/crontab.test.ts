import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { FakeHost, type FakeHostOptions, FakeOutput, temporaryFile } from './fake-host.ts'
import { screenOf } from './screen.ts'

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

/** A minute's beginning. */
const beginMs = Date.UTC(2026, 0, 1)

interface Run {
  readonly host: FakeHost
  readonly clock: ManualClock
  readonly code: Promise<number>
  /** Waits for real processes to have been reported. */
  readonly until: (pattern: RegExp) => Promise<string>
}

/** Starts `quartz-ts crontab` in this process, and returns once it has begun. */
async function start(
  text: string,
  args: readonly string[] = [],
  options: FakeHostOptions & { readonly startMs?: number } = {},
): Promise<Run> {
  const clock = new ManualClock(options.startMs ?? beginMs)
  const environment = { PATH: process.env['PATH'] ?? '', ...options.environment }
  const host = new FakeHost({ ...options, clock, environment })
  const path = temporaryFile('crontab', text)
  const code = runCli(['crontab', path, '--zone', 'UTC', '--store', 'memory', ...args], host)
  await host.stdout.until(/next |NEXT/)
  await clock.settle()
  return { host, clock, code, until: (pattern) => host.stdout.until(pattern) }
}

/** A command that goes on until the test opens its gate: until a file is there. */
function gate(): { command: string; open: () => void; path: string } {
  const path = join(temporaryFolder('quartz-ts-gate-'), 'open')
  return {
    path,
    command: `while [ ! -e ${path} ]; do sleep 0.01; done; echo through the gate`,
    open: () => {
      writeFileSync(path, '')
    },
  }
}

describe('quartz-ts crontab', () => {
  test('runs lines when they are due, ends after --for and sums up', async () => {
    const { clock, code, host, until } = await start(
      '* * * * * echo every minute\n@hourly echo never here\n',
      ['--for', '150s'],
    )
    await clock.advance(minute)
    await until(/00:01:00 .*every minute.*exit 0 +every minute\n/)
    await clock.advance(minute)
    await until(/00:02:00 .*every minute/)
    await clock.advance(minute)
    expect(await code).toBe(0)
    expect(host.stdout.text).toMatch(
      /Stopping after 2 m 30 s\.\n\n2 fires in 2 m 30 s, 0 failed, 1 job not due yet\n/,
    )
    expect(host.stderr.text).toBe('')
    expect(host.signalListeners).toBe(0)
    expect(clock.timerCount).toBe(0)
  })

  test('runs for longer than any single timer does', async () => {
    const { clock, code, host } = await start('@yearly echo never here\n', ['--for', '30d'])
    await clock.advance(30 * day - 1)
    expect(host.stdout.text).not.toContain('Stopping')
    await clock.advance(1)
    expect(await code).toBe(0)
    expect(host.stdout.text).toContain('Stopping after 30 d.')
    expect(clock.timerCount).toBe(0)
  })

  test('gives commands the variables above them, their input and the shell of the file', async () => {
    const shell = temporaryFile('shell', '#!/bin/sh\necho "shell $SHELL runs $1 $2 as $NAME of $OUTER"\n')
    chmodSync(shell, 0o755)
    const text = [
      'NAME=first',
      '@reboot cat; echo "$NAME $SHELL"%input of',
      'NAME=second',
      `SHELL=${shell}`,
      '@reboot something',
    ].join('\n')
    const { clock, code, host, until } = await start(text, [], {
      environment: { OUTER: 'outer', SHELL: '/none' },
    })
    await clock.advance(2 * second)
    await until(/exit 0 +input of\n/)
    await until(new RegExp(`exit 0 +shell ${shell} runs -c something as second of outer\n`))
    host.send('SIGTERM')
    expect(await code).toBe(0)
  })

  test('runs lines with seconds where the file says so, and @reboot lines once', async () => {
    const text = '# quartz-ts: seconds\n*/10 * * * * * echo ten\n@reboot echo once\n'
    const { clock, code, host, until } = await start(text, ['--for', '35s'])
    expect(host.stdout.text).toMatch(/next 00:00:10 {3}echo ten\nnext 00:00:01 {3}echo once/)
    for (const time of ['00:00:10', '00:00:20', '00:00:30']) {
      await clock.advance(10 * second)
      await until(new RegExp(`${time} .*exit 0 +ten`))
    }
    await clock.advance(10 * second)
    await code
    expect(host.stdout.text.match(/exit 0 +once/g)).toHaveLength(1)
  })

  test('runs a line that is due at the next whole second after the start', async () => {
    const startMs = beginMs + minute - 340
    const { clock, code, host, until } = await start(
      '@hourly echo no\n1 0 * * * echo daily\n@reboot echo up\n',
      [],
      {
        startMs,
      },
    )
    expect(host.stdout.text).toMatch(/next 00:01:00 {3}echo daily\nnext 00:01:00 {3}echo up/)
    await clock.advance(second)
    await until(/00:01:00 .*exit 0 +daily\n/)
    await until(/00:01:00 .*exit 0 +up\n/)
    host.send('SIGTERM')
    await code
  })

  test('takes the zone of a line from the file', async () => {
    const { code, host } = await start('CRON_TZ=Asia/Kathmandu\n0 12 * * * date\n')
    expect(host.stdout.text).toMatch(/next 06:15:00 {3}date/)
    host.send('SIGINT')
    await code
  })

  test.each([
    [[], 0],
    [['--fail-on-error'], 1],
  ])(
    'a command that fails is reported with its exit code and error; with %j the exit code is %d',
    async (args, exitCode) => {
      const { clock, code, host, until } = await start('@reboot echo out; echo no host >&2; exit 3\n', args)
      await clock.advance(2 * second)
      await until(/exit 3 +no host\n/)
      host.send('SIGINT')
      expect(await code).toBe(exitCode)
      expect(host.stdout.text).toMatch(/1 fire in .*, 1 failed\n/)
      expect(host.stdout.text).toMatch(/\nfailed: echo out; .*: exit 3 no host\n$/)
    },
  )

  test('a shell that does not exist fails the job, not the run', async () => {
    const { clock, code, host, until } = await start('SHELL=/no/such/shell\n@reboot date\n')
    await clock.advance(2 * second)
    await until(/failed +cannot start the shell '\/no\/such\/shell': .*ENOENT/)
    host.send('SIGINT')
    expect(await code).toBe(0)
  })

  test('ends a command that takes longer than --job-timeout', async () => {
    const { clock, code, host, until } = await start('@reboot sleep 1000\n', ['--job-timeout', '5s'])
    await clock.advance(6 * second)
    await until(/took 5 s +timeout +ended by SIGTERM\n/)
    host.send('SIGINT')
    expect(await code).toBe(0)
  })

  test('says what was missed while the machine slept, and goes on', async () => {
    const { clock, code, host, until } = await start('* * * * * echo minute\n')
    clock.jump(30 * minute + 10 * second)
    await clock.advance(minute)
    await until(/Missed 00:01:00: echo minute\n/)
    await until(/00:31:00 .*exit 0 +minute\n/)
    expect(host.stdout.text.match(/exit 0 +minute/g)).toHaveLength(1)
    host.send('SIGINT')
    await code
  })

  test('refuses a file with bad lines and starts nothing: exit code 1', async () => {
    const host = new FakeHost()
    const path = temporaryFile('crontab', '* * * * * echo good\n61 * * * * echo bad\n* * * *\n')
    expect(await runCli(['crontab', path], host)).toBe(1)
    expect(host.stderr.text).toMatch(
      /:2: .*\n(.*\n)*.*:3: .*\n(.*\n)*.*2 bad lines, 1 good entry; nothing was started\n$/,
    )
    expect(host.stdout.text).toBe('')
  })

  test('says what it does otherwise than cron', async () => {
    const text =
      'MAILTO=ops@example.com\n* * * * * root date\n* * * * * www-data date\n* * * * * alice date\n'
    const { code, host } = await start(text)
    host.send('SIGINT')
    await code
    expect(host.stdout.text).toContain('All jobs run as alice, also those of root, www-data.\n')
    expect(host.stdout.text).toContain('MAILTO is ignored: no mail is sent, results are shown here.\n')
  })
})

describe('Ctrl-C', () => {
  test('lets running jobs end, starts no further ones, and sums up', async () => {
    const door = gate()
    const { clock, code, host, until } = await start(`@reboot ${door.command}\n* * * * * echo too late\n`)
    await clock.advance(2 * second)
    host.send('SIGINT')
    await until(/Stopping: waiting up to 10 s for 1 running job; Ctrl-C ends at once\.\n/)
    door.open()
    expect(await code).toBe(0)
    expect(host.stdout.text).toMatch(/exit 0 +through the gate\n\n1 fire in /)
    expect(host.signalListeners).toBe(0)
    expect(clock.timerCount).toBe(0)
  })

  test('ends jobs that do not end within --drain', async () => {
    const { clock, code, host, until } = await start('@reboot sleep 1000\n', ['--drain', '3s'])
    await clock.advance(2 * second)
    host.send('SIGINT')
    await until(/waiting up to 3 s/)
    await clock.advance(3 * second)
    await until(/1 job still running: told to end\.\n/)
    expect(await code).toBe(0)
    expect(host.stdout.text).toMatch(/stopped +ended by SIGTERM\n/)
  })

  test('a second time ends at once, with 130', async () => {
    const pidFile = `${gate().path}.pid`
    const { clock, code, host, until } = await start(`@reboot echo $$ > ${pidFile}; exec sleep 1000\n`)
    await clock.advance(2 * second)
    const pid = await vi.waitFor(
      () => {
        // The shell makes the file before it writes into it.
        const text = readFileSync(pidFile, 'utf8')
        expect(text).toMatch(/^\d+\n$/)
        return Number.parseInt(text, 10)
      },
      { timeout: 30_000 },
    )
    host.send('SIGINT')
    await until(/waiting up to/)
    await clock.advance(500)
    host.send('SIGINT')
    expect(await code).toBe(130)
    expect(host.stdout.text).toMatch(/1 fire in /)
    await vi.waitFor(
      () => {
        expect(() => process.kill(pid, 0)).toThrow('ESRCH')
      },
      { timeout: 30_000 },
    )
  })
})

describe('signals that mean one thing', () => {
  test('npm passes on the Ctrl-C that the terminal has sent already: that is no second one', async () => {
    const door = gate()
    const { clock, code, host, until } = await start(`@reboot ${door.command}\n`)
    await clock.advance(2 * second)
    host.send('SIGINT')
    host.send('SIGINT')
    await until(/waiting up to/)
    await clock.advance(100)
    host.send('SIGINT')
    door.open()
    expect(await code).toBe(0)
  })

  test('another signal is a second one at any time', async () => {
    const { clock, code, host } = await start('@reboot sleep 1000\n')
    await clock.advance(2 * second)
    host.send('SIGINT')
    host.send('SIGTERM')
    expect(await code).toBe(130)
  })
})

describe('on a terminal', () => {
  const text = '@reboot echo hello\n'

  test('a table is drawn in place, and the summary stands below it', async () => {
    const stdout = new FakeOutput({ isTerminal: true, columns: 100, rows: 30 })
    const { clock, code, host } = await start(text, [], { stdout })
    await clock.advance(2 * second)
    while (!/exit 0.*hello/.test(screenOf(stdout.text).lines.join('\n'))) await clock.advance(100)
    host.send('SIGINT')
    await code
    const { hasCursor, lines } = screenOf(stdout.text)
    expect(hasCursor).toBe(true)
    expect(lines[0]).toBe('Stopping.')
    expect(lines[1]).toMatch(/^quartz-ts .*crontab +Thu 2026-01-01 .* UTC$/)
    expect(lines.filter((line) => line.startsWith('echo hello'))).toHaveLength(2)
    expect(lines.join('\n')).toMatch(/\n1 fire in .*, 0 failed\n/)
    expect(stdout.text).toContain('\u001b[32mexit 0')
    expect(stdout.resizeListeners).toBe(0)
  })

  test.each([
    [['--plain', '--no-color'], {}],
    [['--plain'], { NO_COLOR: '1' }],
    [['--no-color'], { TERM: 'dumb' }],
  ])('%j with %j prints lines without any escape sequence', async (args, environment) => {
    const stdout = new FakeOutput({ isTerminal: true })
    const { clock, code, host, until } = await start(text, args, { stdout, environment })
    await clock.advance(2 * second)
    await until(/exit 0 +hello\n/)
    host.send('SIGINT')
    await code
    expect(stdout.text).not.toContain('\u001b')
  })
})
