import { describe, expect, it } from 'vitest'
import { instruments, prometheusName } from '../../src/metrics/instruments.ts'
import { projectFiles } from '../support/source-files.ts'

/** The labels of every exported series, by its name. */
const exported = new Map<string, ReadonlySet<string>>(
  Object.values(instruments).flatMap((spec) => {
    const name = prometheusName(spec)
    const labels = new Set<string>(spec.labels)
    if (spec.kind !== 'histogram') return [[name, labels]]
    return [
      [`${name}_bucket`, new Set([...labels, 'le'])],
      [`${name}_count`, labels],
      [`${name}_sum`, labels],
    ]
  }),
)
/** Labels that Prometheus adds to what it scrapes. */
const ofScrape = ['instance', 'job']

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
  readonly templating: { readonly list: readonly { readonly query: string }[] }
}

const textOf = (path: RegExp): string => projectFiles(path)[0]?.text ?? expect.fail(String(path))

/** What a query asks for that is not exported. */
function problemsOf(query: string): string[] {
  const names = [...query.matchAll(/\bquartz_\w+/g)].map(([name]) => name)
  if (names.length === 0) return [`${query} asks for nothing of quartz-ts`]
  const unknown = names.filter((name) => !exported.has(name))
  const known = new Set([...ofScrape, ...names.flatMap((name) => [...(exported.get(name) ?? [])])])
  const matched = [...query.matchAll(/(quartz_\w+)\{([^}]*)\}/g)].flatMap(([, name = '', matchers = '']) =>
    [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
      .map(([, label = '']) => label)
      .filter((label) => exported.get(name)?.has(label) === false)
      .map((label) => `${name} has no label ${label}`),
  )
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)]
    .flatMap(([, labels = '']) => labels.split(/,\s*/))
    .filter((label) => !known.has(label))
    .map((label) => `nothing in ${query} has the label ${label}`)
  return [...unknown.map((name) => `${name} is not exported`), ...matched, ...grouped]
}

describe('the Grafana dashboard', () => {
  const dashboard = JSON.parse(textOf(/^docs\/grafana\/quartz-ts\.json$/)) as Dashboard

  it('asks for what is exported alone', () => {
    const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    expect(queries.length).toBeGreaterThan(20)
    expect(queries.flatMap(problemsOf)).toEqual([])
  })

  it('fills its lists from labels that are there', () => {
    const lists = dashboard.templating.list.flatMap(({ query }) => {
      const [, name, label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? []
      return name === undefined || label === undefined ? [] : [{ name, label }]
    })
    expect(lists.length).toBe(2)
    for (const { name, label } of lists) expect(exported.get(name)?.has(label)).toBe(true)
  })

  it('shows every metric', () => {
    const text = JSON.stringify(dashboard)
    const missing = Object.values(instruments).filter((spec) => !text.includes(prometheusName(spec)))
    expect(missing).toEqual([])
  })
})

it('the alert rules for Prometheus ask for what is exported alone', () => {
  const text = textOf(/^docs\/grafana\/quartz-ts\.rules\.yml$/)
  const queries = [...text.matchAll(/^ +expr: '(.*)'$/gm)].map(([, query = '']) => query)
  expect(queries.length).toBeGreaterThan(5)
  expect(queries.length).toBe([...text.matchAll(/^ +- alert:/gm)].length)
  expect(queries.flatMap(problemsOf)).toEqual([])
})

it('the check of queries finds what is wrong', () => {
  expect(problemsOf('sum(rate(quartz_fired_total[5m]))')).toEqual(['quartz_fired_total is not exported'])
  expect(problemsOf('quartz_fires_total{queue="a"}')).toEqual(['quartz_fires_total has no label queue'])
  expect(problemsOf('sum by (cause) (quartz_fires_total)')).toEqual([
    'nothing in sum by (cause) (quartz_fires_total) has the label cause',
  ])
  expect(problemsOf('up')).toEqual(['up asks for nothing of quartz-ts'])
})

it('the guide names every metric', () => {
  const guide = textOf(/^docs\/guide\/metrics\.md$/)
  const missing = Object.values(instruments).filter((spec) => !guide.includes(`\`${prometheusName(spec)}\``))
  expect(missing.map(({ name }) => name)).toEqual([])
})
