import { piscinaThreadPool } from 'quartz-ts'
import { threadPoolConformance } from 'quartz-ts/testing'
import { describe, it } from 'vitest'

const pools = { 'threads as they are needed': 0, 'threads started in advance': 2 }

describe.each(Object.entries(pools))('piscina pool with %s', (_name, minThreads) => {
  const cases = threadPoolConformance({
    create: (size) => piscinaThreadPool({ size, minThreads }),
    runsWorkerJobs: true,
  })
  it.each(cases.map((each) => [each.area, each.name, each] as const))(
    '%s: %s',
    async (_area, _sentence, { run }) => {
      await run()
    },
  )
})
