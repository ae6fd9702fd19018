// The clients of a server in a process of their own: streams that are read, streams that are not, and a page that is
// open on the Overview.
import { get } from 'node:http'
import { overviewRequests } from './overview-requests.mjs'

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

async function poll(paths) {
  await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${address}/api${path}`, { headers })
      await response.text()
      counts.requests++
      if (!response.ok) {
        counts.failed++
        console.error(`${path} was answered ${response.status}`)
      }
    }),
  )
}

const commands = {
  async streams({ read, stuck }) {
    for (let open = 0; open < read; open++) await openStream(true)
    for (let open = 0; open < stuck; open++) await openStream(false)
  },
  async page() {
    await openStream(true)
    for (const { paths, everyMs } of overviewRequests) {
      await poll(paths)
      setInterval(() => void poll(paths), everyMs)
    }
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
