import { appendFileSync } from 'node:fs'
import { it } from 'vitest'
import { simulateCluster } from '../support/sim-cluster.ts'
import { knownRemoteBugs } from '../support/sim-remote-bugs.ts'
it('x', { timeout: 900_000 }, async () => {
  const from = Number(process.env['FROM']), to = Number(process.env['TO'])
  for (const index of (process.env['BUGS'] ?? '0').split(',').map(Number)) {
    const bug = knownRemoteBugs[index]!
    for (let seed = from; seed <= to; seed++) {
      const { violations } = await simulateCluster(seed, bug, { guests: 'remotes' });
      const hit = violations.filter((v) => bug.symptom.test(v)).length
      if (hit > 0) appendFileSync('/tmp/s25/seeds.log', `${index} ${seed} ${hit}\n`)
    }
    appendFileSync('/tmp/s25/seeds.log', `${index} done ${from}-${to}\n`)
  }
})
