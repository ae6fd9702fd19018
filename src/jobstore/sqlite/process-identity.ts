import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from '../../core/thrown-value.ts'

/** What is needed to find out later whether a process still runs. */
export interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** Where the process id is valid: this boot of the machine, or one container on it. */
  readonly space: string
  /** When the process began, as the system reports it; null where that is not known. */
  readonly started: string | null
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  const { pid } = process
  return { pid, host: hostname(), space: processSpace(), started: startOf(pid) }
}

/** Whether it is this process, and no other one that has or had its number. */
export function isOfThisProcess({ pid, space, started }: ProcessIdentity): boolean {
  return pid === process.pid && space === processSpace() && started === startOf(pid)
}

/** `unknown`: it may run where this process cannot see it, or its number may belong to another process by now. */
export function fateOf(identity: ProcessIdentity): 'alive' | 'gone' | 'unknown' {
  if (identity.space !== processSpace()) return 'unknown'
  if (!exists(identity.pid)) return 'gone'
  const started = startOf(identity.pid)
  if (started === null || identity.started === null) return 'unknown'
  return started === identity.started ? 'alive' : 'gone'
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process may not be signalled, but it exists.
    return codeOf(error) === 'EPERM'
  }
}

/** Containers may share the host's name but not its process ids; process ids start again at a boot. */
function processSpace(): string {
  const parts = [
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    () => readlinkSync('/proc/self/ns/pid'),
  ]
  return [hostname(), ...parts.map((read) => attempt(read) ?? '')].join(' ').trim()
}

function startOf(pid: number): string | null {
  const stat = attempt(() => readFileSync(`/proc/${String(pid)}/stat`, 'utf8'))
  // The name of the program may hold any character, blanks and brackets too; the start is the 20th field after it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

/** Null when the system has no such file. */
function attempt(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
