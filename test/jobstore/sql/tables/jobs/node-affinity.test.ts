import { expect, test } from 'vitest'
import { JobBuilder } from '../../../../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../../../../src/jobs/job-detail.ts'
import { TestCluster, type TestNode } from '../../../../support/cluster.ts'

const job = (name: string): JobDetail =>
  JobBuilder.newJob('noop')
    .withIdentity(name)
    .storeDurably()
    .withDescription(null)
    .withTimeout(null)
    .withRetry(null)
    .build()
const on = (name: string, nodes: readonly string[], required: boolean): JobDetail =>
  JobBuilder.from(job(name)).onNodes(nodes, { required }).build()

async function threeNodes(): Promise<{ a: TestNode; b: TestNode; c: TestNode }> {
  const cluster = await TestCluster.open()
  return {
    a: await cluster.startNode('a'),
    b: await cluster.startNode('b'),
    c: await cluster.startNode('c'),
  }
}

test('a job runs on no node but those that are required', async () => {
  const { a, b, c } = await threeNodes()
  await a.bed.schedule('anywhere')
  await a.bed.schedule('on c', { job: on('c', ['c', 'd'], true) })
  await expect(a.bed.acquireNames()).resolves.toEqual(['anywhere'])
  await expect(b.bed.acquireNames()).resolves.toEqual([])
  await expect(c.bed.acquireNames()).resolves.toEqual(['on c'])
})

test('a job runs on another node only while none of the preferred ones is there', async () => {
  const { a, b, c } = await threeNodes()
  const preferred = on('b', ['b', 'c'], false)
  await a.bed.schedule('first', { job: preferred })
  await expect(a.bed.acquireNames()).resolves.toEqual([])
  await expect(c.bed.acquireNames()).resolves.toEqual(['first'])
  await a.bed.schedule('second', { job: preferred })
  await c.bed.store.releaseAllAcquiredTriggers()
  await b.bed.store.shutdown()
  await expect(a.bed.acquireNames()).resolves.toEqual([])
  await c.bed.store.shutdown()
  await expect(a.bed.acquireNames()).resolves.toEqual(['first', 'second'])
})

test('where a job runs is stored with it', async () => {
  const { a, b } = await threeNodes()
  const pinned = on('pinned', ['b'], true)
  await a.bed.store.addJob(pinned, { replace: false })
  await expect(b.bed.store.getJob(pinned.key)).resolves.toEqual(pinned)
  await a.bed.store.addJob(job('pinned'), { replace: true })
  await expect(b.bed.store.getJob(pinned.key)).resolves.toEqual(job('pinned'))
})

test.each([[[]], [['']], [['a"b']], [['a\\b']], [['a\n']], ['a']])('onNodes refuses %j', (names) => {
  expect(() => on('x', names as string[], true)).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'names' }),
  )
})
