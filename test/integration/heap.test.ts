import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { cleanEnd, runProcess } from '../support/process-run.ts'

const script = fileURLToPath(new URL('../fixtures/heap/process.mjs', import.meta.url))

/** Code that V8 compiles makes the heap grow in the first rounds, and by ever less later. */
const rounds = 24
const warmRounds = 12
/** Of several rounds the smallest counts: on a busy machine one may end while something is still under way. */
const roundsCompared = 4

describe('a scheduler whose jobs all have new names', () => {
  // A key, its texts and the entry of a map that forgets none come to more than these bytes a job.
  it.each([
    { where: 'in memory', store: 'ram', jobsPerRound: 2000, mostBytesPerJob: 60 },
    { where: 'on SQLite', store: ':memory:', jobsPerRound: 400, mostBytesPerJob: 150 },
  ])('keeps nothing of those that have run $where', async ({ store, jobsPerRound, mostBytesPerJob }) => {
    const args = [script, store, String(jobsPerRound), String(rounds)]
    const { lines, ...end } = await runProcess('--expose-gc', args, () => {}, 110_000)
    expect(end).toEqual(cleanEnd)
    const sizes = lines.map(Number)
    expect(sizes).toHaveLength(rounds)
    const smallestUntil = (round: number) => Math.min(...sizes.slice(round - roundsCompared, round))
    const grown = smallestUntil(rounds) - smallestUntil(warmRounds)
    expect(grown / ((rounds - warmRounds) * jobsPerRound)).toBeLessThan(mostBytesPerJob)
  })
})

describe('a plugin that measures', () => {
  const script = fileURLToPath(new URL('../fixtures/heap/failed-schedulers.mjs', import.meta.url))

  it('keeps nothing of schedulers that could not be made', async () => {
    const { lines, ...end } = await runProcess('--expose-gc', [script])
    expect(end).toEqual(cleanEnd)
    expect(lines).toEqual(['0'])
  })
})

describe('an executor', () => {
  const script = fileURLToPath(new URL('../fixtures/heap/task-schedulers.mjs', import.meta.url))

  it('keeps no task scheduler that nobody uses and that has no tasks', async () => {
    const { lines, ...end } = await runProcess('--expose-gc', [script])
    expect(end).toEqual(cleanEnd)
    expect(lines).toEqual(['0', '1'])
  })
})
