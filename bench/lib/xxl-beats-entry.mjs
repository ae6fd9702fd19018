// Executors of XXL-JOB that only beat, spread over the time between two beats. Arguments: how many, the time in
// milliseconds, the address of the admin, its token.
import { Agent, request } from 'node:http'

const [count, everyMs, admin, token] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 50 })
const headers = { 'content-type': 'application/json', 'xxl-job-access-token': token }

const beatAll = (stepMs) =>
  Promise.all(
    Array.from({ length: Number(count) }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * stepMs))
      await beat(`http://10.0.${Math.floor(index / 250)}.${(index % 250) + 1}:9999/`)
    }),
  )
process.on('disconnect', () => process.exit(0))
await beatAll(0)
process.send({ kind: 'ready' })
for (;;) await beatAll(Number(everyMs) / Number(count))

function beat(address) {
  const body = JSON.stringify({ registryGroup: 'EXECUTOR', registryKey: 'beats', registryValue: address })
  return new Promise((resolve, reject) => {
    const sent = request(`${admin}/api/registry`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
