import { z } from 'zod'
import { errorCodes } from '../../core/errors.ts'
import { packageVersion } from '../../core/version.ts'
import type { Operation } from '../catalogue/operation.ts'
import { keyJson } from '../wire/fields.ts'
import { jobJson, jobSummaryJson } from '../wire/jobs.ts'
import { executingJson, executionJson, nodeJson, schedulerJson } from '../wire/runs.ts'
import { triggerDetailJson, triggerFieldsJson, triggerSummaryJson } from '../wire/triggers.ts'

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

/** Answers whose schemas have names of their own in the document. */
const named: Readonly<Record<string, z.ZodType>> = {
  Key: keyJson,
  Job: jobJson,
  JobSummary: jobSummaryJson,
  Trigger: triggerDetailJson,
  TriggerFields: triggerFieldsJson,
  TriggerSummary: triggerSummaryJson,
  Executing: executingJson,
  Execution: executionJson,
  Node: nodeJson,
  Scheduler: schedulerJson,
}

const problemSchema: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: errorCodes },
    detail: { type: 'string' },
    field: { type: 'string' },
    position: { type: 'integer' },
    suggestion: { type: ['string', 'null'] },
    problems: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

/** The OpenAPI 3.1 description of the API, made of the schemas that check requests. */
export function openApiDocument(catalogue: readonly Operation[]): Json {
  const schemas = new Schemas()
  const paths = new Map<string, Record<string, unknown>>()
  for (const operation of catalogue) {
    const path = paths.get(operation.path) ?? {}
    path[operation.method.toLowerCase()] = describe(operation, schemas)
    if (operation.isServerWide === true) path['servers'] = [{ url: '/api' }]
    paths.set(operation.path, path)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'quartz-ts',
      version: packageVersion,
      description:
        'Instants are epoch milliseconds. A part of a path that is empty or begins with a dot or with `~` gets a ' +
        'leading `~`. What is not known is null.',
    },
    servers: [
      { url: '/api', description: 'The default scheduler.' },
      {
        url: '/api/schedulers/{scheduler}',
        description: 'Another scheduler of the same server.',
        variables: { scheduler: { default: 'QuartzScheduler' } },
      },
    ],
    security: [{ token: [] }, { session: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'quartz_ts_session',
          description:
            'Its name ends with the port, where the address has one, and with the path of the mount.',
        },
      },
      schemas: { Problem: problemSchema, ...schemas.components },
    },
  }
}

function describe(operation: Operation, schemas: Schemas): Json {
  const { id, summary, role, reach, body, otherStatus } = operation
  const security = role === null ? { security: [] } : {}
  return {
    operationId: id,
    summary,
    description: descriptionOf(operation),
    ...security,
    'x-role': role,
    'x-reach': reach,
    parameters: parametersOf(operation, schemas),
    ...(body !== null && {
      requestBody: { required: true, content: { 'application/json': { schema: schemas.input(body) } } },
    }),
    responses: {
      200: {
        description: 'Done.',
        ...headersOf(operation),
        content: contentOf(operation, schemas),
      },
      ...(otherStatus !== undefined && {
        [otherStatus]: { description: 'Not well.', content: contentOf(operation, schemas) },
      }),
      default: {
        description: 'A problem.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function headersOf({ isList, isVersioned, reach }: Operation): Json {
  if (isList === true) {
    const description =
      'Of a page as CSV: where the next one is, with `rel="next"`. Absent where there is none.'
    return { headers: { Link: { description, schema: { type: 'string' } } } }
  }
  return isVersioned === true && reach === null ? { headers: { ETag: { schema: { type: 'string' } } } } : {}
}

function descriptionOf({ role, reach, jobGroups }: Operation): string {
  if (role === null) return 'For anyone.'
  const scope = jobGroups === null ? ' on everything' : ', on everything or on the job group'
  return `Needs the role ${role}${scope}.${reach === null ? '' : ' Changes something.'}`
}

function contentOf({ answer, isStream, isList, contentType }: Operation, schemas: Schemas): Json {
  if (contentType !== undefined) return { [contentType]: { schema: { type: 'string' } } }
  if (isStream === true) return { 'text/event-stream': { schema: { type: 'string' } } }
  const json = { 'application/json': { schema: schemas.output(answer) } }
  return isList === true ? { ...json, 'text/csv': { schema: { type: 'string' } } } : json
}

function parametersOf({ params, query, reach, isVersioned }: Operation, schemas: Schemas): readonly Json[] {
  const ofChange: readonly Json[] =
    reach === null
      ? []
      : [
          {
            name: 'dryRun',
            in: 'query',
            description: 'Only say what would happen.',
            schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
          },
          {
            name: 'Idempotency-Key',
            in: 'header',
            description:
              'The same key gets the answer of the first request again, for ten minutes, ' +
              'as long as it is among the last 1,000 of this process.',
            schema: { type: 'string', minLength: 1, maxLength: 200 },
          },
          ...(isVersioned === true ? preconditions : []),
        ]
  return [
    ...parametersIn('path', schemas.input(params)),
    ...parametersIn('query', schemas.input(query)),
    ...ofChange,
  ]
}

const preconditions: readonly Json[] = [
  {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` with which it was read: refused when it was changed since. What is masked does not count.',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description: '`*`: refused when it is there already.',
    schema: { type: 'string' },
  },
]

function parametersIn(place: 'path' | 'query', { properties, required }: Json): readonly Json[] {
  const needed = Array.isArray(required) ? (required as unknown[]) : []
  return Object.entries((properties ?? {}) as Record<string, Json>).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: place,
      required: place === 'path' || needed.includes(name),
      ...(description !== undefined && { description }),
      schema,
    }),
  )
}

/** Turns schemas into JSON Schema, and gathers those that have names. */
class Schemas {
  readonly components: Record<string, unknown> = {}
  readonly #names = z.registry<{ id: string }>()

  constructor() {
    for (const [id, schema] of Object.entries(named)) this.#names.add(schema, { id })
  }

  input(schema: z.ZodType): Json {
    const made = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      // zod leaves the default out where text is read first, as of numbers in a query.
      override: ({ zodSchema: { _zod }, jsonSchema }) => {
        if (_zod.def.type === 'default' && jsonSchema.type === 'integer')
          jsonSchema.default = _zod.def.defaultValue
      },
    })
    return withoutDialect(made)
  }

  output(schema: z.ZodType): Json {
    const made = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any', metadata: this.#names })
    const { $defs = {}, ...own } = JSON.parse(
      JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'),
    ) as { readonly $defs?: Json }
    Object.assign(this.components, $defs)
    return withoutDialect(own)
  }
}

function withoutDialect(schema: Json): Json {
  return Object.fromEntries(Object.entries(schema).filter(([field]) => field !== '$schema' && field !== 'id'))
}
