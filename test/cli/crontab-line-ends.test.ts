import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CrontabFile, readCrontabFile } from '../../src/cli/crontab/crontab-file.ts'
import { runNow as run, temporaryFile } from './fake-host.ts'

const withReturns = (text: string): string => text.replaceAll('\n', '\r\n')

function read(text: string): Omit<CrontabFile, 'path'> {
  const path = temporaryFile('crontab', text)
  const options = {
    zoneName: 'UTC',
    dst: 'vixie',
    userColumn: 'auto',
    seconds: false,
    knownUsers: [],
  } as const
  const { entries, problems, format, demoJobs, environment } = readCrontabFile(path, options)
  return { entries, problems, format, demoJobs, environment }
}

/** What is found of a text with the line ends of Unix, which that with those of Windows must give as well. */
function foundOf(text: string): Omit<CrontabFile, 'path'> {
  const found = read(text)
  expect(JSON.stringify(read(withReturns(text)))).toBe(JSON.stringify(found))
  return found
}

test('a crontab with the line ends of Windows is read as the same with those of Unix', () => {
  const found = foundOf(readFileSync('examples/crontab', 'utf8'))
  expect(found).toMatchObject({ format: { userColumn: true, seconds: true }, demoJobs: true, problems: [] })
  expect(found.entries.length).toBeGreaterThan(10)
})

test('so are its bad lines, and what it wrongly says of itself', () => {
  const { problems } = foundOf('# quartz-ts: secnds\n* * * * bad\n# quartz-ts: what\n1 1 1 1 1 echo\n')
  expect(problems.map(({ line, text }) => [line, text])).toEqual([
    [1, '# quartz-ts: secnds'],
    [2, '* * * * bad'],
    [3, '# quartz-ts: what'],
  ])
  expect(problems[0]?.error.message).toContain("Did you mean 'seconds'?")
})

test.each(['# Quartz-TS: Seconds', '#QUARTZ-TS:SECONDS'])('%s says that there are seconds', (line) => {
  const { format, problems } = foundOf(`${line}\n*/2 * * * * * echo x\n`)
  expect({ format, problems }).toEqual({ format: { userColumn: false, seconds: true }, problems: [] })
})

test.each(['unix', 'quartz', 'spring'])('validate shows lines without their ends: %s', async (dialect) => {
  const text = withReturns('0 0 12 * * what\nno\n')
  const { out } = await run(['validate', temporaryFile('cron', text), '--dialect', dialect, '--json'])
  const { problems } = JSON.parse(out) as { readonly problems: readonly { readonly text: string }[] }
  expect(problems.at(-1)?.text).toBe('no')
  expect(out).not.toContain(String.raw`\r`)
})
