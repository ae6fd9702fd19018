// A worker job whose thread sits in native code: no interrupt reaches it and no thread is ended before the call has
// returned. What it does is written by the command that it waits for, so the last line tells when it really ended.

import { execFileSync } from 'node:child_process'

export default function native(context) {
  const { log, bodyMs } = context.mergedJobDataMap
  const node = process.env.CHAOS_NODE
  const line = (kind) =>
    JSON.stringify({
      at: 0,
      kind,
      node,
      pid: process.pid,
      trigger: context.triggerKey.toString(),
      planned: context.scheduledFireTime.getTime(),
      firedAt: context.fireTime.getTime(),
      job: context.jobKey.toString(),
      id: context.fireInstanceId,
      attempt: context.attempt,
      recovering: context.recovering,
    })
  const write = `sed "s/\\"at\\":0/\\"at\\":$(date +%s%3N)/" >> "$0"`
  const script = `printf '%s\\n' "$1" | ${write}; sleep ${String(bodyMs / 1000)}; printf '%s\\n' "$2" | ${write}`
  execFileSync('bash', ['-c', script, log, line('started'), line('ended')])
}
