import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { addressIn, endOf, packedApplication, said, start } from '../support/application.ts'
import { projectRoot } from '../support/source-files.ts'

const run = promisify(execFile)
const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

/** The command line that a file of examples starts, with the addresses of this machine. */
function commandOf(line: string, folder: string): readonly string[] {
  return line.replace('/usr/bin/node ', '').replace('%S/quartz-ts', folder).split(' ')
}

/** Starts a node of the packed file, asks it something with its token, and ends it as an orchestrator does. */
async function servesAndDrains(args: readonly string[]): Promise<void> {
  const folder = await packedApplication()
  const child = start(args, folder)
  const ended = endOf(child)
  const { address, token } = addressIn(await said(child, /http:\S+#token=\S+\n/))
  expect((await fetch(`${address}/health/live`)).status).toBe(200)
  const main = join(folder, 'node_modules/quartz-ts/dist/cli/main.js')
  const asked = [main, 'nodes', '--json', '--server', address]
  const { stdout } = await run(process.execPath, asked, { env: { ...process.env, QUARTZ_TS_TOKEN: token } })
  expect(JSON.parse(stdout)).toHaveProperty('items')
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(existsSync(join(folder, 'jobs.db'))).toBe(true)
}

describe('the container file', () => {
  const file = read('examples/container/Dockerfile')
  const lines = file
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

  test('has instructions alone, and does not run as root', () => {
    const known = /^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|HEALTHCHECK|STOPSIGNAL|CMD) \S/
    expect(lines.filter((line) => !known.test(line))).toEqual([])
    expect(lines.findIndex((line) => line === 'USER node')).toBeGreaterThan(0)
    // The shell form would have a shell get the signals.
    expect(lines.at(-1)).toMatch(/^CMD \[/)
  })

  test('starts a node that is healthy, answers and drains', async () => {
    const command = JSON.parse(lines.at(-1)?.slice('CMD '.length) ?? '') as string[]
    expect(command[0]).toBe('node')
    await servesAndDrains(command.slice(1))
  })

  test('asks for its health in a way that tells a server from none', () => {
    const line = lines.find((each) => each.startsWith('HEALTHCHECK')) ?? ''
    const [, ...args] = JSON.parse(line.slice(line.indexOf('['))) as string[]
    const away = args.map((arg) => arg.replace(':8080', ':1'))
    expect(spawnSync(process.execPath, away).status).toBe(1)
  })
})

describe('the unit of systemd', () => {
  const unit = read('examples/systemd/quartz-ts.service')

  test('starts a node that answers and drains', async () => {
    const line = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? ''
    await servesAndDrains(commandOf(line, mkdtempSync(join(tmpdir(), 'quartz-ts-state-'))))
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  const withSystemd = test.skipIf(!hasSystemd) // reason: only systemd knows what a unit may say
  withSystemd('is one that systemd takes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-unit-'))
    const path = join(folder, 'quartz-ts.service')
    cpSync(join(projectRoot, 'examples/systemd/quartz-ts.service'), path)
    writeFileSync(path, unit.replace('/usr/bin/node', process.execPath))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    expect([status, stderr.split('\n').filter((line) => line.includes('quartz-ts'))]).toEqual([0, []])
  })
})
