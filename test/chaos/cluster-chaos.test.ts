import { expect, test } from 'vitest'
import { SimRandom } from '../support/sim-random.ts'
import { type FaultLengths, faultKinds, lengthOfPlan, planFaults } from './faults.ts'
import { Load, limitedGroup } from './load.ts'
import { endure, explain, problemsOf } from './round.ts'
import { type LogLine, readLog } from './run-log.ts'
import { cluster, misfireThresholdMs, roles, World } from './world.ts'

/** How long faults happen; QUARTZ_TS_CHAOS_SECONDS makes it longer, and CI does. */
const seconds = Number(process.env['QUARTZ_TS_CHAOS_SECONDS'] ?? 30)
/** QUARTZ_TS_CHAOS_SEED repeats the plan of a run that failed. */
const seed = Number(process.env['QUARTZ_TS_CHAOS_SEED'] ?? Date.now() % 1_000_000)
/** QUARTZ_TS_CHAOS_KINDS, such as `lock,junk`, has only these faults happen, for the search of a cause. */
const kinds = faultKinds.filter(
  (kind) => process.env['QUARTZ_TS_CHAOS_KINDS']?.split(',').includes(kind) ?? true,
)

const isLong = seconds >= 120
const lengths: FaultLengths = {
  failedAfterMs: cluster.failedAfterMs,
  blockMs: isLong ? 20_000 : 5000,
  freezeMs: isLong ? 30_000 : 6000,
  disturbMs: isLong ? 20_000 : 7000,
}

/**
 * Faults without a trace: a frozen node was taken for failed and recovered, and learned it. Whether something was in
 * flight there is chance: other nodes take over its claims as they become overdue. `session-end.test.ts` has that.
 */
function missing(lines: readonly LogLine[]): string[] {
  return ['nodeFailed', 'recoveredByPeer', 'clockSkewed'].filter(
    (kind) => !lines.some((line) => line.kind === kind),
  )
}

test(
  `a cluster survives ${String(seconds)} seconds of faults, seed ${String(seed)}`,
  async () => {
    const random = new SimRandom(seed)
    const plan = planFaults(random.fork(), seconds * 1000, lengths, roles.length, kinds)
    const world = await World.open({
      withThreads: true,
      storeOptions: { jobGroupLimits: { [limitedGroup.name]: limitedGroup.limit } },
    })
    const load = new Load(random.fork(), misfireThresholdMs)
    const startMs = Date.now() + 3000
    const [first] = world.nodes
    const endMs = startMs + lengthOfPlan(plan)
    const span = { startMs, endMs }
    await load.scheduleMixed(first ?? expect.fail('no node'), 3, span)
    await load.scheduleFurther(first ?? expect.fail('no node'), world.log, span)
    await world.start()
    await endure(plan, { world, load, random: random.fork() })
    await world.stop()
    const lines = await readLog(world.log)
    const problems = [
      ...(await problemsOf(lines, { world, load })),
      ...world.processProblems(lines),
      ...(kinds.length < faultKinds.length ? [] : missing(lines)),
    ]
    if (problems.length > 0) {
      console.error(`QUARTZ_TS_CHAOS_SEED=${String(seed)}`)
      await explain(plan, lines, world)
    }
    expect(problems, problems.join('\n')).toEqual([])
    // Nodes that are stopped leave their cluster.
    expect(await world.members()).toEqual([])
  },
  seconds * 1000 * 3 + 240_000,
)
