import { checkTrigger, type Trigger } from '../trigger.ts'
import type { TriggerJson } from './plain-form.ts'
import { TriggerFamilies } from './trigger-families.ts'

/**
 * The plain form of a trigger: `triggerFromJSON` makes an equal trigger of it. The job data is shared, not copied. For
 * triggers of families of your own: `new TriggerFamilies([...]).toJSON(trigger)`.
 *
 * @throws InvalidArgumentError ERR_INVALID_TRIGGER for a trigger of a family that is not of this library
 */
export function triggerToJSON(trigger: Trigger): TriggerJson {
  checkTrigger('triggerToJSON', 'trigger', trigger)
  return TriggerFamilies.ofLibrary.toJSON(trigger)
}

/**
 * The trigger of a plain form that {@link triggerToJSON} made, validated.
 *
 * @throws InvalidArgumentError ERR_INVALID_TRIGGER naming the field, ERR_UNKNOWN_TIME_ZONE; CronExpressionError
 */
export function triggerFromJSON(json: unknown): Trigger {
  return TriggerFamilies.ofLibrary.fromJSON(json)
}
