import type { JobRunContext } from '../../../jobs/job-run-context.ts'
import { loadWorkerFunction } from '../../../threadpool/worker-module.ts'
import { type HandleResult, RunContext, type RunFacts } from '../run-context.ts'
import { withinRun } from '../xxl-job-helper.ts'
import type { XxlJobFunction } from './xxl-job-handler.ts'

/** What the main thread sends along with a run. */
export interface WorkerRunData {
  readonly moduleUrl: string
  readonly exportName: string
  readonly facts: RunFacts
}

/** Runs in a worker thread: calls the handler of a module there, with the context that a function on the loop has. */
export async function runXxlJob(run: JobRunContext): Promise<HandleResult> {
  const { moduleUrl, exportName, facts } = run.mergedJobDataMap as unknown as WorkerRunData
  const handler = (await loadWorkerFunction(moduleUrl, exportName)) as unknown as XxlJobFunction
  const context = new RunContext(
    facts,
    () => run.signal,
    (text) => {
      run.log.info({}, text)
    },
  )
  await withinRun(context, () => handler(context))
  return context.result
}
