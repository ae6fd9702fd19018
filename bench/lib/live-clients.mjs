// The clients of a server in a process of their own: streams that are read, streams that are not, and a page that is
// open on the Overview.
import { get } from 'node:http'

const [, , address, token] = process.argv
const headers = { authorization: `Bearer ${token}` }
const latencies = []
const counts = { events: 0, resyncs: 0, requests: 0, failed: 0 }

function openStream(isRead) {
  return new Promise((resolve, reject) => {
    const request = get(`${address}/api/events`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was answered ${response.statusCode}`))
      resolve()
      if (!isRead) {
        response.pause()
        return
      }
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        const nowMs = Date.now()
        const blocks = (rest + chunk).split('\n\n')
        rest = blocks.pop()
        for (const block of blocks) {
          if (block.includes('event: resync')) counts.resyncs++
          const at = /"atMs":(\d+)/.exec(block)
          if (at === null) continue
          counts.events++
          latencies.push(nowMs - Number(at[1]))
        }
      })
    })
    request.on('error', reject)
  })
}

/** What the Overview asks for again and again. */
const asked = [
  '/scheduler',
  '/overview',
  '/nodes',
  '/groups',
  '/executing',
  '/job-status?consecutiveFailures=3&take=5',
  '/execution-stats?minutes=60',
]
async function poll() {
  await Promise.all(
    asked.map(async (path) => {
      const response = await fetch(`${address}/api${path}`, { headers })
      await response.text()
      counts.requests++
      if (!response.ok) counts.failed++
    }),
  )
}

const commands = {
  async streams({ read, stuck }) {
    for (let open = 0; open < read; open++) await openStream(true)
    for (let open = 0; open < stuck; open++) await openStream(false)
  },
  async page({ everyMs }) {
    await openStream(true)
    await poll()
    setInterval(() => void poll(), everyMs)
  },
  async forget() {
    latencies.length = 0
    counts.events = 0
  },
  async measured() {
    return { latencies: Float64Array.from(latencies), ...counts }
  },
}

process.on('message', (message) => {
  commands[message.do](message).then(
    (answer) => process.send(answer ?? {}),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
