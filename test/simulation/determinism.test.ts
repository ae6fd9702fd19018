import { expect, it } from 'vitest'
import { simulate } from '../support/sim-world.ts'

it('a seed makes the same history every time, and another seed another one', async () => {
  const fingerprints = new Set<string>()
  for (let seed = 1; seed <= 20; seed++) {
    const { fingerprint } = await simulate(seed)
    expect((await simulate(seed)).fingerprint, `seed ${seed}`).toBe(fingerprint)
    fingerprints.add(fingerprint)
  }
  expect(fingerprints.size).toBe(20)
})
