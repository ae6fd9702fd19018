import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import { openApiDocument } from '../../src/server/openapi/document.ts'
import { operationsAsMarkdown } from '../../src/server/openapi/markdown.ts'
import { projectRoot } from '../support/source-files.ts'

const document = openApiDocument(catalogue)

/** Every `$ref` of the document. */
function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : refsOf(inner),
  )
}

const fileText = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')
const words = (text: string): string => text.replace(/\s+/g, ' ')

// `npm run openapi` writes both files anew.
test('openapi.json of the package is what the schemas say', () => {
  expect(fileText('openapi.json')).toBe(`${JSON.stringify(document, null, 1)}\n`)
})

test('the page of the reference is what the schemas say', () => {
  expect(words(fileText('docs/reference/http-api.md'))).toBe(words(operationsAsMarkdown(document, catalogue)))
})

test('every reference in the document leads somewhere', () => {
  const refs = new Set(refsOf(document))
  const { schemas } = document['components'] as { schemas: Record<string, unknown> }
  expect(refs.size).toBeGreaterThan(5)
  expect([...refs].filter((ref) => !(ref.replace('#/components/schemas/', '') in schemas))).toEqual([])
})

test('lists say that a page as CSV names the next one', () => {
  const paths = document['paths'] as Record<string, { get: { responses: { 200: object } } }>
  const lists = catalogue.filter(({ isList }) => isList === true)
  expect(lists.length).toBeGreaterThan(5)
  for (const { path } of lists) expect(paths[path]?.get.responses[200]).toHaveProperty('headers.Link')
})

test('every parameter of a path is described, and every operation once', () => {
  const paths = document['paths'] as Record<
    string,
    Record<string, { parameters?: { name: string; in: string }[] }>
  >
  const ids: unknown[] = []
  for (const [path, methods] of Object.entries(paths)) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const [method, described] of Object.entries(methods)) {
      if (method === 'servers') continue
      ids.push(Reflect.get(described, 'operationId'))
      const found = described.parameters?.filter((each) => each.in === 'path').map(({ name }) => name)
      expect([path, found]).toEqual([path, wanted])
    }
  }
  expect(ids.toSorted()).toEqual(catalogue.map(({ id }) => id).toSorted())
})
