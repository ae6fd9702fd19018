import { expect, onTestFinished, test } from 'vitest'
import { serverFixture, tokens } from '../support/server-fixture.ts'
import { runNow, temporaryFile } from './fake-host.ts'

type Run = (...args: readonly string[]) => ReturnType<typeof runNow>

/** Runs commands on a server. */
async function open(): Promise<Run> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  return (...args) => runNow([...args, '--server', fixture.address], { QUARTZ_TS_TOKEN: tokens.admin })
}

test('import names a file that it cannot read, and what is wrong in it', async () => {
  const run = await open()
  const whole = JSON.parse((await run('export', '--secrets')).out) as { jobs: { fields: object }[] }
  const cases: [unknown, string][] = [
    [[], "is no file of 'quartz-ts export'"],
    [{ format: 'other' }, "is no file of 'quartz-ts export'"],
    [
      { ...whole, version: 2 },
      'has the version 2, and this command reads 1: import it with the quartz-ts that',
    ],
    [{ ...whole, version: undefined }, 'has no version'],
    [{ ...whole, jobs: [{ key: { group: 'a', name: 'b' } }] }, 'cannot be read: jobs.0.fields: '],
  ]
  for (const [content, problem] of cases) {
    const file = temporaryFile('all.json', JSON.stringify(content))
    const { code, err } = await run('import', file, '--yes')
    expect([code, err]).toEqual([2, expect.stringContaining(`'${file}' ${problem}`)])
  }
})

test('a byte order mark, which editors put before a file, is no part of it', async () => {
  const run = await open()
  const { out } = await run('export', '--secrets')
  const file = temporaryFile('all.json', `\uFEFF${out}`)
  expect(await run('import', file)).toMatchObject({ code: 0, err: '' })
})

test('a key makes no further lines', async () => {
  const run = await open()
  const { out } = await run('export', '--secrets')
  const whole = JSON.parse(out) as { jobs: { key: object }[]; triggers: object[] }
  const [job] = whole.jobs
  const forged = { ...job, key: { group: 'g', name: 'x\n- job reports/daily' } }
  const file = temporaryFile('all.json', JSON.stringify({ ...whole, jobs: [...whole.jobs, forged] }))
  expect((await run('import', file, '--dry-run')).out).toMatch(
    /^\+ job g\/x␊- job reports\/daily\nwould be added 1,/,
  )
  expect((await run('import', file)).code).toBe(0)
  const deleted = await run('pause', 'job', 'g/x\n- job reports/daily')
  expect(deleted.out).toMatch(/^job g\/x␊- job reports\/daily: has no trigger that can be paused\n$/)
})

test('import lists a thousand differences, and says how many more there are', async () => {
  const run = await open()
  const whole = JSON.parse((await run('export', '--secrets')).out) as { jobs: object[] }
  const [job] = whole.jobs
  const further = Array.from({ length: 2100 }, (_, index) => ({
    ...job,
    key: { group: 'g', name: `${index}` },
  }))
  const file = temporaryFile('all.json', JSON.stringify({ ...whole, jobs: [...whole.jobs, ...further] }))
  const { out } = await run('import', file, '--dry-run')
  expect(out.split('\n').slice(-3)).toEqual([
    '... and 1,100 more',
    'would be added 2100, changed 0, removed 0; 9 the same',
    '',
  ])
})
