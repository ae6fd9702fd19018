export interface MemorySample {
  readonly at: number
  readonly heapBytes: number
  readonly rssBytes: number
}

/** Slope of the heap by least squares, without the first fifth, in which caches fill. */
export function kibibytesPerHour(samples: readonly MemorySample[]): number {
  const settled = samples.slice(Math.ceil(samples.length / 5))
  const hoursOf = settled.map(({ at }) => at / 3_600_000)
  const sizes = settled.map(({ heapBytes }) => heapBytes / 1024)
  const meanHours = mean(hoursOf)
  const meanSize = mean(sizes)
  let above = 0
  let below = 0
  hoursOf.forEach((hour, index) => {
    above += (hour - meanHours) * ((sizes[index] ?? 0) - meanSize)
    below += (hour - meanHours) ** 2
  })
  return below === 0 ? 0 : Math.round(above / below)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
