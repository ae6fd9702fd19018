import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { CronExpression, CronExpressionError } from 'quartz-ts'
import type * as cronEntry from 'quartz-ts/cron'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BrowserPage, chromiumProgram, startChromium, type TestBrowser } from '../support/chromium.ts'
import { projectRoot } from '../support/source-files.ts'
import { hasNewerZoneRules } from '../support/vectors/zone-rules.ts'

type Options = NonNullable<Parameters<typeof CronExpression.parse>[1]>

/** One question to an expression, by its text. */
interface Question {
  readonly text: string
  readonly options: Options
  readonly after: string
}

/** What Java Quartz computed. */
interface Recorded {
  readonly expr: string
  readonly zone: string
  readonly after: string
  readonly next: readonly number[]
}

type Entry = Pick<typeof cronEntry, 'CronExpression' | 'CronExpressionError'>

const sizeMax = 22_600
const origin = 'http://cron.test'

function rowsOf(name: string): readonly unknown[] {
  const lines = readFileSync(join(projectRoot, 'test/vectors', name), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line): unknown => JSON.parse(line))
}

/** Every tenth row of what Java computed; the browser may know other rules than Node.js for zones that change now. */
const recorded = (rowsOf('cron.jsonl') as readonly Recorded[]).filter(
  (row, index) => index % 10 === 0 && !/Casablanca|El_Aaiun|Edmonton|Vancouver|Chisinau/.test(row.zone),
)
const refused = (rowsOf('cron-reject.jsonl') as readonly { readonly expr: string }[]).map(({ expr }) => expr)

const others: readonly Question[] = [
  '*/5 * * * *',
  '0 22 * * 1-5',
  '30 4 1,15 * 5',
  '0 0 L * *',
  '0 0 * * 5L',
  '0 0 28,31 2 FRI',
  '@daily',
  '@Weekly',
  '0,0 * * * *',
  '0 0 30 2 *',
  '@reboot',
].flatMap((text) =>
  ['UTC', 'America/New_York', 'Australia/Lord_Howe'].map((timeZone) => ({
    text,
    options: { timeZone, dialect: 'unix' },
    after: '2026-03-06T12:34:56Z',
  })),
)

const questions: readonly Question[] = [
  ...recorded.map(({ expr, zone, after }) => ({
    text: expr,
    options: { timeZone: zone, dst: 'quartz' } as const,
    after,
  })),
  ...recorded
    .filter((_, index) => index % 4 === 0)
    .map(({ expr, zone, after }) => ({ text: expr, options: { timeZone: zone }, after })),
  ...others,
  ...others
    .filter(({ options }) => options.timeZone === 'UTC')
    .map(
      ({ text, after }) =>
        ({ text: `0 ${text}`, options: { dialect: 'spring', timeZone: 'UTC' }, after }) as const,
    ),
]

/** Runs in Node.js and, by its text, in the browser; so it uses nothing from outside. */
function answersOf(
  { CronExpression: Cron, CronExpressionError: Refusal }: Entry,
  asked: readonly Question[],
): unknown[] {
  return asked.map(({ text, options, after }) => {
    try {
      const cron = Cron.parse(text, options)
      const date = new Date(after)
      return {
        json: cron.toJSON(),
        summary: cron.summary(),
        words: cron.describe(),
        next: cron.getTimesAfter(date, 10).map((time) => time.getTime()),
        previous: cron.getTimesBefore(date, 3).map((time) => time.getTime()),
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { field: error.field, position: error.position }
    }
  })
}

async function bundle(): Promise<{ code: Uint8Array; inputs: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(projectRoot, 'dist/cron.js')],
    absWorkingDir: projectRoot,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), inputs: Object.keys(metafile.inputs) }
}

/**
 * The words of an answer as a sorted list of their parts: cronstrue compares times with spans of times as numbers that
 * are none, so engines put these in different orders.
 */
function withPartsSorted(answers: unknown): unknown {
  return (answers as readonly { readonly words?: string }[]).map((answer) => ({
    ...answer,
    words: answer.words?.split(/, and |, | and /).toSorted(),
  }))
}

describe('quartz-ts/cron as a bundler packs it for a page', () => {
  test('takes no other package, and nothing of Node.js', async () => {
    // The bundler itself fails when something of Node.js is imported for a browser.
    const { inputs } = await bundle()
    const packages = inputs.filter((path) => !path.startsWith('dist/'))
    expect(packages).toEqual([])
    const { code } = await bundle()
    expect(Buffer.from(code).toString()).not.toMatch(/\bprocess\b|\brequire\(/)
  })

  test(`has at most ${sizeMax} bytes when it is compressed`, async () => {
    const { code } = await bundle()
    expect(gzipSync(code).length).toBeLessThanOrEqual(sizeMax)
  })
})

const inBrowser = describe.skipIf(chromiumProgram === null) // reason: not every machine has a browser

inBrowser('in Chromium', () => {
  let browser: TestBrowser
  let page: BrowserPage

  beforeAll(async () => {
    const { code } = await bundle()
    browser = await startChromium(chromiumProgram ?? '')
    page = await browser.newPage({ timezoneId: 'Asia/Kolkata' })
    await page.route(`${origin}/**`, (route) =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: Buffer.from(code) })
        : route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>cron</title>' }),
    )
    await page.goto(`${origin}/`)
  })

  afterAll(async () => {
    await browser.close()
  })

  const ask = (asked: readonly Question[]): Promise<unknown> => {
    const call = `(${answersOf.toString()})(entry, ${JSON.stringify(asked)})`
    return page.evaluate(`import('${origin}/cron.js').then((entry) => ${call})`)
  }

  test('it answers what it answers in Node.js, for what Java was asked and for the other dialects', async () => {
    expect(questions.length).toBeGreaterThan(450)
    const inNode = answersOf({ CronExpression, CronExpressionError }, questions)
    expect(withPartsSorted(await ask(questions))).toEqual(withPartsSorted(inNode))
  })

  test('it answers what Java answered', async () => {
    const rows = recorded.filter((row) => !hasNewerZoneRules(JSON.stringify(row)) && row.next.length > 0)
    const asked = rows.map(({ expr, zone, after }) => ({
      text: expr,
      options: { timeZone: zone, dst: 'quartz' } as const,
      after,
    }))
    const answers = (await ask(asked)) as { next: number[] }[]
    expect(answers.map(({ next }, index) => next.slice(0, rows[index]?.next.length))).toEqual(
      rows.map(({ next }) => next),
    )
  })

  test('it refuses what Java refuses, at the same place as in Node.js', async () => {
    const asked = refused.map((text) => ({
      text,
      options: { timeZone: 'UTC' },
      after: '2026-01-01T00:00:00Z',
    }))
    const answers = await ask(asked)
    expect(answers).toEqual(answersOf({ CronExpression, CronExpressionError }, asked))
    const places = answers as readonly { readonly position?: number }[]
    expect(places.filter(({ position }) => position === undefined)).toEqual([])
  })

  test('it goes by the zone of the browser when it is told none', async () => {
    const [answer] = (await ask([{ text: '0 0 7 * * ?', options: {}, after: '2026-01-01T00:00:00Z' }])) as {
      json: { timeZone: string }
      next: number[]
    }[]
    expect(answer?.json.timeZone).toMatch(/^Asia\/(Kolkata|Calcutta)$/)
    expect(answer?.next[0]).toBe(Date.UTC(2026, 0, 1, 1, 30))
  })
})
