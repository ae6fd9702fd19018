// A worker job that keeps data from one execution to the next: each goes on where the one before it stopped.
import { threadId } from 'node:worker_threads'

export default function findPrimes(context) {
  const { from = 2, span } = context.mergedJobDataMap
  const primes = []
  for (let candidate = from; candidate < from + span; candidate++) {
    // The signal is aborted by an interrupt, by the job's timeout and by a shutdown that does not wait.
    context.signal.throwIfAborted()
    if (isPrime(candidate)) primes.push(candidate)
  }
  context.jobDataMap.from = from + span
  return { from, to: from + span, count: primes.length, threadId }
}

function isPrime(candidate) {
  for (let factor = 2; factor * factor <= candidate; factor++) {
    if (candidate % factor === 0) return false
  }
  return true
}
