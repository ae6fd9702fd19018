import fs, {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeJson } from '../../src/cli/steering/files.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { FakeHost } from './fake-host.ts'

/** A disk that fills up takes a part of what is written to it. */
function withFullDisk(does: () => void): void {
  const { writeFileSync: real } = fs
  fs.writeFileSync = (file, data, options) => {
    real(file, (data as string).slice(0, 3), options)
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  syncBuiltinESMExports()
  try {
    does()
  } finally {
    fs.writeFileSync = real
    syncBuiltinESMExports()
  }
}

function write(file: string, value: object): void {
  writeJson(value, file, new FakeHost())
}

const written = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))

test('a file that cannot be written whole leaves the former one as it was, and nothing beside it', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'all.json')
  write(file, { jobs: 1 })
  withFullDisk(() => {
    expect(() => {
      write(file, { jobs: 2 })
    }).toThrow(/--out: ENOSPC/)
  })
  expect(written(file)).toEqual({ jobs: 1 })
  expect(readdirSync(folder)).toEqual(['all.json'])
  write(file, { jobs: 2 })
  expect(written(file)).toEqual({ jobs: 2 })
  expect(readdirSync(folder)).toEqual(['all.json'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test.each([
  ['all.json', 'beside it'],
  ['x'.repeat(250), 'in place, as its name leaves no room for that of another'],
])('a new file that cannot be written whole is not there: %s, %s', (name) => {
  const folder = temporaryFolder()
  const file = join(folder, name)
  const link = join(folder, 'link.json')
  symlinkSync(name, link)
  for (const written of [file, link]) {
    withFullDisk(() => {
      expect(() => {
        write(written, { jobs: 1 })
      }).toThrow(/--out: ENOSPC/)
    })
    expect(readdirSync(folder)).toEqual(['link.json'])
  }
})

test('a new file has no name until all of it is written, and is for this user alone', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'all.json')
  const { writeFileSync: real } = fs
  const seen: boolean[] = []
  fs.writeFileSync = (...args) => {
    seen.push(existsSync(file))
    real(...args)
  }
  syncBuiltinESMExports()
  try {
    write(file, { jobs: 1 })
  } finally {
    fs.writeFileSync = real
    syncBuiltinESMExports()
  }
  expect(seen).toEqual([false])
  expect(written(file)).toEqual({ jobs: 1 })
  expect(readdirSync(folder)).toEqual(['all.json'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a link to a link, in a folder behind a link, gets its new file where it points to', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'deep', 'real'), { recursive: true })
  symlinkSync(join('deep', 'real'), join(folder, 'way'))
  symlinkSync(join('..', 'first.json'), join(folder, 'deep', 'real', 'link.json'))
  symlinkSync('all.json', join(folder, 'deep', 'first.json'))
  write(join(folder, 'way', 'link.json'), { jobs: 1 })
  expect(lstatSync(join(folder, 'deep', 'first.json')).isSymbolicLink()).toBe(true)
  expect(written(join(folder, 'deep', 'all.json'))).toEqual({ jobs: 1 })
})

test('a link stays, and the file behind it gets the answer', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'behind'))
  const file = join(folder, 'behind', 'all.json')
  const link = join(folder, 'link.json')
  symlinkSync(file, link)
  for (const jobs of [1, 2]) {
    write(link, { jobs })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(written(file)).toEqual({ jobs })
  }
  expect(readdirSync(join(folder, 'behind'))).toEqual(['all.json'])
})

const withDescriptors = test.skipIf(!existsSync('/dev/fd')) // reason: Windows has no such names

withDescriptors('what is open by a descriptor is written through it', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'all.json')
  writeFileSync(file, 'before')
  const descriptor = openSync(file, 'r+')
  try {
    write(`/dev/fd/${descriptor}`, { jobs: 1 })
    expect(fstatSync(descriptor).ino).toBe(statSync(file).ino)
  } finally {
    closeSync(descriptor)
  }
  expect(written(file)).toEqual({ jobs: 1 })
})

test('a folder that is missing is named as it was given', () => {
  const file = join(temporaryFolder(), 'none', 'all.json')
  expect(() => {
    write(file, {})
  }).toThrow(`open '${file}'`)
})
