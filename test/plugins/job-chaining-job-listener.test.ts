import { describe, expect, it } from 'vitest'
import { defineJob, JobBuilder, JobChainingJobListener, JobExecutionError, jobKey } from '../../src/index.ts'
import { firing, type ShellRig, shellRig } from '../support/shell-rig.ts'

const [first, second, third] = [jobKey('first'), jobKey('second'), jobKey('third')]

/** Three jobs, of which the first one ends as it is told to, and a list of those that ran. */
async function chained(end: (refireCount: number) => void, chain: JobChainingJobListener, head = first) {
  const ran: string[] = []
  const job = defineJob('noting', ({ jobKey: key, refireCount }) => {
    ran.push(key.name)
    if (key.equals(head)) end(refireCount)
  })
  const rig: ShellRig = await shellRig([job])
  rig.scheduler.listenerManager.addJobListener(chain)
  for (const key of [second, third]) {
    await rig.scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
  }
  await rig.scheduler.scheduleJob(JobBuilder.newJob(job).withIdentity(head).build(), firing(rig.startMs))
  await rig.clock.advance(100)
  await rig.scheduler.shutdown()
  return { ran, errors: rig.errors }
}

function linking(...links: Parameters<JobChainingJobListener['addJobChainLink']>[]): JobChainingJobListener {
  const chain = new JobChainingJobListener('chain')
  for (const link of links) chain.addJobChainLink(...link)
  return chain
}

const fail = (): never => {
  throw new Error('failed')
}

describe('a chain of jobs', () => {
  it('runs the second when the first has ended well, and so on', async () => {
    const { ran } = await chained(() => {}, linking([first, second], [second, third]))
    expect(ran).toEqual(['first', 'second', 'third'])
  })

  it('ends where a job fails', async () => {
    const { ran, errors } = await chained(fail, linking([first, second], [second, third]))
    expect(ran).toEqual(['first'])
    expect(errors).toEqual([])
  })

  it('goes on after a failure where the link says so', async () => {
    const { ran } = await chained(fail, linking([first, second, { evenAfterFailure: true }], [first, third]))
    expect(ran).toEqual(['first', 'second'])
  })

  it('has a job followed by several', async () => {
    const { ran } = await chained(() => {}, linking([first, second], [first, third]))
    expect(ran.toSorted()).toEqual(['first', 'second', 'third'])
  })

  it('follows a job up once when it was refired', async () => {
    const { ran } = await chained(
      (refireCount) => {
        if (refireCount < 2) throw new JobExecutionError('again', { refireImmediately: true })
      },
      linking([first, second, { evenAfterFailure: true }]),
    )
    expect(ran).toEqual(['first', 'first', 'first', 'second'])
  })

  it('reports a follower that does not exist, and runs the others', async () => {
    const missing = jobKey('missing')
    const { ran, errors } = await chained(() => {}, linking([first, missing], [first, third]))
    expect(ran).toEqual(['first', 'third'])
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      code: 'ERR_LISTENER_FAILED',
      cause: { errors: [{ code: 'ERR_JOB_NOT_FOUND' }] },
    })
  })

  it('tells jobs apart whose groups and names make one text', async () => {
    const chain = linking([jobKey('c', 'a.b'), second], [jobKey('b.c', 'a'), third])
    expect((await chained(() => {}, chain, jobKey('b.c', 'a'))).ran).toEqual(['b.c', 'third'])
    expect((await chained(() => {}, chain, jobKey('c', 'a.b'))).ran).toEqual(['c', 'second'])
  })

  it('refuses a job that would follow itself', () => {
    expect(() => linking([first, jobKey('first')])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'second' }),
    )
  })
})
