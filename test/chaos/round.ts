import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import type { SimRandom } from '../support/sim-random.ts'
import { type Fault, happen } from './faults.ts'
import { judge } from './judge.ts'
import { lateBySecond, stalls } from './lateness.ts'
import { backlog, leftovers, postgresQuery } from './leftovers.ts'
import type { Load } from './load.ts'
import { type LogLine, textOf } from './run-log.ts'
import { type Blocked, cluster, type World } from './world.ts'

/** Carries out the plan while one-shots are added, and waits until there is nothing left to do and to recover. */
export async function endure(
  plan: readonly Fault[],
  { world, load, random }: { world: World; load: Load; random: SimRandom },
  /** What goes on beside the faults ends with them. */
  stopOthers: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const stopAdding = world.keepAdding(load, random)
  for (const fault of plan) {
    await sleep(fault.afterMs)
    await happen(fault, world)
  }
  await stopAdding()
  await stopOthers()
  const query = postgresQuery(world.database)
  await vi
    .waitFor(
      async () => {
        expect(await backlog(query)).toEqual({})
        // Peers recover what a killed node left.
        expect(await world.members()).toEqual(world.nodes.map(({ instanceId }) => instanceId).sort())
      },
      // A machine with other work needs long for jobs that run one at a time.
      { timeout: 180_000, interval: 250 },
    )
    .catch(() => {})
}

/** What is wrong with what the nodes did, and rows that should not be there. */
export async function problemsOf(
  lines: readonly LogLine[],
  { world, load }: { world: World; load: Load },
): Promise<string[]> {
  const rows = await leftovers(postgresQuery(world.database))
  return [
    ...judge(lines, load),
    ...stalls(lines, world.disturbances, world.pauses),
    ...takenForFailed(lines, world.blocked),
    ...Object.entries(rows).map(([what, count]) => `${String(count)} ${what}`),
  ]
}

/** A node whose event loop stands still checks in all the same; what came before it may still show at its begin. */
function takenForFailed(lines: readonly LogLine[], blocked: readonly Blocked[]): string[] {
  return lines.flatMap((line) =>
    line.kind === 'nodeFailed' &&
    blocked.some(
      ({ instanceId, fromMs, toMs }) =>
        instanceId === line.instanceId && line.at >= fromMs + cluster.failedAfterMs && line.at <= toMs,
    )
      ? [`blocked, and taken for failed: ${textOf(line)}`]
      : [],
  )
}

/** Writes what one wants to read when something is wrong. */
export async function explain(
  plan: readonly Fault[],
  lines: readonly LogLine[],
  world: World,
): Promise<void> {
  const query = postgresQuery(world.database)
  console.error(await query('SELECT * FROM qrtz_triggers'), await query('SELECT * FROM qrtz_fired_triggers'))
  console.error(lateBySecond(lines).join('\n'))
  console.error(
    plan.map(({ kind, node, lastsMs }) => `${kind} ${String(node)} ${String(lastsMs)} ms`).join('\n'),
  )
  console.error(
    lines
      .filter((line) => !['started', 'ended', 'failed', 'triggerMisfired'].includes(line.kind))
      .map(textOf)
      .join('\n'),
  )
}
