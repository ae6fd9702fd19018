import { expect, onTestFinished, test } from 'vitest'
import { type AlertNotice, type AlertRule, alertsPlugin } from '../../src/alerts.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { freshDatabase } from '../support/postgres-database.ts'

/** What a rule of both nodes finds, and what their channels sent. */
class Watched {
  subjects: readonly string[] = []
  readonly sent: { readonly node: string; readonly kind: AlertNotice['kind']; readonly subject: string }[] =
    []
  checks = 0
  #look: () => void = () => {}

  readonly rule: AlertRule = {
    name: 'flag',
    description: 'What the test says.',
    check: async () => {
      this.checks++
      this.#look()
      return this.subjects.map((subject) => ({ subject, message: `${subject} is bad` }))
    },
  }

  note(node: string, { kind, alert }: AlertNotice): void {
    this.sent.push({ node, kind, subject: alert?.subject ?? '' })
    this.#look()
  }

  /** Resolves when the condition holds, looked at after each check and each notice. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (condition()) resolve()
      }
      this.#look()
    })
  }
}

test('the nodes of a cluster send each alert once, also after the one that evaluates has gone', async () => {
  await using database = await freshDatabase()
  const watched = new Watched()
  const node = async (instanceId: string): Promise<Scheduler> => {
    const scheduler = await createScheduler({
      instanceId,
      logger: false,
      jobStore: postgresJobStore({ connectionString: database.connectionString }),
      plugins: [
        alertsPlugin({
          checkMs: 1000,
          rules: [watched.rule],
          channels: [
            {
              name: 'test',
              send: async (notice) => {
                watched.note(instanceId, notice)
              },
            },
          ],
        }),
      ],
    })
    await scheduler.start()
    return scheduler
  }
  const [first, second] = await Promise.all([node('n1'), node('n2')])
  onTestFinished(async () => {
    await first.shutdown()
    await second.shutdown()
  })
  watched.subjects = ['a', 'b', 'c']
  await watched.until(() => watched.sent.length >= 3)
  const seen = watched.checks
  await watched.until(() => watched.checks >= seen + 2)
  const raised = watched.sent.map(({ kind, subject }) => `${kind} ${subject}`)
  expect(raised.toSorted()).toEqual(['raised a', 'raised b', 'raised c'])
  const leader = watched.sent[0]?.node
  const [gone, left] = leader === 'n1' ? [first, second] : [second, first]
  await gone.shutdown()
  watched.subjects = []
  await watched.until(() => watched.sent.length >= 7)
  const ended = watched.sent.slice(3)
  expect(ended.map(({ kind, subject }) => `${kind} ${subject}`.trim()).toSorted()).toEqual([
    'normal',
    'resolved a',
    'resolved b',
    'resolved c',
  ])
  expect(new Set(ended.map((notice) => notice.node))).toEqual(new Set([left.schedulerInstanceId]))
}, 60_000)
