import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { projectRoot } from '../support/source-files.ts'
import { temporaryFolders } from '../support/temporary-folder.ts'

const main = join(projectRoot, 'dist/cli/main.js')
const temporaryFolder = temporaryFolders()

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The built command, running. */
class Command {
  readonly child: ChildProcess
  readonly exit: Promise<Exit>
  stdout = ''
  stderr = ''
  readonly #waiting = new Set<() => void>()

  constructor(args: readonly string[], folder: string, uid?: number) {
    const environment = { ...process.env, NO_COLOR: '', TZ: 'Europe/Paris' }
    this.child = spawn(process.execPath, [main, ...args], { cwd: folder, env: environment, uid })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString()
      for (const look of [...this.#waiting]) look()
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString()
    })
    this.exit = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal })
      })
    })
  }

  /** Resolves once the standard output matches; rejects when the command ends before. */
  async until(pattern: RegExp): Promise<void> {
    if (pattern.test(this.stdout)) return
    await new Promise<void>((resolve, reject) => {
      // Before the test's own limit, which would not tell what the command has said.
      const limit = setTimeout(() => {
        reject(new Error(`goes on without ${String(pattern)}:\n${this.stdout}\n${this.stderr}`))
      }, 90_000)
      const look = (): void => {
        if (!pattern.test(this.stdout)) return
        this.#waiting.delete(look)
        clearTimeout(limit)
        resolve()
      }
      this.#waiting.add(look)
      void this.exit.then(() => {
        clearTimeout(limit)
        reject(new Error(`ended without ${String(pattern)}:\n${this.stdout}\n${this.stderr}`))
      })
    })
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }
}

const started: Command[] = []

function run(...args: readonly string[]): Command {
  return runIn(projectRoot, ...args)
}

function runIn(folder: string, ...args: readonly string[]): Command {
  return start(new Command(args, folder))
}

function start(command: Command): Command {
  started.push(command)
  return command
}

/** The user id that systems give to nobody. */
const nobody = 65_534
const setpriv = '/usr/bin/setpriv'
const canBeNobody =
  existsSync(setpriv) && spawnSync(process.execPath, [main, '--version'], { uid: nobody }).status === 0

function crontab(text: string, ...args: readonly string[]): Command {
  return runIn(crontabFolder(text), 'crontab', 'crontab', ...args)
}

/** A folder that holds a crontab, and where its store will be. */
function crontabFolder(text: string): string {
  const folder = temporaryFolder('quartz-ts-crontab-')
  writeFileSync(join(folder, 'crontab'), text)
  return folder
}

afterAll(() => {
  for (const command of started.splice(0)) command.kill('SIGKILL')
})

describe('quartz-ts next', () => {
  test('prints times in the zone of the machine and ends with 0', async () => {
    const command = run('next', '0 0 12 ? * MON-FRI', '--from', '2026-03-27T12:00:00Z', '--count', '1')
    expect(await command.exit).toEqual({ code: 0, signal: null })
    expect(command.stdout).toMatch(/^in words +At 12:00, Monday through Friday$/m)
    expect(command.stdout).toMatch(/^1 {2}Mon 2026-03-30 12:00:00 \+02:00 {3}2026-03-30T10:00:00Z/m)
    expect(command.stderr).toBe('')
  })

  test('ends when its reader has all of the output, however slow that is', async () => {
    const command = run('next', '* * * * *', '--count', '10000')
    const { stdout } = command.child
    stdout?.pause()
    // What fits on the way is on the way; the rest waits in the command.
    await vi.waitFor(
      () => {
        expect(stdout?.readableLength).toBeGreaterThanOrEqual(stdout?.readableHighWaterMark ?? 0)
      },
      { timeout: 60_000 },
    )
    stdout?.resume()
    expect(await command.exit).toEqual({ code: 0, signal: null })
    expect(command.stdout).toMatch(/^10000 {2}/m)
  })

  test('ends quietly when its reader goes away', async () => {
    const command = run('next', '* * * * *', '--count', '10000')
    command.child.stdout?.destroy()
    expect(await command.exit).toEqual({ code: 0, signal: null })
    expect(command.stderr).toBe('')
  })
})

const withFullDisk = describe.skipIf(!existsSync('/dev/full')) // reason: other systems have no such device

withFullDisk('on a full disk', () => {
  test.each([
    ['the output of a command ends with 1 and says so', ['next', '* * * * *'], false],
    ['a crontab goes on', ['crontab', 'every-second', '--store', 'memory', '--for', '3s'], true],
  ])('%s', (_, args, runsJobs) => {
    const folder = temporaryFolder('quartz-ts-full-')
    writeFileSync(join(folder, 'every-second'), '# quartz-ts: seconds\n* * * * * * touch ran\n')
    const full = openSync('/dev/full', 'w')
    const stdio: StdioOptions = ['ignore', full, 'pipe']
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, stdio })
    closeSync(full)
    expect(existsSync(join(folder, 'ran'))).toBe(runsJobs)
    // Its summary comes when nothing runs any more.
    expect(stderr.toString()).toMatch(/^quartz-ts: the output cannot be written: ENOSPC.*\n$/)
    expect(status).toBe(1)
  })
})

test('quartz-ts validate names every bad line of a file and ends with 1', async () => {
  const path = join(temporaryFolder('quartz-ts-crontab-'), 'crontab')
  const good = '*/5 * * * * date'
  const bad = [
    '61 * * * * date',
    '* 24 * * * date',
    '* * 0 * * date',
    '* * * JANUARY * date',
    '* * * * MOO date',
    '* *',
  ]
  writeFileSync(path, ['# comment', 'SHELL=/bin/sh', ...bad.flatMap((line) => [good, line])].join('\n'))
  const command = run('validate', path)
  expect(await command.exit).toEqual({ code: 1, signal: null })
  const lines = [...command.stdout.matchAll(/crontab:(\d+): .* \(([\w-]+) field/g)]
  expect(lines.map(([, line, field]) => `${line ?? ''} ${field ?? ''}`)).toEqual([
    '4 minute',
    '6 hour',
    '8 day-of-month',
    '10 month',
    '12 day-of-week',
    '14 day-of-month',
  ])
  expect(command.stdout).toContain('6 bad lines, 6 good entries')
})

test('a wrong command line ends with 2', async () => {
  const command = run('crontab', '--fro', '20s')
  expect(await command.exit).toEqual({ code: 2, signal: null })
  expect(command.stderr).toBe(
    "quartz-ts: Unknown option '--fro'. Did you mean '--for'?\nTry 'quartz-ts crontab --help'.\n",
  )
})

describe('quartz-ts crontab', { concurrent: true }, () => {
  test('fires the example with worker jobs in threads of their own, and ends by itself', async () => {
    const store = join(temporaryFolder('quartz-ts-store-'), 'jobs.db')
    const command = run('crontab', 'examples/crontab', '--for', '14s', '--store', store)
    expect(await command.exit).toEqual({ code: 0, signal: null })
    const { stdout } = command
    expect(stdout.match(/^\d\d:\d\d:\d\d +date .* exit 0 +it is /gm)?.length).toBeGreaterThan(1)
    // The main thread is number 0.
    expect(stdout).toMatch(
      /hash examples \(worker\) .* done +\d+ files, \d+ bytes, sha256 \w{12} \(thread [1-9]/,
    )
    expect(stdout).toMatch(/find primes \(worker\) .* done +78498 primes below 1000000 \(thread [1-9]/)
    expect(stdout).toMatch(/^\d+ fires in 1\d/m)
    expect(command.stderr).toBe('')
  })

  test('ends a command that takes too long', async () => {
    const command = crontab('@reboot sleep 60\n', '--job-timeout', '1s')
    await command.until(/sleep 60 .* timeout +ended by SIGTERM\n/)
    command.kill('SIGTERM')
    expect(await command.exit).toEqual({ code: 0, signal: null })
    expect(command.stdout).toMatch(/^1 fire in .*, 1 failed$/m)
  })

  const withTwoUsers = test.skipIf(!canBeNobody) // reason: only root can make a command that becomes another user
  withTwoUsers('goes on when it may not end a command', async () => {
    const folder = crontabFolder(`@reboot ./become sleep 60\n@reboot sleep 61\n@reboot exec sleep 62\n`)
    // Changes its real user to root, where the CLI runs as nobody; then nobody may signal it.
    copyFileSync(setpriv, join(folder, 'setpriv'))
    chmodSync(join(folder, 'setpriv'), 0o4755)
    writeFileSync(join(folder, 'become'), 'exec ./setpriv --reuid 0 --regid 0 --clear-groups "$@"\n')
    chmodSync(join(folder, 'become'), 0o755)
    chownSync(folder, nobody, nobody)
    const args = ['crontab', 'crontab', '--job-timeout', '1s', '--store', 'memory']
    const command = start(new Command(args, folder, nobody))
    await command.until(/sleep 61 .* timeout +ended by SIGTERM\n/)
    await command.until(/sleep 62 .* timeout +ended by SIGTERM\n/)
    const left = /become sleep 60 .* timeout +left running, as process group (\d+) cannot be ended \(EPERM\)/
    await command.until(left)
    process.kill(-Number(left.exec(command.stdout)?.[1]), 'SIGKILL')
    command.kill('SIGTERM')
    expect(await command.exit).toEqual({ code: 0, signal: null })
    expect(command.stderr).toBe('')
  })

  test('reports exit codes and what was said, and ends with 1 under --fail-on-error', async () => {
    const command = crontab('@reboot echo no paper >&2; exit 9\n@reboot echo fine\n', '--fail-on-error')
    await command.until(/exit 9 +no paper\n/)
    await command.until(/exit 0 +fine\n/)
    command.kill('SIGTERM')
    expect(await command.exit).toEqual({ code: 1, signal: null })
    expect(command.stdout).toMatch(/^2 fires in .*, 1 failed$/m)
  })

  test('waits after Ctrl-C for what runs, prints the summary and ends by itself', async () => {
    const gate = join(temporaryFolder('quartz-ts-gate-'), 'open')
    const waiting = `@reboot while [ ! -e ${gate} ]; do sleep 0.05; done; echo through the gate`
    const command = crontab(`# quartz-ts: seconds\n${waiting}\n* * * * * * echo tick\n`, '--drain', '100s')
    await command.until(/echo tick .*exit 0/)
    command.kill('SIGINT')
    await command.until(/^Stopping: waiting up to 1 m 40 s for \d running jobs?/m)
    writeFileSync(gate, '')
    expect(await command.exit).toEqual({ code: 0, signal: null })
    expect(command.stdout).toMatch(/exit 0 +through the gate\n(.*\n)*\n\d+ fires in /)
    expect(command.stdout).toMatch(/^all +\d+ +0( +[\d.]+ m?s){3}$/m)
  })

  test('ends at once at a second signal', async () => {
    const command = crontab('@reboot echo started; sleep 60\n* * * * * true\n@reboot true\n')
    await command.until(/true .*exit 0/)
    command.kill('SIGINT')
    await command.until(/waiting up to/)
    command.kill('SIGTERM')
    expect(await command.exit).toEqual({ code: 130, signal: null })
  })

  test('keeps its jobs in a file, also through SIGKILL', async () => {
    const folder = crontabFolder('# quartz-ts: seconds\n* * * * * * echo tick\n')
    const killed = runIn(folder, 'crontab', 'crontab')
    await killed.until(/^Jobs are kept in quartz-ts\.db\.$/m)
    await killed.until(/echo tick .*exit 0/)
    killed.kill('SIGKILL')
    expect(await killed.exit).toEqual({ code: null, signal: 'SIGKILL' })

    const again = runIn(folder, 'crontab', 'crontab')
    await again.until(/echo tick .*exit 0/)
    again.kill('SIGTERM')
    expect(await again.exit).toEqual({ code: 0, signal: null })
    expect(again.stderr).toBe('')
  })

  test('reads the file of settings that is beside it: store, port and how long jobs may go on', async () => {
    const running = '@reboot touch running; sleep 60\n'
    const folder = crontabFolder(`${running}@reboot while [ ! -e running ]; do sleep 0.05; done; echo seen\n`)
    const settings = `{ jobStore: 'sqlite:own.db', serve: { port: 0 }, drainMs: 100_000 }`
    writeFileSync(join(folder, 'quartz-ts.config.mjs'), `export default ${settings}\n`)
    const command = runIn(folder, 'crontab', 'crontab')
    await command.until(/^Jobs are kept in .*own\.db\.$/m)
    await command.until(/Dashboard: http:\/\/127\.0\.0\.1:\d+\/#token=/)
    expect([existsSync(join(folder, 'own.db')), existsSync(join(folder, 'quartz-ts.db'))]).toEqual([
      true,
      false,
    ])
    await command.until(/exit 0 +seen/)
    command.kill('SIGTERM')
    await command.until(/^Stopping: waiting up to 1 m 40 s for 1 running job/m)
    command.kill('SIGINT')
    expect(await command.exit).toEqual({ code: 130, signal: null })
  })

  test('goes on in memory, and says why, when the file that nobody asked for cannot be used', async () => {
    const folder = crontabFolder('@reboot echo up\n')
    mkdirSync(join(folder, 'quartz-ts.db'))
    const command = runIn(folder, 'crontab', 'crontab')
    await command.until(/^Jobs are kept in memory: .*quartz-ts\.db/m)
    await command.until(/exit 0 +up/)
    command.kill('SIGTERM')
    expect(await command.exit).toEqual({ code: 0, signal: null })
  })

  test('is refused a file from which another process fires the same crontab', async () => {
    const folder = crontabFolder('@reboot echo up\n')
    const first = runIn(folder, 'crontab', 'crontab')
    await first.until(/exit 0 +up/)
    const second = runIn(folder, 'crontab', 'crontab')
    expect(await second.exit).toEqual({ code: 1, signal: null })
    expect(second.stderr).toMatch(/^quartz-ts: .*quartz-ts\.db' is in use/)
    first.kill('SIGTERM')
    await first.exit
    expect(first.stdout.match(/exit 0 +up/g)).toHaveLength(1)
  })
})
