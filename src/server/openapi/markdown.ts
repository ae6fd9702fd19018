import type { Operation } from '../catalogue/operation.ts'
import type { Json } from './document.ts'

/** The operations as a page of the reference, from the OpenAPI document. */
export function operationsAsMarkdown(document: Json, catalogue: readonly Operation[]): string {
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>
  const sections = catalogue.map((operation) => {
    const described = paths[operation.path]?.[operation.method.toLowerCase()] ?? {}
    const place = placeOf(operation)
    const lines = [
      `### ${operation.id}`,
      '',
      `\`${operation.method} /api${operation.path}\`${place}`,
      '',
      operation.summary,
      '',
      String(described['description']),
      ...parametersOf(described),
      ...bodyOf(described),
    ]
    return lines.join('\n')
  })
  return `${[...introduction, ...sections].join('\n\n')}\n`
}

function placeOf({ isAtRoot, isServerWide, path }: Operation): string {
  if (isAtRoot === true) return ` (also \`${path}\`)`
  return isServerWide === true ? '' : ' (also below `/api/schedulers/{scheduler}`)'
}

const introduction: readonly string[] = [
  '# Operations of the HTTP API',
  'Made from the schemas that check requests, as `openapi.json` of the package is. The name of an operation is its ' +
    'OpenAPI `operationId`, its name in the audit, and its name in the `operations` of `GET /api/session`. How the ' +
    'server is set up and what it promises: [the HTTP API](../guide/server).',
]

function parametersOf(described: Json): readonly string[] {
  const parameters = (described['parameters'] ?? []) as readonly Json[]
  if (parameters.length === 0) return []
  const rows = parameters.map(({ name, in: place, required, description, schema }) => {
    const cells = [
      `\`${String(name)}\``,
      String(place),
      `${typeOf(schema as Json)}${boundsOf(schema as Json)}`,
      required === true ? 'yes' : '',
    ]
    return `| ${[...cells, cell(description)].join(' | ')} |`
  })
  return ['', '| parameter | in | type | required | |', '|---|---|---|---|---|', ...rows]
}

function bodyOf(described: Json): readonly string[] {
  const body = described['requestBody'] as { content: Readonly<Record<string, { schema: Json }>> } | undefined
  const schema = body?.content['application/json']?.schema
  if (schema === undefined) return []
  return ['', 'Body:', '', ...alternativesOf(schema).flatMap((each) => fieldsOf(each, ''))]
}

function alternativesOf(schema: Json): readonly Json[] {
  const alternatives = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(alternatives) ? (alternatives as readonly Json[]) : [schema]
}

function fieldsOf(schema: Json, indent: string): readonly string[] {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Json>>)
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const lines = properties.map(([name, field]) => {
    const about = field['description'] === undefined ? '' : ` ${cell(field['description'])}`
    const byDefault =
      field['default'] === undefined ? 'optional' : `default \`${JSON.stringify(field['default'])}\``
    const needed = required.includes(name) ? '' : `, ${byDefault}`
    return `${indent}- \`${name}\`: ${typeOf(field)}${needed}.${about}`
  })
  return [...lines, '']
}

function typeOf(schema: Json): string {
  const { const: literal, enum: values, type } = schema
  if (literal !== undefined) return `\`${JSON.stringify(literal)}\``
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ')
  if (typeof type === 'string') return type
  const alternatives = alternativesOf(schema)
  return alternatives.length === 1 && alternatives[0] === schema
    ? 'any'
    : alternatives.map(typeOf).join(' or ')
}

/** From, to and the default of a number; the bounds of instants are those of dates, and are left out. */
function boundsOf({ minimum, maximum, default: byDefault }: Json): string {
  const isBounded = typeof minimum === 'number' && typeof maximum === 'number' && maximum < 1e12
  const bounds = isBounded ? `, ${minimum} to ${maximum}` : ''
  return byDefault === undefined || byDefault === ''
    ? bounds
    : `${bounds}, default \`${typeof byDefault === 'string' ? byDefault : JSON.stringify(byDefault)}\``
}

function cell(text: unknown): string {
  return typeof text === 'string' ? text.replaceAll('|', '\\|').replaceAll('\n', ' ') : ''
}
