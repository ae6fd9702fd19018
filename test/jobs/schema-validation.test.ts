import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { JobDefinition } from '../../src/jobs/job-definition.ts'
import { validateAgainstSchema as validate } from '../../src/jobs/schema-validation.ts'
import type { StandardSchema, StandardSchemaResult } from '../../src/jobs/standard-schema.ts'

const owner = "job 'reports.daily'"

/** What is thrown at once is a rejection here, as of a schema that answers later. */
async function validateAgainstSchema<Data extends object>(
  definition: JobDefinition<Data>,
  data: object,
  whose: string,
): Promise<Data> {
  return validate(definition, data, whose)
}

function handWritten(
  validate: (value: unknown) => StandardSchemaResult<object> | Promise<StandardSchemaResult<object>>,
): StandardSchema<object> {
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

const libraries: readonly [string, StandardSchema<{ to: string; pages: number }>][] = [
  ['zod', z.object({ to: z.string(), pages: z.number() })],
  ['valibot', v.object({ to: v.string(), pages: v.number() })],
  ['arktype', type({ to: 'string', pages: 'number' })],
]

describe('validateAgainstSchema', () => {
  it.each(libraries)('accepts and refuses data with %s, naming the key', async (_library, schema) => {
    const definition = defineJob('report', (context) => context.mergedJobDataMap.to, { schema })
    const good = { to: 'ops', pages: 3 }
    const checked = await validateAgainstSchema(definition, good, owner)
    expectTypeOf(checked).toEqualTypeOf<{ to: string; pages: number }>()
    expect(checked).toEqual(good)
    await expect(validateAgainstSchema(definition, { to: 1, pages: 3 }, owner)).rejects.toMatchObject({
      code: 'ERR_JOB_DATA_SCHEMA',
      field: 'jobDataMap.to',
      message: expect.stringMatching(
        /^Job data of job 'reports\.daily' does not fit the schema of job type 'report': 'jobDataMap\.to': .*string/,
      ) as string,
    })
    await expect(validateAgainstSchema(definition, { to: 'ops' }, owner)).rejects.toMatchObject({
      field: 'jobDataMap.pages',
    })
  })

  it('answers the data as they are without a schema', async () => {
    const data = { any: 1 }
    expect(
      await validateAgainstSchema(
        defineJob('report', () => 1),
        data,
        owner,
      ),
    ).toBe(data)
  })

  it('answers what the schema made of the data', async () => {
    const schema = z.object({ pages: z.coerce.number(), copies: z.number().default(1) })
    const definition = defineJob('report', () => 1, { schema })
    expect(await validateAgainstSchema(definition, { pages: '3' }, owner)).toEqual({ pages: 3, copies: 1 })
  })

  it('writes paths with keys, indices and path objects', async () => {
    const schema = handWritten(() => ({
      issues: [{ message: 'no', path: ['list', 2, { key: 'name' }] }, { message: 'whole' }],
    }))
    await expect(
      validateAgainstSchema(
        defineJob('report', () => 1, { schema }),
        {},
        owner,
      ),
    ).rejects.toMatchObject({
      field: 'jobDataMap.list[2].name',
      message: expect.stringContaining("'jobDataMap.list[2].name': no; 'jobDataMap': whole.") as string,
    })
  })

  it('shows five issues and counts the others', async () => {
    const issues = Array.from({ length: 7 }, (_, index) => ({ message: `issue ${index}` }))
    const definition = defineJob('report', () => 1, { schema: handWritten(async () => ({ issues })) })
    await expect(validateAgainstSchema(definition, {}, owner)).rejects.toThrow(/issue 4; and 2 more\.$/)
    const silent = defineJob('report', () => 1, { schema: handWritten(() => ({ issues: [] })) })
    await expect(validateAgainstSchema(silent, {}, owner)).rejects.toMatchObject({ field: 'jobDataMap' })
  })

  it('reports a schema that throws, rejects, or makes something else of the data', async () => {
    const broken = new Error('broken')
    const schemas = [
      handWritten(() => {
        throw broken
      }),
      handWritten(() => Promise.reject(broken)),
    ]
    for (const schema of schemas) {
      await expect(
        validateAgainstSchema(
          defineJob('report', () => 1, { schema }),
          {},
          owner,
        ),
      ).rejects.toMatchObject({ code: 'ERR_JOB_DATA_SCHEMA', cause: broken })
    }
    const toText = defineJob('report', () => 1, { schema: handWritten(() => ({ value: 'text' as never })) })
    await expect(validateAgainstSchema(toText, {}, owner)).rejects.toThrow(
      /into 'text'; job data must stay an object/,
    )
    const silent = defineJob('report', () => 1, { schema: handWritten(() => undefined as never) })
    await expect(validateAgainstSchema(silent, {}, owner)).rejects.toMatchObject({
      code: 'ERR_JOB_DATA_SCHEMA',
      message: expect.stringContaining(
        "'report' answered undefined for the data of job 'reports.daily'",
      ) as string,
    })
  })
})
