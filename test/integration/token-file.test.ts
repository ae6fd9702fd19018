import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { tokenHashOf } from '../../src/server/auth/tokens.ts'

test('of servers that start together with one token file, one makes the token and the others take it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-token-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const [rounds, threads, shared] = [600, 2, new SharedArrayBuffer(4)]
  const workers = Array.from({ length: threads }, () => {
    const file = new URL('../fixtures/server/token-makers.mjs', import.meta.url)
    return new Worker(file, { workerData: { folder, rounds, threads, shared } })
  })
  const made = await Promise.all(
    workers.map(async (worker) => ((await once(worker, 'message')) as [unknown[]])[0]),
  )
  const ofRounds = Array.from({ length: rounds }, (_, round) => made.map((tokens) => tokens[round]))
  for (const [round, answers] of ofRounds.entries()) {
    const tokens = answers.filter((answer) => answer !== null)
    expect(tokens).toEqual([expect.any(String)])
    expect(readFileSync(join(folder, String(round)), 'utf8')).toBe(`${tokenHashOf(tokens[0] as string)}\n`)
  }
  expect(readdirSync(folder)).toHaveLength(rounds)
})
