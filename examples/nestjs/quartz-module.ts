// A NestJS module that holds a scheduler: classes of jobs are providers, with what they need injected, and so are the
// objects whose methods have @Scheduled.
import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type Type,
} from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core'
import {
  createScheduler,
  defineJob,
  type Job,
  type JobExecutionContext,
  type Scheduler,
  type SchedulerOptions,
} from 'quartz-ts'
import { enableScheduling, hasScheduledMethods } from 'quartz-ts/annotations'

/** Under which the scheduler is injected. */
export const SCHEDULER = Symbol('SCHEDULER')

/** A class of jobs that Nest makes. The type under which its jobs are stored does not change with its name. */
export interface JobProvider extends Type<Job> {
  readonly jobType: string
}

export interface QuartzModuleOptions extends Omit<SchedulerOptions, 'jobs'> {
  readonly jobs?: readonly JobProvider[]
}

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
  static forRoot({ jobs = [], ...options }: QuartzModuleOptions = {}): DynamicModule {
    const scheduler = {
      provide: SCHEDULER,
      inject: [ModuleRef],
      useFactory: (container: ModuleRef) =>
        createScheduler({
          ...options,
          // The provider is asked for at each run, so that it may need the scheduler itself.
          jobs: jobs.map((job) =>
            defineJob(job.jobType, (context: JobExecutionContext) =>
              container.get(job, { strict: false }).execute(context),
            ),
          ),
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
