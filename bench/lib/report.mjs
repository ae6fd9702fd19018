import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const results = fileURLToPath(new URL('../results/', import.meta.url))

/** The medians of one benchmark with their spread, and the goals they are held against. */
export function formatBenchmark(benchmark, outcome) {
  const rows = Object.entries(outcome.metrics).map(([id, { median, min, max }]) => [
    id,
    formatNumber(median),
    `${formatNumber(min)} .. ${formatNumber(max)}`,
  ])
  const rounds = outcome.rounds === 1 ? '1 round' : `${outcome.rounds} rounds`
  const load = `load ${formatNumber(outcome.load.median)}`
  return [
    `\n${benchmark.title} (${rounds}, ${load})`,
    ...alignColumns([['', 'median', 'min .. max'], ...rows]),
    ...formatGoals(outcome.goals),
  ].join('\n')
}

function formatGoals(goals) {
  if (goals.length === 0) return []
  const rows = goals.map(({ what, value, relation, limit, met }) => [
    what,
    formatNumber(value),
    `${relation} ${formatNumber(limit)}`,
    met ? 'met' : 'MISSED',
  ])
  return alignColumns([['goal', 'reached', 'wanted', ''], ...rows])
}

/** Holds measured values against the wanted ones; `relation` is `>=`, `<=` or `<`. */
export function judge(goals) {
  const holds = { '>=': (a, b) => a >= b, '<=': (a, b) => a <= b, '<': (a, b) => a < b }
  return goals.map((goal) => ({ ...goal, met: holds[goal.relation](goal.value, goal.limit) }))
}

function alignColumns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows.map((row) =>
    `  ${row.map((cell, column) => pad(cell, widths[column], column)).join('  ')}`.trimEnd(),
  )
}

function pad(text, width, column) {
  return column === 0 ? text.padEnd(width) : text.padStart(width)
}

export function formatNumber(value) {
  if (!Number.isFinite(value)) return String(value)
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}

/** Writes everything that was measured to `bench/results/`; answers the name of the file. */
export function writeResults(report) {
  mkdirSync(results, { recursive: true })
  const names = report.benchmarks.map(({ name }) => name).join('+')
  const file = `${report.startedAt.replaceAll(/[:.]/g, '-')}-${names.length > 60 ? 'all' : names}.json`
  writeFileSync(`${results}${file}`, `${JSON.stringify(report, null, 2)}\n`)
  return `bench/results/${file}`
}
