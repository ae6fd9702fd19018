import { FluentTriggerBuilder, type TriggerBuilderOptions } from '../fluent-trigger-builder.ts'
import type { Trigger } from '../trigger.ts'
import { SimpleScheduleBuilder, type SimpleTrigger } from './simple/simple-trigger.ts'

/** A builder of triggers; see {@link FluentTriggerBuilder} for its methods. */
export type TriggerBuilder<T extends Trigger = Trigger> = FluentTriggerBuilder<T>

/** Where building a trigger begins. */
export const TriggerBuilder: {
  /** A builder of a trigger that starts now and, until another schedule is given, fires once. */
  newTrigger(options?: TriggerBuilderOptions): TriggerBuilder<SimpleTrigger>
} = {
  newTrigger: (options) => new FluentTriggerBuilder(SimpleScheduleBuilder.simpleSchedule(), options),
}
