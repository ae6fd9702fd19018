import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { boundedJson } from '../../src/core/bounded-json.ts'
import { describeValue } from '../../src/core/options.ts'
import { beginningOf, shortened } from '../../src/core/text-beginning.ts'
import { CronExpression, jobKey, ramJobStore } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

/** Half of a character, or what stores write in its place. */
const half = /[\p{Surrogate}\uFFFD]/u
/** Texts of which each cut of another length than the one before halves a character. */
const texts = [0, 1].map((before) => 'x'.repeat(before) + '\u{1F600}'.repeat(6000))

test('the beginning of a text ends with a whole character', () => {
  expect(beginningOf('a\u{1F600}b', 1)).toBe('a')
  expect(beginningOf('a\u{1F600}b', 2)).toBe('a')
  expect(beginningOf('a\u{1F600}b', 3)).toBe('a\u{1F600}')
  expect(beginningOf('a\u{1F600}b', 9)).toBe('a\u{1F600}b')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, length) => {
      const cut = beginningOf(text, length)
      expect(text.startsWith(cut)).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(length)
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1)
      expect(cut).not.toMatch(/\p{Surrogate}/u)
    }),
    { seed: 7 },
  )
})

test.each(texts)('what is shown of a long text has no half of a character', (text) => {
  for (const shown of [
    boundedJson(text, 100),
    boundedJson({ [text]: 1 }, 100),
    shortened(text, 100),
    describeValue(text),
  ]) {
    expect(shown.length).toBeLessThan(110)
    expect(shown).not.toMatch(half)
    // Of what JSON writes for it, too.
    expect(shown).not.toMatch(/\\ud[89ab]/i)
  }
  expect(() => CronExpression.parse(`${text} * * * * ?`)).toThrow(
    expect.not.objectContaining({ message: expect.stringMatching(half) as string }),
  )
})

test.each([
  ['in memory', () => ramJobStore({ history: { record: 'all' } })],
  ['in a file', () => sqliteJobStore({ filename: ':memory:', history: { record: 'all' } })],
])(
  'the history and the status of a job %s keep whole characters of a long error',
  async (_where, jobStore) => {
    for (const text of texts) {
      const job = jobOf(() => {
        throw new Error(text)
      })
      const { clock, scheduler, startMs } = await shellRig([job], { jobStore: jobStore() })
      onTestFinished(() => scheduler.shutdown())
      await scheduler.scheduleJob(
        detailOf('job', (built) => built.storeDurably()),
        firing(startMs),
      )
      await clock.advance(1000)
      await scheduler.idle()
      await clock.advance(5000)
      const [ended] = (await scheduler.queryExecutions({})).items
      const status = await scheduler.getJobStatus(jobKey('job'))
      for (const kept of [ended?.errorText, status?.lastErrorText]) {
        expect(kept?.length).toBeGreaterThan(900)
        expect(kept).not.toMatch(half)
      }
    }
  },
)
