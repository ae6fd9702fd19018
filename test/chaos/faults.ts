import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresServer } from '../support/postgres-server.ts'
import type { SimRandom } from '../support/sim-random.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import { type ChaosNode, NodeRefusal } from './chaos-node.ts'

export const faultKinds = [
  'restart',
  'terminate',
  'freeze',
  'delay',
  'reset',
  'blackHole',
  'block',
  'duplicate',
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
  /** A process with the instance id of this node, not started. */
  namesake(node: number): Promise<ChaosNode>
  note(text: string): void
}

export interface FaultLengths {
  /** Silence after which a node counts as failed. */
  readonly failedAfterMs: number
  /** How long an event loop is blocked. */
  readonly blockMs: number
  readonly freezeMs: number
}

/** Every kind once in some order, then any, until the time is up. */
export function planFaults(
  random: SimRandom,
  totalMs: number,
  lengths: FaultLengths,
  nodeCount: number,
): Fault[] {
  const faults: Fault[] = []
  const kinds = shuffled(random)
  for (let plannedMs = 0; plannedMs < totalMs || kinds.length > 0; ) {
    const kind = kinds.pop() ?? random.pick(faultKinds)
    const lastsMs = lengthOf(kind, random, lengths)
    const afterMs = random.integer(300, 1200)
    faults.push({ kind, node: random.integer(0, nodeCount - 1), lastsMs, afterMs })
    plannedMs += afterMs + lastsMs
  }
  return faults
}

function shuffled(random: SimRandom): FaultKind[] {
  return faultKinds
    .map((kind) => ({ kind, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ kind }) => kind)
}

function lengthOf(
  kind: FaultKind,
  random: SimRandom,
  { blockMs, freezeMs, failedAfterMs }: FaultLengths,
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
    default:
      return random.integer(500, 2500)
  }
}

/** Lets one fault happen and pass. */
export async function happen({ kind, node, lastsMs }: Fault, stage: Stage): Promise<void> {
  const { nodes, server, proxy } = stage
  const victim = nodes[node]
  if (victim === undefined) throw new Error(`There is no node ${String(node)}`)
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
    case 'freeze':
      victim.freeze()
      await sleep(lastsMs)
      victim.thaw()
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
    case 'block':
      await victim.ask('block', { forMs: lastsMs })
      return
    case 'duplicate':
      await refuseNamesake(node, stage)
  }
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
