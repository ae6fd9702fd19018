import { expect, it } from 'vitest'
import { simulateCluster } from '../support/sim-cluster.ts'

it('a seed makes the same history of a cluster every time', async () => {
  for (let seed = 1; seed <= 3; seed++) {
    const { fingerprint } = await simulateCluster(seed)
    expect((await simulateCluster(seed)).fingerprint, `seed ${seed}`).toBe(fingerprint)
  }
})
