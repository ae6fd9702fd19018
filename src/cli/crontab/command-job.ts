import { JobExecutionError } from '../../core/errors.ts'
import { textOf } from '../../core/thrown-value.ts'
import { defineJob } from '../../jobs/define-job.ts'
import type { InlineJobDefinition } from '../../jobs/job-definition.ts'
import { firstLine, type Outcome, outcomeNote } from './outcome.ts'
import type { ProcessResult, ProcessRunner } from './process-runner.ts'

/** One line of a crontab as job data. */
export type CommandJobData = {
  readonly command: string
  /** Standard input; null for none. */
  readonly input: string | null
  /** The variables that the file sets above the line. */
  readonly variables: Readonly<Record<string, string>>
}

/** The shell that cron uses where the file names none. */
const defaultShell = '/bin/sh'

export type CommandJob = InlineJobDefinition<CommandJobData>

/** The job behind every line of a crontab: runs its command in a shell and fails when the command does. */
export function commandJob(
  runner: ProcessRunner,
  environment: Readonly<Record<string, string | undefined>>,
): CommandJob {
  return defineJob<CommandJobData>('command', async (context) => {
    const { command, input, variables } = context.mergedJobDataMap
    const shell = variables['SHELL'] ?? defaultShell
    const result = await run(runner, {
      shell,
      command,
      input,
      environment: { ...environment, ...variables, SHELL: shell },
      signal: context.signal,
    })
    const outcome = describe(result, context.signal)
    context.put(outcomeNote, outcome)
    if (!outcome.isGood) throw new JobExecutionError(`${outcome.status}: ${outcome.text}`)
    return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr }
  })
}

async function run(
  runner: ProcessRunner,
  request: Parameters<ProcessRunner['run']>[0],
): Promise<ProcessResult> {
  try {
    return await runner.run(request)
  } catch (error) {
    throw new JobExecutionError(`cannot start the shell '${request.shell}': ${textOf(error)}`, {
      cause: error,
    })
  }
}

/** The note of a failure comes from standard error, that of a success from standard output. */
function describe(result: ProcessResult, signal: AbortSignal): Outcome {
  const { exitCode, leftRunning, signalName, stdout, stderr } = result
  const isGood = exitCode === 0 && !signal.aborted
  const said = isGood ? firstLine(stdout) || firstLine(stderr) : firstLine(stderr) || firstLine(stdout)
  const ending = signalName ?? `exit ${exitCode ?? 'unknown'}`
  if (!signal.aborted) return { isGood, status: ending, text: said }
  const reason: unknown = signal.reason
  const isTimeout = reason instanceof JobExecutionError && reason.code === 'ERR_JOB_TIMEOUT'
  const became = leftRunning === undefined ? `ended by ${ending}` : `left running, as ${leftRunning}`
  const text = said === '' ? became : `${became}: ${said}`
  return { isGood, status: isTimeout ? 'timeout' : 'stopped', text }
}
