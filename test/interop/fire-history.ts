import { readFile } from 'node:fs/promises'

/** A line that a job wrote when it began or ended; lines stand in the order of what happened, whoever wrote them. */
export interface FireLine {
  readonly at: number
  readonly kind: 'started' | 'ended'
  /** Instance id of the node. */
  readonly node: string
  readonly trigger: string
  readonly job: string
  readonly planned: number
  readonly id: string
  /** Key of the trigger whose firing is recovered. */
  readonly recovering: string | null
  /** What the data said: it went through the database. */
  readonly note: string | null
}

export interface Expectation {
  /** The planned instants of each trigger, by the text of its key. */
  readonly planned: ReadonlyMap<string, readonly number[]>
  /** Keys of jobs that never run twice at a time. */
  readonly exclusiveJobs: ReadonlySet<string>
}

export async function readHistory(path: string): Promise<FireLine[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  // What stands behind the last line end is still being written.
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FireLine)
}

/** How many of the planned instants have been run to their end. */
export function fulfilled(lines: readonly FireLine[], { planned }: Expectation): number {
  const ended = new Set(lines.filter(({ kind }) => kind === 'ended').map(instantOf))
  return [...planned].flatMap(([key, instants]) => instants.filter((at) => ended.has(`${key} ${at}`))).length
}

/** Triggers of which an instant was run on this node and on another one. */
export function doubledWith(node: string, lines: readonly FireLine[]): ReadonlySet<string> {
  const nodes = new Map<string, Set<string>>()
  for (const line of lines) {
    if (line.kind !== 'started') continue
    const instant = instantOf(line)
    nodes.set(instant, (nodes.get(instant) ?? new Set()).add(line.node))
  }
  const isDoubled = (line: FireLine): boolean => {
    const ran = nodes.get(instantOf(line))
    return ran !== undefined && ran.size > 1 && ran.has(node)
  }
  return new Set(lines.filter(isDoubled).map(({ trigger }) => trigger))
}

/** Everything that is wrong: instants that were lost, doubled or not planned, runs without end, overlaps. */
export function judge(lines: readonly FireLine[], expectation: Expectation): string[] {
  return [...instantProblems(lines, expectation), ...runProblems(lines, expectation)]
}

function instantProblems(lines: readonly FireLine[], { planned }: Expectation): string[] {
  const runs = new Map<string, FireLine[]>()
  for (const [key, instants] of planned) for (const at of instants) runs.set(`${key} ${at}`, [])
  const problems: string[] = []
  for (const line of lines) {
    if (line.kind !== 'started') continue
    const ran = runs.get(instantOf(line))
    if (ran === undefined) problems.push(`not planned: ${describe(line)}`)
    else ran.push(line)
  }
  for (const [instant, ran] of runs) {
    if (ran.length === 0) problems.push(`lost: ${instant}`)
    if (ran.length > 1) problems.push(`fired ${ran.length} times: ${ran.map(describe).join('; ')}`)
  }
  return problems
}

function runProblems(lines: readonly FireLine[], { exclusiveJobs }: Expectation): string[] {
  const running = new Map<string, FireLine>()
  const problems: string[] = []
  for (const line of lines) {
    const run = `${line.node} ${line.id}`
    if (line.kind === 'ended') {
      if (!running.delete(run)) problems.push(`ended without a start: ${describe(line)}`)
      continue
    }
    const other = [...running.values()].find(({ job }) => job === line.job)
    if (other !== undefined && exclusiveJobs.has(line.job))
      problems.push(`overlap: ${describe(line)} while ${describe(other)} ran`)
    running.set(run, line)
  }
  return [...problems, ...[...running.values()].map((line) => `never ended: ${describe(line)}`)]
}

function instantOf({ trigger, planned }: FireLine): string {
  return `${trigger} ${planned}`
}

function describe({ trigger, planned, at, node, id }: FireLine): string {
  return `${trigger} ${planned} on ${node} at ${at} (${id})`
}
