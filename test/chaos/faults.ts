import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresServer } from '../support/postgres-server.ts'
import type { SimRandom } from '../support/sim-random.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import { type ChaosNode, NodeRefusal } from './chaos-node.ts'
import type { ForeignRows } from './foreign-rows.ts'
import type { Disturbance } from './lateness.ts'

export const faultKinds = [
  'restart',
  'terminate',
  'freeze',
  'delay',
  'reset',
  'blackHole',
  'block',
  'duplicate',
  'lock',
  'junk',
  'unknownTypes',
  'vanish',
  'deploy',
  'kill',
] as const
export type FaultKind = (typeof faultKinds)[number]

/** One fault of a plan, with everything that chance decided. */
export interface Fault {
  readonly kind: FaultKind
  /** Which node, where a fault concerns one. */
  readonly node: number
  readonly lastsMs: number
  /** Rest before it. */
  readonly afterMs: number
}

/** The world that faults happen to. */
export interface Stage {
  readonly nodes: readonly ChaosNode[]
  readonly server: PostgresServer
  /** Ends every session of the server. */
  terminateSessions(): Promise<void>
  /** Before the last node. */
  readonly proxy: TcpProxy
  readonly foreignRows: ForeignRows
  /** Does to a node one thing at a time. */
  alone<Answer>(node: number, act: () => Promise<Answer>): Promise<Answer>
  /** A process with the instance id of this node, not started. */
  namesake(node: number): Promise<ChaosNode>
  /** SIGTERM, and another process in the place of this one. */
  deploy(node: number): Promise<void>
  /** SIGKILL, and another process in the place of this one. */
  kill(node: number): Promise<void>
  note(text: string): void
  /** Jobs other than these must not have noticed. */
  disturbed(disturbance: Disturbance): void
  wasBlocked(blocked: { instanceId: string; fromMs: number; toMs: number }): void
}

export interface FaultLengths {
  /** Silence after which a node counts as failed. */
  readonly failedAfterMs: number
  /** How long an event loop is blocked. */
  readonly blockMs: number
  readonly freezeMs: number
  /** How long others hold rows, or leave rows of junk. */
  readonly disturbMs: number
}

/** Every one of these kinds once in some order, then any, until the time is up. */
export function planFaults(
  random: SimRandom,
  totalMs: number,
  lengths: FaultLengths,
  nodeCount: number,
  among: readonly FaultKind[] = faultKinds,
): Fault[] {
  const faults: Fault[] = []
  const kinds = shuffled(random, among)
  for (let plannedMs = 0; plannedMs < totalMs || kinds.length > 0; ) {
    const kind = kinds.pop() ?? random.pick(among)
    const lastsMs = lengthOf(kind, random, lengths)
    const afterMs = random.integer(300, 1200)
    faults.push({ kind, node: random.integer(0, nodeCount - 1), lastsMs, afterMs })
    plannedMs += afterMs + lastsMs
  }
  return faults
}

function shuffled(random: SimRandom, kinds: readonly FaultKind[]): FaultKind[] {
  return kinds
    .map((kind) => ({ kind, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ kind }) => kind)
}

function lengthOf(
  kind: FaultKind,
  random: SimRandom,
  { blockMs, freezeMs, failedAfterMs, disturbMs }: FaultLengths,
): number {
  switch (kind) {
    case 'freeze':
      return freezeMs
    case 'block':
      return blockMs
    case 'blackHole':
      return failedAfterMs + random.integer(500, 1500)
    case 'duplicate':
      return 0
    case 'deploy':
    case 'kill':
      return 1500
    case 'vanish':
      return vanishMs
    case 'lock':
    case 'junk':
    case 'unknownTypes':
      return disturbMs
    default:
      return random.integer(500, 2500)
  }
}

/** How long the server stays away from a node that is told to stop: longer than the node's deadline for that. */
const vanishMs = 10_000

/** How long a plan takes, about. */
export function lengthOfPlan(plan: readonly Fault[]): number {
  return plan.reduce((sum, { afterMs, lastsMs }) => sum + afterMs + lastsMs, 0)
}

/** Lets one fault happen and pass. */
export async function happen(fault: Fault, stage: Stage): Promise<void> {
  const { kind, node, lastsMs } = fault
  const { server, proxy } = stage
  switch (kind) {
    case 'restart':
      await server.stop()
      await sleep(lastsMs)
      await server.start()
      return
    case 'terminate':
      for (const untilMs = Date.now() + lastsMs; Date.now() < untilMs; ) {
        await stage.terminateSessions()
        await sleep(150)
      }
      return
    case 'delay':
      proxy.delay(200)
      await sleep(lastsMs)
      proxy.heal()
      return
    case 'reset':
      for (const untilMs = Date.now() + lastsMs; Date.now() < untilMs; ) {
        proxy.reset()
        await sleep(200)
      }
      return
    case 'blackHole':
      proxy.blackHole()
      await sleep(lastsMs)
      proxy.heal()
      return
    case 'lock':
    case 'junk':
    case 'unknownTypes':
      await disturb(kind, lastsMs, stage)
      return
    case 'vanish':
      await stage.alone(stage.nodes.length - 1, () => vanish(stage))
      return
    default:
      await stage.alone(node, () => happenTo(node, { kind, lastsMs }, stage))
  }
}

/** What concerns the process of one node. */
async function happenTo(
  node: number,
  { kind, lastsMs }: { kind: 'freeze' | 'block' | 'duplicate' | 'deploy' | 'kill'; lastsMs: number },
  stage: Stage,
): Promise<void> {
  const victim = stage.nodes[node]
  if (victim === undefined) throw new Error(`There is no node ${String(node)}`)
  switch (kind) {
    case 'freeze':
      victim.freeze()
      await sleep(lastsMs)
      victim.thaw()
      return
    case 'block':
      await block(victim, lastsMs, stage)
      return
    case 'duplicate':
      await refuseNamesake(node, stage)
      return
    case 'deploy':
      await stage.deploy(node)
      return
    case 'kill':
      await stage.kill(node)
  }
}

async function block(victim: ChaosNode, forMs: number, stage: Stage): Promise<void> {
  const fromMs = Date.now()
  await victim.ask('block', { forMs })
  stage.wasBlocked({ instanceId: victim.instanceId, fromMs, toMs: Date.now() })
}

/** The server goes away while it commits, and the node is told to stop: it ends all the same. */
async function vanish(stage: Stage): Promise<void> {
  const { nodes, proxy } = stage
  const committing = proxy.cutOn('COMMIT', 'after')
  await Promise.race([committing, sleep(3000, undefined, { ref: false })])
  proxy.blackHole()
  const replaced = stage.deploy(nodes.length - 1)
  await sleep(vanishMs)
  proxy.heal()
  await replaced
}

/** Something holds rows or adds rows that concern only those whose rows they are. */
async function disturb(kind: 'lock' | 'junk' | 'unknownTypes', lastsMs: number, stage: Stage): Promise<void> {
  const fromMs = Date.now()
  const pass = async (jobs: readonly string[] = []): Promise<void> => {
    await sleep(lastsMs)
    stage.disturbed({ what: kind, fromMs, toMs: Date.now(), jobs: new Set(jobs) })
  }
  const { foreignRows } = stage
  if (kind === 'lock') await foreignRows.locked(4, pass)
  else if (kind === 'junk') await foreignRows.junk(pass)
  else await foreignRows.unknownTypes(300, pass)
}

/** The second process of one instance id must not get in. */
async function refuseNamesake(node: number, stage: Stage): Promise<void> {
  const namesake = await stage.namesake(node)
  try {
    await namesake.ask('start')
    stage.note(`A second '${namesake.instanceId}' was let in`)
  } catch (error) {
    const code = error instanceof NodeRefusal ? error.code : String(error)
    if (code !== 'ERR_DUPLICATE_INSTANCE_ID') {
      stage.note(`A second '${namesake.instanceId}' failed otherwise: ${String(error)}`)
    }
  } finally {
    await namesake.kill()
  }
}
