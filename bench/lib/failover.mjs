import { summaryOf } from './stats.mjs'

/** How soon a cluster takes a silent node for failed. */
const clusters = {
  default: {},
  'tuned (300 ms, 1,200 ms)': { checkInIntervalMs: 300, failedAfterMs: 1200 },
}

/**
 * A benchmark of what happens after SIGKILL. `killOne` starts nodes with the given options of the cluster, kills one of
 * them and answers how many milliseconds passed until others had its work. The limits are milliseconds as well.
 */
export function failoverBenchmark({ name, title, limits, killOne }) {
  return {
    name,
    title,
    needs: 'postgres',
    variants: Object.keys(clusters),
    rounds: 3,
    goals: (median) => [
      { what: 'default, ms', value: median('default: ms'), relation: '<', limit: limits.defaultMs },
      {
        what: 'tuned, ms',
        value: median('tuned (300 ms, 1,200 ms): ms'),
        relation: '<',
        limit: limits.tunedMs,
      },
    ],
    async run(variant, { once }) {
      const samples = []
      for (let round = 0; round < (once ? 1 : 5); round++) samples.push(await killOne(clusters[variant]))
      return { ms: summaryOf(samples).median, 'longest ms': Math.max(...samples) }
    },
  }
}
