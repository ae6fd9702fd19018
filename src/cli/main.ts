#!/usr/bin/env node
import { systemClock } from '../time/clock.ts'
import { exitCodes } from './exit-codes.ts'
import { processHost } from './host.ts'
import { runCli } from './run-cli.ts'

// `quartz-ts next ... | head -1` closes the pipe early, and a terminal may close. Neither is a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || error.code === 'EIO') {
    // What runs jobs stops as when its terminal closes, and lets them end.
    if (!process.emit('SIGHUP', 'SIGHUP')) process.exit()
    return
  }
  // Jobs go on where the disk that has their log is full.
  if (process.listenerCount('SIGHUP') > 0) return
  process.stderr.write(`quartz-ts: the output cannot be written: ${error.message}\n`)
  process.exit(exitCodes.failed)
})

// There is no other place to say it, and jobs go on where the disk that has their log is full.
process.stderr.on('error', () => {})

process.exitCode = await runCli(process.argv.slice(2), processHost())
// Here running jobs are not waited for any longer.
const isWithoutJobs = [exitCodes.atOnce, exitCodes.leftRunning].some((code) => code === process.exitCode)
if (isWithoutJobs) process.exit()
// Otherwise the process ends by itself, unless what the settings import keeps a connection or a timer. A reader
// that is slow still gets all of the output.
systemClock.setTimer(1000, () => process.stdout.write('', () => process.exit()), { unref: true })
