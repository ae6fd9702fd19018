import { threadId } from 'node:worker_threads'
import type { JobRunContext } from '../../jobs/job-run-context.ts'

export interface FindPrimesData {
  /** How many numbers each execution looks at. */
  readonly span: number
  /** The first number that no execution has looked at; the job keeps it in its data. */
  readonly from: number
  /** How many primes lie below `from`. */
  readonly found: number
}

export interface FindPrimesResult {
  readonly from: number
  readonly to: number
  /** Primes below `to`. */
  readonly found: number
  readonly largest: number | null
  readonly threadId: number
  readonly summary: string
}

/** Worker job: counts the primes of the next numbers and keeps in its data where to go on. */
export function findPrimes(context: JobRunContext<FindPrimesData>): FindPrimesResult {
  const { from, span } = context.mergedJobDataMap
  const to = from + span
  const primes = primesBetween(from, to)
  const found = context.mergedJobDataMap.found + primes.length
  context.jobDataMap['from'] = to
  context.jobDataMap['found'] = found
  const summary = `${found} primes below ${to} (thread ${threadId})`
  return { from, to, found, largest: primes.at(-1) ?? null, threadId, summary }
}

/** The primes of [from, to), by a sieve over that window. */
function primesBetween(from: number, to: number): readonly number[] {
  const start = Math.max(2, from)
  const composite = new Uint8Array(Math.max(0, to - start))
  for (let factor = 2; factor * factor < to; factor++) {
    const firstMultiple = Math.max(factor * factor, Math.ceil(start / factor) * factor)
    for (let multiple = firstMultiple; multiple < to; multiple += factor) composite[multiple - start] = 1
  }
  const primes: number[] = []
  composite.forEach((isComposite, index) => {
    if (isComposite === 0) primes.push(start + index)
  })
  return primes
}
