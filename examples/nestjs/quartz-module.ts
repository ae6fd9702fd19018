// A NestJS module that holds a scheduler: classes of jobs are providers, with what they need injected, and so are the
// objects whose methods have @Scheduled.
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core'
import { createScheduler, type Job, type Scheduler, type SchedulerOptions } from 'quartz-ts'
import { enableScheduling, hasScheduledMethods } from 'quartz-ts/annotations'

/** Under which the scheduler is injected. */
export const SCHEDULER = Symbol('SCHEDULER')

@Injectable()
class SchedulerLifeCycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(SCHEDULER) private readonly scheduler: Scheduler,
    private readonly discovery: DiscoveryService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const instances = this.#scheduledInstances()
    // Each planned time runs once in all processes that share the store.
    if (instances.length > 0) await enableScheduling({ cluster: this.scheduler, instances })
    await this.scheduler.start()
  }

  /** Afterwards Nest waits for open requests, which a stream of events would keep it from ending. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 30_000 })
  }

  /** Providers and controllers that have `@Scheduled` methods. */
  #scheduledInstances(): readonly object[] {
    const instances: object[] = []
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const instance: unknown = wrapper.instance
      if (typeof instance !== 'object' || instance === null || !hasScheduledMethods(instance)) continue
      // One for each request has nothing injected before there is a request.
      if (!wrapper.isDependencyTreeStatic()) {
        throw new Error(`${String(wrapper.name)} has @Scheduled methods, so its scope must be Scope.DEFAULT.`)
      }
      instances.push(instance)
    }
    return instances
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
