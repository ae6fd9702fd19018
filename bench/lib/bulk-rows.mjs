import { createRequire } from 'node:module'
import { join } from 'node:path'

const Database = createRequire(new URL('../../package.json', import.meta.url))('better-sqlite3')

/** Copies of the one trigger of a SQLite store, written by the database itself: `name` counts them, each later. */
export function copyTrigger(place, { name, count }) {
  const database = new Database(join(place.folder, 'jobs.db'))
  const other = { trigger_name: `'${name}-' || i`, next_fire_time: 'next_fire_time + i * 1000' }
  const series = `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count})`
  database.transaction(() => {
    for (const table of ['qrtz_triggers', 'qrtz_simple_triggers']) {
      const columns = database.pragma(`table_info(${table})`).map((column) => column.name)
      const values = columns.map((column) => other[column] ?? column)
      database.exec(
        `INSERT INTO ${table} (${columns.join(', ')}) ${series} SELECT ${values.join(', ')} FROM ${table}, s`,
      )
    }
  })()
  database.close()
}
