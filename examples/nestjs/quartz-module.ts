// A NestJS module that holds a scheduler: classes of jobs are providers, with what they need injected, and so are the
// objects whose methods have @Scheduled.
import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core'
import { createScheduler, type Job, type Scheduler, type SchedulerOptions } from 'quartz-ts'
import { enableScheduling, hasScheduledMethods } from 'quartz-ts/annotations'

/** Under which the scheduler is injected. */
export const SCHEDULER = Symbol('SCHEDULER')

@Injectable()
class SchedulerLifeCycle implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(SCHEDULER) private readonly scheduler: Scheduler,
    private readonly discovery: DiscoveryService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const providers = this.discovery.getProviders().map(({ instance }) => instance as unknown)
    const instances = providers.filter(
      (instance): instance is object =>
        typeof instance === 'object' && instance !== null && hasScheduledMethods(instance),
    )
    // Each planned time runs once in all processes that share the store.
    if (instances.length > 0) await enableScheduling({ cluster: this.scheduler, instances })
    await this.scheduler.start()
  }

  async onApplicationShutdown(): Promise<void> {
    await this.scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 30_000 })
  }
}

@Module({})
export class QuartzModule {
  /** As for `createScheduler`; classes among `jobs` are providers of the application. */
  static forRoot(options: SchedulerOptions = {}): DynamicModule {
    const scheduler = {
      provide: SCHEDULER,
      inject: [ModuleRef],
      useFactory: (container: ModuleRef) =>
        createScheduler({
          ...options,
          // At each execution, so that a provider may need the scheduler itself.
          jobFactory: (jobClass) => container.get<Job>(jobClass, { strict: false }),
        }),
    }
    return {
      module: QuartzModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [scheduler, SchedulerLifeCycle],
      exports: [scheduler],
    }
  }
}
