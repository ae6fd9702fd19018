// The HTTP API of a scheduler within a fastify application, behind the application's own authentication.
// npm install fastify hono @hono/node-server zod && node examples/fastify.js
import Fastify from 'fastify'
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

// A browser opens connections ahead; fastify would wait for those that are not used, too.
const app = Fastify({ forceCloseConnections: true })
// The API reads its bodies itself, within its own limits.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', (_request, body, done) => done(null, body))
const answerOf = async (request, reply) => {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const answer = await api.fetch(
    new Request(`${request.protocol}://${request.host}${request.url}`, {
      method: request.method,
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ...(hasBody && { body: request.body, duplex: 'half' }),
    }),
  )
  // Streams of events flow through as they come.
  return reply.send(answer)
}
// The page has the first address, which the second pattern is not for.
app.all('/admin/jobs', answerOf)
app.all('/admin/jobs/*', answerOf)
// Before it waits for requests that are open, such as streams of events.
app.addHook('preClose', async () => {
  await api.close()
  await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 30_000 })
})

const address = await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' })
const ask = (path, options) =>
  fetch(`${address}/admin/jobs/api${path}`, { headers: { 'x-user': 'ann' }, ...options })

console.log(`without a user: ${(await fetch(`${address}/admin/jobs/api/jobs`)).status}`)
const { items } = await (await ask('/jobs')).json()
console.log(`jobs: ${items.map(({ key }) => key.name)}`)
const headers = { 'x-user': 'ann', 'content-type': 'application/json' }
const page = await fetch(`${address}/admin/jobs`, { headers: { accept: 'text/html' } })
console.log(`page: ${page.status}`)
const run = await ask('/jobs/DEFAULT/daily/run', { method: 'POST', headers, body: '{}' })
console.log(`run: ${run.status}`)
// As a page that somebody has open: the application ends all the same.
const events = await ask('/events')
console.log(`events: ${events.status}`)
await app.close()
await events.text()
console.log('closed')
