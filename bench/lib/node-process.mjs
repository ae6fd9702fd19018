import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('node-entry.mjs', import.meta.url))

/**
 * A scheduler in a process of its own, over the given data; `next(kind)` waits for what it says, `on(kind)` hears all
 * of it.
 */
export async function startNode(settings) {
  const child = fork(entry, [JSON.stringify(settings)], { env: { ...process.env, NODE_OPTIONS: '' } })
  const waiting = new Map()
  const said = new Map()
  const heard = new Map()
  child.on('message', ({ kind, ...rest }) => {
    if (heard.has(kind)) {
      heard.get(kind)(rest)
      return
    }
    const resolve = waiting.get(kind)
    waiting.delete(kind)
    if (resolve === undefined) said.set(kind, [...(said.get(kind) ?? []), rest])
    else resolve(rest)
  })
  const next = (kind) => {
    const [message, ...later] = said.get(kind) ?? []
    if (message !== undefined) {
      said.set(kind, later)
      return Promise.resolve(message)
    }
    return new Promise((resolve) => {
      waiting.set(kind, resolve)
    })
  }
  const exited = new Promise((resolve) => {
    child.on('exit', resolve)
  })
  await next('ready')
  return {
    next,
    on: (kind, hear) => heard.set(kind, hear),
    tell: (message) => child.send(message),
    kill: () => child.kill('SIGKILL'),
    stop: async () => {
      child.send({ op: 'stop' })
      await exited
    },
  }
}
