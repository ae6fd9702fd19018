/** The value below which a share `q` (0 to 1) of the sorted values lies. */
export function quantile(sorted, q) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export function sortedCopy(values) {
  return Float64Array.from(values).sort()
}

export function summaryOf(values) {
  const sorted = sortedCopy(values)
  return { median: medianOf(sorted), min: sorted[0], max: sorted.at(-1), values: [...values] }
}

function medianOf(sorted) {
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2
}
