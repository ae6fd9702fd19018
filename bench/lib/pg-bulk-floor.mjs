import { pg } from './postgres.mjs'

const tables = ['qrtz_job_details', 'qrtz_triggers', 'qrtz_simple_triggers']
/** As many rows as a statement with arrays gets. */
const rowsPerStatement = 10_000

/**
 * Rows a second of programs that store again what the tables of jobs and triggers hold, index entries and foreign keys
 * included, and do nothing else: with COPY, and with INSERT from arrays. A job with its trigger counts once. The rows
 * are in the form that each of them sends before the time begins.
 */
export async function bulkFloor({ connectionString, schema }) {
  const client = new pg.Client({ connectionString, options: `-c search_path=${schema}` })
  await client.connect()
  const count = (await client.query('SELECT count(*)::int AS count FROM qrtz_triggers')).rows[0].count
  const copies = []
  const inserts = []
  for (const table of tables) {
    copies.push({ text: `COPY ${table} FROM STDIN`, bytes: await copyOut(client, table) })
    inserts.push(...(await insertsOf(client, table)))
  }
  const rate = async (write) => {
    await client.query(`TRUNCATE ${tables.join(', ')} CASCADE`)
    const startedMs = performance.now()
    await client.query('BEGIN')
    await write()
    await client.query('COMMIT')
    const elapsedMs = performance.now() - startedMs
    const stored = await client.query('SELECT count(*)::int AS count FROM qrtz_simple_triggers')
    if (stored.rows[0].count !== count) throw new Error(`${stored.rows[0].count} rows instead of ${count}`)
    return count / (elapsedMs / 1000)
  }
  const copied = await rate(async () => {
    for (const { text, bytes } of copies)
      await new Promise((done, fail) => client.query(copying({ text, bytes, done, fail })))
  })
  const inserted = await rate(async () => {
    for (const { text, values } of inserts) await client.query(text, values)
  })
  await client.end()
  return { copied, inserted }
}

/** What COPY sends of a table, and takes. */
async function copyOut(client, table) {
  const chunks = []
  await new Promise((done, fail) =>
    client.query(
      copying({
        text: `COPY ${table} TO STDOUT`,
        onData: (chunk) => chunks.push(Buffer.from(chunk)),
        done,
        fail,
      }),
    ),
  )
  return Buffer.concat(chunks)
}

/** INSERTs of all rows of a table, with an array for each column. */
async function insertsOf(client, table) {
  const { rows: columns } = await client.query(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  )
  const asText = columns.map(({ name, type }) =>
    type === 'bytea' ? name : `CAST(${name} AS text) AS ${name}`,
  )
  const { rows } = await client.query(`SELECT ${asText.join(', ')} FROM ${table}`)
  const arrays = columns.map(({ type }, index) => `CAST($${index + 1} AS ${type}[])`)
  const names = columns.map(({ name }) => name).join(', ')
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays.join(', ')})`
  const inserts = []
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const some = rows.slice(from, from + rowsPerStatement)
    inserts.push({ text, values: columns.map(({ name }) => some.map((row) => row[name])) })
  }
  return inserts
}

/** A COPY as a query that pg's client runs: it has none of its own. */
function copying({ text, bytes, onData = () => {}, done, fail }) {
  return {
    submit: (connection) => connection.query(text),
    handleCopyInResponse(connection) {
      // One message holds a gigabyte at most, and the server reads while the rest is sent.
      for (let from = 0; from < bytes.length; from += 65_536) {
        connection.sendCopyFromChunk(bytes.subarray(from, from + 65_536))
      }
      connection.endCopyFrom()
    },
    handleCopyData: ({ chunk }) => onData(chunk),
    handleCommandComplete() {},
    handleReadyForQuery: () => done(),
    handleError: (error) => fail(error),
  }
}
