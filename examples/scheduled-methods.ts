// Methods that say themselves when they run: first in this process, without a store; then the same class as jobs of a
// scheduler, which instances that share its store would run once for all of them.
import { createScheduler } from 'quartz-ts'
import { enableScheduling, Scheduled, type ScheduledContext } from 'quartz-ts/annotations'

class Heartbeat {
  #beats = 0

  @Scheduled({ fixedRate: '${heartbeat.rate:100ms}' })
  beat({ execution }: ScheduledContext): void {
    this.#beats += 1
    console.log(execution === null ? `alive ${this.#beats}` : 'once in the cluster')
  }

  @Scheduled({ fixedDelay: '1s', initialDelay: '150ms', name: 'cleanup' })
  async cleanUp(): Promise<void> {
    await Promise.resolve()
    console.log('cleaned up')
  }

  @Scheduled({ cron: '0 0 7 * * MON-FRI', zone: 'Europe/Paris' })
  report(): void {
    console.log('the report of the day')
  }
}

{
  await using scheduling = await enableScheduling({ instances: [new Heartbeat()] })
  for (const task of scheduling.tasks()) console.log(`${task.name}, ${task.kind}`)
  await new Promise((resolve) => setTimeout(resolve, 250))
}

await using scheduler = await createScheduler()
await enableScheduling({ cluster: scheduler, instances: [new Heartbeat()] })
await scheduler.start()
await scheduler.events.next('jobWasExecuted')
