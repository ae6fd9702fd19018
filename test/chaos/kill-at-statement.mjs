// Loaded before a command: ends the process with SIGKILL when it has sent the SQL texts of QUARTZ_TS_TEST_KILL_AT in
// their order, or when it is about to send the last of them.
import { createRequire } from 'node:module'
import { Socket } from 'node:net'

const { texts, when } = JSON.parse(process.env.QUARTZ_TS_TEST_KILL_AT ?? '{"texts":[]}')
const left = [...texts]

function send(text, sent) {
  const isNext = left.length > 0 && text.includes(left[0])
  if (isNext && left.length === 1 && when === 'before') process.kill(process.pid, 'SIGKILL')
  const answer = sent()
  if (isNext && left.length === 1) process.kill(process.pid, 'SIGKILL')
  if (isNext) left.shift()
  return answer
}

const { prototype } = createRequire(import.meta.url)('better-sqlite3')
const { prepare } = prototype
prototype.prepare = function (text) {
  const statement = prepare.call(this, text)
  for (const name of ['run', 'all', 'get']) {
    const method = statement[name]
    statement[name] = (...values) => send(text, () => method.apply(statement, values))
  }
  return statement
}

const { write } = Socket.prototype
Socket.prototype.write = function (chunk, ...rest) {
  return send(Buffer.from(chunk).toString('latin1'), () => write.call(this, chunk, ...rest))
}
