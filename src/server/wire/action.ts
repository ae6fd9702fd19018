import { z } from 'zod'
import { type KeyJson, keyJson } from './fields.ts'

/** Where a change has arrived. */
export interface LandedJson {
  /** `cluster`: all nodes that share the store; `node`: the named node alone. */
  readonly scope: 'cluster' | 'node'
  /** The instance id of the node that was asked. */
  readonly node: string
}

/** The answer to whatever changes something. */
export interface ActionJson<Result = unknown> {
  /** True when it was asked for `dryRun`: nothing has happened. */
  readonly dryRun: boolean
  /** Whether something has changed, or would. False for what is so already, and for what is not there. */
  readonly changed: boolean
  readonly landed: LandedJson
  readonly result: Result
}

const landedJson: z.ZodType<LandedJson> = z.strictObject({
  scope: z.enum(['cluster', 'node']),
  node: z.string(),
})

export function actionJson<Result>(result: z.ZodType<Result>): z.ZodType<ActionJson<Result>> {
  return z.strictObject({ dryRun: z.boolean(), changed: z.boolean(), landed: landedJson, result })
}

/** What came of asking for a run by hand. */
export interface RunJson {
  /** Of the one-shot trigger; null in a dry run. */
  readonly triggerKey: KeyJson | null
  /** The run waits: a group of it or everything is paused. */
  readonly paused: boolean
}

export const runActionJson: z.ZodType<ActionJson<RunJson>> = actionJson(
  z.strictObject({
    triggerKey: keyJson.nullable().describe('Of the one-shot trigger.'),
    paused: z
      .boolean()
      .describe(
        'The run waits until its trigger is resumed: the group of the job, the trigger group DEFAULT or everything ' +
          'is paused.',
      ),
  }),
)

/** An action that has nothing more to say. */
export const plainActionJson: z.ZodType<ActionJson<null>> = actionJson(z.null())
