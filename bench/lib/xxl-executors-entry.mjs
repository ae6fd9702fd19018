// Executors of XXL-JOB that do nothing: each answers a run at once, and reports its end with all others that have ended
// meanwhile. They tell the benchmark little while they run: a message for each run would be work of the node that is
// measured. Arguments: how many, the address of the admin, its token, the AppName.
import { Agent, createServer, request } from 'node:http'

const [count, admin, token, appName] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const headers = { 'content-type': 'application/json', 'xxl-job-access-token': token }
const good = JSON.stringify({ code: 200, msg: null, content: null })
const batchMax = 50
const tellEveryMs = 10
/** When each run with a parameter came: answered when the benchmark asks. */
const ran = []
let untold = 0

for (let index = 0; index < Number(count); index++) await startExecutor()
process.on('disconnect', () => process.exit(0))
process.on('message', () => process.send({ kind: 'ran', ran }))
process.send({ kind: 'ready' })

function tellReported(count) {
  if (untold === 0) {
    setTimeout(() => {
      process.send({ kind: 'reported', count: untold })
      untold = 0
    }, tellEveryMs)
  }
  untold += count
}

async function startExecutor() {
  const ended = []
  let isReporting = false
  async function report() {
    isReporting = true
    while (ended.length > 0) {
      const batch = ended.splice(0, batchMax)
      const { code } = JSON.parse(await post('/api/callback', JSON.stringify(batch)))
      if (code === 200) tellReported(batch.length)
      else ended.push(...batch)
    }
    isReporting = false
  }
  const server = createServer((incoming, response) => {
    const chunks = []
    incoming.on('data', (chunk) => chunks.push(chunk))
    incoming.on('end', () => {
      response.end(good)
      if (incoming.url !== '/run') return
      const { logId, logDateTime, executorParams } = JSON.parse(Buffer.concat(chunks).toString())
      if (executorParams !== '') ran.push({ atMs: Date.now(), param: executorParams })
      ended.push({ logId, logDateTim: logDateTime, handleCode: 200, handleMsg: '' })
      if (!isReporting) report()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${server.address().port}/`
  const place = { registryGroup: 'EXECUTOR', registryKey: appName, registryValue: address }
  await post('/api/registry', JSON.stringify(place))
}

function post(path, body) {
  return new Promise((resolve, reject) => {
    const sent = request(`${admin}${path}`, { method: 'POST', agent, headers }, (answer) => {
      const chunks = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
