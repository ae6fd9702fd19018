import { seededRandom } from '../lib/random.mjs'

const timeZone = 'America/New_York'
/** One expression in Quartz's dialect and in the peers' (where 0=SUN and steps need a star), with what Java does. */
const expressions = [
  { quartz: '0 0/5 * * * ?', peers: '0 */5 * * * *', java: 430_000, ratio: 40 },
  { quartz: '0 0 12 ? * WED', peers: '0 0 12 * * 3', java: 280_000, ratio: 40 },
  { quartz: '0 15 10 L * ?', peers: '0 15 10 L * *', java: 235_000, ratio: 40 },
  { quartz: '0 0/5 14,18 * * ?', peers: '0 */5 14,18 * * *', java: 540_000, ratio: 40 },
  { quartz: '0 0 0 29 2 ?', peers: '0 0 0 29 2 *', java: 110_000, ratio: 10 },
]

/** Parses once; the answer computes the next fire after a date that is a new one each time, as after every fire. */
const libraries = {
  'quartz-ts': async () => {
    const { CronExpression } = await import('../lib/quartz-ts.mjs')
    return ({ quartz }) => {
      const cron = CronExpression.parse(quartz, { timeZone })
      return (date) => cron.getTimeAfter(date)
    }
  },
  croner: async () => {
    const { Cron } = await import('croner')
    return ({ peers }) => {
      const cron = new Cron(peers, { timezone: timeZone, paused: true })
      return (date) => cron.nextRun(date)
    }
  },
  'cron-parser': async () => {
    const { CronExpressionParser } = await import('cron-parser')
    return ({ peers }) => {
      const cron = CronExpressionParser.parse(peers, { tz: timeZone })
      return (date) => {
        cron.reset(date)
        return cron.next()
      }
    }
  },
}

const agreement = 'agreement'

export const benchmark = {
  name: 'next-fire',
  title: 'Next fire time after a random instant of 2026, America/New_York, per second',
  variants: [agreement, ...Object.keys(libraries)],
  rounds: 5,
  goals: (median) =>
    expressions.flatMap(({ quartz, java, ratio }) => {
      const [ours, ...theirs] = Object.keys(libraries).map((library) => median(`${library}: ${quartz}`))
      const times = ours / Math.max(...theirs)
      return [
        { what: `${quartz}: times the better peer`, value: times, relation: '>=', limit: ratio },
        {
          what: `${quartz}: times Java Quartz on such a machine`,
          value: ours / java,
          relation: '>=',
          limit: 1,
        },
      ]
    }),
  run: (variant, options) => (variant === agreement ? checkAgreement(options) : measure(variant, options)),
}

/** Speed means nothing where the answers differ: counts the dates on which a peer gives another answer than we do. */
async function checkAgreement({ once, seed }) {
  const dates = randomDates(seed, once ? 20 : 200)
  const differing = {}
  const load = async (library) => await libraries[library]()
  const ours = await load('quartz-ts')
  for (const library of ['croner', 'cron-parser']) {
    const theirs = await load(library)
    let count = 0
    for (const expression of expressions) {
      const ourNext = ours(expression)
      const theirNext = theirs(expression)
      for (const date of dates) if (ourNext(date).getTime() !== theirNext(date).getTime()) count++
    }
    differing[`answers of ${library} that differ, of ${dates.length * expressions.length}`] = count
  }
  return differing
}

async function measure(library, { once, seed }) {
  const { Bench } = await import('tinybench')
  const make = await libraries[library]()
  // Small batches for the peers: the slowest of them takes two milliseconds for one answer.
  const dates = randomDates(seed, library === 'quartz-ts' ? 1000 : 50)
  const bench = new Bench(
    once ? { time: 0, iterations: 1, warmup: false } : { time: 800, iterations: 5, warmupTime: 200 },
  )
  for (const expression of expressions) {
    const next = make(expression)
    bench.add(expression.quartz, () => {
      let sum = 0
      for (const date of dates) sum += next(date).getTime()
      return sum
    })
  }
  await bench.run()
  return Object.fromEntries(
    bench.tasks.map(({ name, result }) => {
      if (result.error !== undefined) throw result.error
      return [name, dates.length / (result.latency.p50 / 1000)]
    }),
  )
}

function randomDates(seed, count) {
  const random = seededRandom(seed)
  const startMs = Date.UTC(2026, 0, 1)
  const yearMs = Date.UTC(2027, 0, 1) - startMs
  return Array.from({ length: count }, () => new Date(startMs + Math.floor(random() * yearMs)))
}
