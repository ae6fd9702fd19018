// The HTTP API of a scheduler within an express application, behind the application's own authentication.
// npm install express hono @hono/node-server zod && node examples/express.js
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express from 'express'
import { CronScheduleBuilder, createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'
import { createServer } from 'quartz-ts/server'

const report = defineJob('report', () => 'sent')
const scheduler = await createScheduler({ jobs: [report] })
const weekdays = CronScheduleBuilder.cronSchedule('0 0 7 ? * MON-FRI').inTimeZone('Europe/Paris')
await scheduler.scheduleJob(
  JobBuilder.newJob(report).withIdentity('daily').build(),
  TriggerBuilder.newTrigger().withIdentity('daily').withSchedule(weekdays).build(),
)
await scheduler.start()

const api = await createServer({
  scheduler,
  basePath: '/admin/jobs',
  // Whatever knows the users of the application: a session, a header of the proxy, ...
  auth: {
    kind: 'hook',
    authenticate: (request) =>
      request.headers.get('x-user') === 'ann' ? { name: 'ann', role: 'admin' } : null,
  },
})

const app = express()
// Before express.json(): the API reads its bodies itself, within its own limits.
app.use('/admin/jobs', async (request, response, next) => {
  try {
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    const answer = await api.fetch(
      // The name with its port, which express 4 leaves out of `request.host`.
      new Request(`${request.protocol}://${request.get('host')}${request.originalUrl}`, {
        method: request.method,
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' }),
      }),
    )
    response.status(answer.status)
    for (const [name, value] of answer.headers) response.append(name, value)
    if (answer.body === null) response.end()
    // Streams of events flow through as they come; a client that goes away ends them.
    else await pipeline(Readable.fromWeb(answer.body), response).catch(() => {})
  } catch (error) {
    // What is no request of the Fetch standard. Express 4 does not look at the promise of a handler.
    next(error)
  }
})

const listening = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1')
await once(listening, 'listening')
const address = `http://127.0.0.1:${listening.address().port}`
const ask = (path, options) =>
  fetch(`${address}/admin/jobs/api${path}`, { headers: { 'x-user': 'ann' }, ...options })

console.log(`without a user: ${(await fetch(`${address}/admin/jobs/api/jobs`)).status}`)
const { items } = await (await ask('/jobs')).json()
console.log(`jobs: ${items.map(({ key }) => key.name)}`)
const headers = { 'x-user': 'ann', 'content-type': 'application/json' }
const run = await ask('/jobs/DEFAULT/daily/run', { method: 'POST', headers, body: '{}' })
console.log(`run: ${run.status}`)
// As a page that somebody has open: the application ends all the same.
const events = await ask('/events')
console.log(`events: ${events.status}`)

await api.close()
await events.text()
listening.close()
listening.closeAllConnections()
await once(listening, 'close')
await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 30_000 })
console.log('closed')
