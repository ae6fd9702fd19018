import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { laterNode } from '../support/other-runtimes.ts'

const script = fileURLToPath(new URL('../fixtures/sqlite/full-disk.mjs', import.meta.url))
const opening = fileURLToPath(new URL('../fixtures/sqlite/opens-on-full-disk.mjs', import.meta.url))
const megabyte = 2 ** 20

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quartz-ts-full-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Runs a command where a disk of that size is mounted on a folder; the mount is the command's own and ends with it. */
function onSmallDisk(size: string, at: string, command: readonly string[]): { code: unknown; out: string } {
  const mount = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && exec "$@"'
  const own = process.getuid?.() === 0 ? '-m' : '-Urm'
  const args = [own, 'sh', '-c', mount, 'sh', size, at, ...command]
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', timeout: 120_000 })
  return { code: status, out: [stdout, stderr].join('') }
}

interface Seen {
  readonly runs: number
  readonly reported: readonly string[]
  readonly largest: number
}

const drivers = [
  { driver: 'better-sqlite3', node: [process.execPath] },
  { driver: 'node:sqlite', node: laterNode },
]
const canMount = onSmallDisk('1m', tmpdir(), ['true']).code === 0
const mounted = describe.skipIf(!canMount) // reason: not every system lets a process mount a disk of its own

mounted.each(drivers)('a small disk, with $driver', ({ driver, node }) => {
  const there = test.skipIf(node === null) // reason: Node.js 20 has no node:sqlite, and npm fetched no 22
  const run = (size: string, ...args: readonly string[]): Seen => {
    const { code, out } = onSmallDisk(size, folder, [...(node ?? []), script, folder, driver, ...args])
    expect(code, out).toBe(0)
    return JSON.parse(out.split('\n').find((line) => line.startsWith('{')) ?? '{}') as Seen
  }

  there('the log leaves room for a database that grows', () => {
    const { largest, ...seen } = run('16m', 'empty', 'history')
    expect(seen).toEqual({ runs: 600, reported: [] })
    expect(largest).toBeLessThan(3 * megabyte)
  })

  there('the log is emptied when another program has filled the disk', () => {
    const { largest, ...seen } = run('64m', 'filled', 'none')
    expect(seen).toEqual({ runs: 600, reported: [] })
    expect(largest).toBeGreaterThan(megabyte / 2)
    expect(largest).toBeLessThan(2 * megabyte)
  })

  there('a file that is opened on a full disk says that the disk may be full', () => {
    const { code, out } = onSmallDisk('4m', folder, [...(node ?? []), opening, folder, driver])
    expect(code, out).toBe(0)
    expect(out).toMatch(/ERR_DATABASE_UNAVAILABLE.*[Tt]he disk may be full/)
  })
})
