import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { packedFile, sizeWithoutDashboard } from '../../scripts/lib/packed-size.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bench = fileURLToPath(new URL('..', import.meta.url))
/** As an application in this folder names them; the built package by its path, since bench/ cannot name its parent. */
const programs = {
  'quartz-ts': "await import('../dist/index.js')",
  'quartz-ts, idle with the RAM store':
    "const { createScheduler } = await import('../dist/index.js'); await (await createScheduler({})).start()",
  'pg-boss': "await import('pg-boss')",
  'graphile-worker': "await import('graphile-worker')",
  'nothing but Node.js': '',
}
const packed = 'packed, without the dashboard'

export const benchmark = {
  name: 'import',
  title:
    'Cold import in a fresh process: its time, its processor time, the memory afterwards, and the packed file',
  variants: [...Object.keys(programs), packed],
  rounds: 9,
  goals: (median) => [
    { what: 'import, ms', value: median('quartz-ts: ms'), relation: '<=', limit: 80 },
    {
      what: 'idle, MB',
      value: median('quartz-ts, idle with the RAM store: MB'),
      relation: '<=',
      limit: 60,
    },
    { what: 'packed, kB', value: median(`${packed}: kB`), relation: '<=', limit: 500 },
  ],
  run(variant) {
    if (variant === packed) return { kB: sizeWithoutDashboard(root, packedFile(root)) / 1000 }
    // The process of the benchmark has loaded all of it already.
    const script = `const cpu = process.cpuUsage(), at = performance.now()
      ${programs[variant]}
      const ms = performance.now() - at, { user, system } = process.cpuUsage(cpu)
      const figures = { ms, 'cpu ms': (user + system) / 1000, MB: process.memoryUsage.rss() / 1e6 }
      process.stdout.write(JSON.stringify(figures), () => process.exit(0))`
    const args = ['--input-type=module', '--eval', script]
    return JSON.parse(execFileSync(process.execPath, args, { cwd: bench, encoding: 'utf8' }))
  },
}
