const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

const units = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const isoDuration = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i
const isoUnitMs = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000]

/**
 * Milliseconds, rounded, of a text such as `20s`, `500ms`, `1m30s`, or of ISO 8601's `PT20S`, `P1DT2H`; null for any
 * other text. Months and years are not fixed durations and are none.
 */
export function durationMsOf(text: string): number | null {
  return /^p/i.test(text) ? isoDurationMsOf(text) : unitsMsOf(text)
}

function unitsMsOf(text: string): number | null {
  const parts = [...text.matchAll(units)]
  const read = parts.map(([part]) => part).join('')
  if (text === '' || read !== text) return null
  return Math.round(
    parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0),
  )
}

function isoDurationMsOf(text: string): number | null {
  const numbers = isoDuration.exec(text)?.slice(1) ?? []
  // A part begins with P or T and must name something.
  if (/[pt]$/i.test(text) || numbers.length === 0) return null
  return Math.round(
    numbers.reduce((sum, number, index) => sum + Number(number || 0) * (isoUnitMs[index] ?? 0), 0),
  )
}
